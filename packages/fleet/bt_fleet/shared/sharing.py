"""A run's entries and locks that a fleet shares: read here at once, kept in step with the fleet in the background."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from bt_fleet.shared.board import RefusedWrite, SharedEntry
from bt_fleet.shared.member import Member
from bt_fleet.shared.surroundings import from_environment
from bt_fleet.shared.traffic.drive import Traffic, driving
from bt_runtime.events import Line, Notice, Tick, Written
from bt_runtime.language.entry import FLEET
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.activity import Activity, Wrapping
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.skills.resources import Hold, ResourceLocks
from bt_runtime.tree.action import Action
from bt_runtime.tree.gates import Gate, Start
from bt_runtime.tree.node import FAILURE, literal

if TYPE_CHECKING:
    from bt_fleet.shared.locks import Locks
    from bt_runtime.language.spec import Port
    from bt_runtime.run.run import Run

BY = "fleet"  # writer's name for entries that another robot wrote


def watch(run: Run) -> None:
    """Keeps a run in step with its fleet, if its tree shares something."""
    if not run.parts.tree.spec.shared:
        return
    root = run.blackboard
    for name, port in run.parts.tree.spec.shared.items():  # of included trees too, which see the run's own entries
        if port is not None and not port.required and name not in root:
            root.board.write(root, {name: literal(port.default)}, BY)
    given = run.parts.context.services.given.get("fleet")
    member: Member | None = given if given is not None else from_environment()
    if member is None:
        names = ", ".join(
            f"`{name.removeprefix(FLEET)}`" for name in run.parts.tree.spec.shared if not _tells(name, run)
        )
        text = f"this run is in no fleet: {names} are its own, and no other robot waits for it"
        run.parts.context.emit(Notice("", "warning", text))
        return
    sharing = Sharing(run, member)
    run.parts.extensions[Sharing] = sharing
    run.parts.context.leaving.callback(sharing.end)
    if given is None:
        run.parts.context.leaving.callback(member.close)


class Sharing(Gate):
    """The shared entries and locks of one run."""

    def __init__(self, run: Run, member: Member) -> None:
        self.run, self.board, self.places = run, member.board, member.places
        self.ports: dict[str, Port] = {
            n: port for n, port in run.parts.tree.spec.shared.items() if port is not None and not _tells(n, run)
        }
        shared = run.parts.tree.spec.shared
        self.locks = FleetLocks(self, member.locks) if any(name.startswith(FLEET) for name in shared) else None
        run.parts.context.services.part(Traffic).places = member.places
        self.stale: dict[str, bool] = {}
        self.begun = False
        limits = [port.shared.stale_after for port in self.ports.values() if port.shared.stale_after is not None]
        self.board.beat = min(self.board.beat, *(after / 4 for after in limits)) if limits else self.board.beat
        self.board.listeners.append(self.changed)
        self.board.refusals.append(self.refused)
        self.undo: list[Callable[[], None]] = [run.listen(self.written, Written), run.parts.context.gates.add(self)]
        self.board.nudge()

    def end(self) -> None:
        for undo in self.undo:
            undo()
        self.board.listeners.remove(self.changed)
        self.board.refusals.remove(self.refused)

    @property
    def live(self) -> bool:
        """False while the run is made again from its journal: what it read then is in there."""
        return self.run.parts.journal is None or self.run.parts.journal.tape.live

    # In the tick's thread ----------------------------------------------------------------------

    def hold(self) -> float | None:
        if self.live:
            if not self.begun:
                self.begun = True
                for name in self.ports:
                    self.changed(name, self.board.known.get(name))
            self.look()
        return None

    def look(self) -> None:
        """Notes which values have become too old, or are heard of again."""
        age = self.board.age()
        for name, port in self.ports.items():
            if port.shared.stale_after is None:
                continue
            stale = age > port.shared.stale_after
            if stale != self.stale.get(name, None):
                self.stale[name] = stale
                self.grown(name, port, stale, age)

    def grown(self, name: str, port: Port, stale: bool, age: float) -> None:
        board = self.run.blackboard.board
        board.write(board.root, {f"{name}_stale": stale}, BY)
        if not stale:
            self.changed(name, self.board.known.get(name))
            return
        since = "the fleet was not heard yet" if age == math.inf else f"the fleet was last heard {age:.1f} s ago"
        text = f"`{name}` is too old: {since}, and it may be {port.shared.stale_after:g} s old"
        self.run.parts.context.emit(Line(f"/{self.run.parts.tree.spec.name}", "warning", text))
        if port.shared.when_stale == "default":
            board.write(board.root, {name: literal(port.default)}, BY)
        elif port.shared.when_stale == "halt" and age < math.inf:
            self.run.halt(text, BY, for_good=True)

    def ticked(self, tick: Tick) -> Tick:
        """Wants the next tick when the first value becomes too old."""
        limited = [
            (name, port.shared.stale_after) for name, port in self.ports.items() if port.shared.stale_after is not None
        ]
        if not limited or not self.begun:
            return tick
        age, beat = self.board.age(), self.board.beat
        left = min(beat if self.stale[name] else max(0.0, after - age) for name, after in limited)
        return tick._replace(due=min(tick.due, self.run.parts.context.clock.now() + left + 0.001))

    def start(self, action: Action, start: Start) -> Activity:
        """Starts a skill that has leases, and ends it when one of them is lost; or one that claims places first."""
        entry = action.entry
        if entry is None or self.locks is None or not self.live:
            return start()
        names, routes = _shared(entry.uses), _routes(entry.uses)
        if routes:
            return driving(self.places, action, start, routes, bool(names))
        return Leased(start(), self.locks.locks, names) if names else start()

    # In any thread -----------------------------------------------------------------------------

    def written(self, written: Written) -> None:
        if written.scope == "" and written.by != BY and written.name in self.ports and self.live and self.begun:
            self.board.write(written.name, written.value)

    def changed(self, name: str, known: SharedEntry | None) -> None:
        """Takes what another robot has written. What does not fit the entry's type is told, and not taken."""
        port = self.ports.get(name)
        if port is None or known is None or not self.begun:
            return
        if self.stale.get(name) and port.shared.when_stale == "default":
            self.run.parts.context.wake()  # the next tick looks how old it is
            return
        board = self.run.blackboard.board
        if board.root.get(name) == known.value and name in board.root:
            return
        try:
            board.write(board.root, {name: known.value}, BY)
        except BtError as error:
            text = f"`{name}` of the fleet, written by {known.by or 'a stranger'}: {error.message}"
            self.run.parts.context.emit(Notice("", "warning", text))

    def refused(self, refused: RefusedWrite) -> None:
        if refused.name in self.ports:
            by = refused.known.by if refused.known is not None else ""
            value = refused.known.value if refused.known is not None else None
            text = f"`{refused.name}` was not written: {by or 'another robot'} wrote {value!r:.60} before"
            self.run.parts.context.emit(Line(f"/{self.run.parts.tree.spec.name}", "warning", text))


