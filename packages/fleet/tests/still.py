"""What runners of the tests have in common: nothing is stopped, kept or moved."""

from __future__ import annotations

from pathlib import Path

from bt_fleet.robot.held import Own


class Still:
    def stop(self, task: str) -> None: ...

    def journal(self, own: Own) -> Path | None:
        return None

    async def move_in(self, own: Own, pieces: list[bytes]) -> None:
        raise AssertionError

    async def close(self) -> None: ...
