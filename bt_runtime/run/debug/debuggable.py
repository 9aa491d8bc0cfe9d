"""The run as a debugger sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine


class Noting(Protocol):
    """The journal as a debugger sees it."""

    def debugged(self, body: dict[str, Json]) -> None:
        """Records a debugger's action, so that a replay repeats it."""


class DebuggedParts(Protocol):
    engine: Engine
    name: str
    extensions: dict[type, object]

    @property
    def journal(self) -> Noting | None: ...


class Debuggable(Protocol):
    """The parts of a run that the debugger uses."""

    @property
    def parts(self) -> DebuggedParts: ...
    def halt(self, reason: str, by: str = ..., for_good: bool = ...) -> int: ...