class FleetLocks(ResourceLocks):
    """Locks of a run, some of which only one robot at a time may have.

    The leases are asked for one after another in the order of their names, which is the same on all robots, and before
    anything of the robot's own is taken. So no two robots wait for each other.
    """

    def __init__(self, sharing: Sharing, locks: Locks) -> None:
        super().__init__()
        self.sharing, self.locks = sharing, locks
        for listeners in (locks.listeners, sharing.places.listeners):
            listeners.append(sharing.run.parts.context.wake)
        sharing.run.parts.context.resources = self

    def blocker(self, names: Iterable[Hashable]) -> Hold | None:
        names = tuple(names)
        for name in _shared(names) if self.sharing.live else ():
            if not self.locks.holds(name):
                holder = self.locks.holder(name)
                return Hold((FLEET + name,), f"`{name}` is with {holder}" if holder else f"`{name}` is asked for")
        return super().blocker(names)

    def take(self, names: tuple[Hashable, ...], sentence: str) -> Hold:
        for name in _shared(names) if self.sharing.live else ():
            self.locks.use(name)
        return super().take(names, sentence)

    def leave(self, hold: Hold) -> None:
        super().leave(hold)
        for name in _shared(hold.names) if self.sharing.live else ():
            self.locks.leave(name)


class Leased(Wrapping):
    """A skill that runs with leases: cancelled, and failed, when one of them is lost."""

    wakes = False

    def __init__(self, inner: Activity, locks: Locks, names: list[str]) -> None:
        self.inner, self.locks = inner, locks
        self.losses = {name: locks.leases[name].lost for name in names}
        self.lost = ""

    def poll(self) -> EndedAnswer | News | None:
        if not self.lost:
            self.lost = next((name for name, lost in self.losses.items() if not self.locks.ours(name, lost)), "")
            if not self.lost:
                return self.inner.poll()
            self.inner.cancel(f"the lease of `{self.lost}` was lost")
        if not self.inner.stopped():
            return None
        why = f"the lease of `{self.lost}` was lost: the fleet was not reached in time"
        return EndedAnswer(FAILURE, None, why)

    def cancel(self, reason: str) -> None:
        if not self.lost:
            self.inner.cancel(reason)


def _shared(names: Iterable[Hashable]) -> list[str]:
    """Returns the names of locks that the fleet shares, in the order in which all robots ask for them."""
    shared = (name.removeprefix(FLEET) for name in names if isinstance(name, str) and name.startswith(FLEET))
    return sorted(name for name in shared if not name.startswith("{"))


def _routes(names: Iterable[str]) -> list[str]:
    """Returns the parameters that name places: `{route}` of what a skill uses."""
    return [name.removeprefix(FLEET)[1:-1] for name in names if name.startswith(FLEET + "{") and name.endswith("}")]


def _tells(name: str, run: Run) -> bool:
    """True for the entry that tells whether another one is too old."""
    aged = run.parts.tree.spec.shared.get(name.removesuffix("_stale"))
    return name.endswith("_stale") and aged is not None and aged.shared.stale_after is not None
