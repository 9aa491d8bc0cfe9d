"""Gates may hold a tick, or refuse, delay or wrap the start of an action. Debugger and journal are gates.

`context.gates.add(gate)` returns a function that removes the gate. Events tell what has happened; gates come before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bt_runtime.events import Tick
    from bt_runtime.skills.activity import Activity
    from bt_runtime.tree.action import Action

Start = Callable[[], "Activity"]
Call = Callable[..., object]


class Gate:
    """The base class of gates. A gate overrides some methods, and only those are called."""

    def hold(self) -> float | None:
        """Returns the time until which ticks are held; None allows the tick."""
        return None

    def ticked(self, tick: Tick) -> Tick:
        """Returns the tick that was made, with the time at which the gate wants the next one."""
        return tick

    def start(self, action: Action, start: Start) -> Activity:
        """Starts an action by calling `start`, or returns another activity in its place: `Done`, or a `Wrapping`."""
        return start()

    def instant(self, call: Call) -> Call:
        """Returns what is called in the place of an instant skill; asked once for each node."""
        return call


class Gates:
    """The gates of a run, in order of arrival: the first one is asked first and is the outermost."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed  # called when a gate comes or goes
        self.ticks: tuple[Gate, ...] = ()
        self.starts: tuple[Gate, ...] = ()

    def add(self, gate: Gate) -> Callable[[], None]:
        kind = type(gate)
        if kind.hold is not Gate.hold or kind.ticked is not Gate.ticked:
            self.ticks = (*self.ticks, gate)
        if kind.start is not Gate.start or kind.instant is not Gate.instant:
            self.starts = (*self.starts, gate)
        self._changed()

        def remove() -> None:
            self.ticks = tuple(each for each in self.ticks if each is not gate)
            self.starts = tuple(each for each in self.starts if each is not gate)
            self._changed()

        return remove

    def held(self) -> float | None:
        """Returns when the gates want to be asked again; None when all of them allow the tick."""
        return min((until for gate in self.ticks if (until := gate.hold()) is not None), default=None)

    def ticked(self, tick: Tick) -> Tick:
        for gate in self.ticks:
            tick = gate.ticked(tick)
        return tick

    def started(self, action: Action, start: Start) -> Activity:
        for gate in reversed(self.starts):
            start = partial(gate.start, action, start)
        return start()
