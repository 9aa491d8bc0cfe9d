"""What an agent needs of whatever runs its trees, and how a run of one ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bt_fleet.coordinator.bid import Known
from bt_fleet.robot.held import Own
from bt_fleet.store.task import Task
from bt_runtime.types import Json


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `verdict` None: it was stopped before its end, and can be gone on with."""

    verdict: str | None
    reason: str = ""
    outputs: Json = None


class Refused(Exception):
    """This robot cannot go on with another one's run; the message says why."""


class Runner(Protocol):
    """Runs trees for the agent, outside its process."""

    async def known(self, task: Task) -> Known:
        """What a task takes and may; BtError says why this robot cannot do it."""

    async def run(self, own: Own, again: bool) -> Outcome:
        """Runs a task to its end. `again`: goes on with the run that an earlier process of this robot began."""

    def stop(self, task: str) -> None:
        """Stops a run: `run` returns soon."""

    def journal(self, own: Own) -> Path | None:
        """Returns the file in which the run is recorded; None while there is none."""

    async def move_in(self, own: Own, pieces: list[bytes]) -> None:
        """Takes over the journal of another robot's run: `run` goes on with it. Raises Refused where it cannot."""

    async def close(self) -> None: ...
