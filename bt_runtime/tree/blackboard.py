"""Working memory of one tree: entries in scopes, written from any thread, read by the tick as one consistent picture.

Writes of other threads that arrive during a tick wait in an inbox and take effect between two ticks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Container, ItemsView, Iterable, Iterator, Mapping, ValuesView
from threading import get_ident
from typing import NamedTuple, Protocol

from bt_runtime.events import Unset, Woken, Written
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.spec import Port
from bt_runtime.tree.stream import Stream
from bt_runtime.types import Json

_WOKEN = Woken(job=False)
_SHORT = 16  # items of a list or a mapping that is compared with its value before
_ANY = ports.EXACT["any"]


class UnknownEntry(BtError, KeyError):
    """Raised when an entry is read before anything has written it."""

    def __init__(self, name: str, known: Iterator[str]) -> None:
        super().__init__(
            f"the blackboard has no entry `{name}`",
            did_you_mean(name, known, "write it first, or give the tree an input of that name"),
        )

    __str__ = BtError.__str__


class Entries(dict[str, Json]):
    """A scope's own entries. Nodes read names here: one that is not here is the scope's to find."""

    __slots__ = ("scope",)
    scope: Scope

    def __missing__(self, name: str) -> Json:
        scope, at = self.scope.home(name)
        if at in scope.entries:
            return scope.entries[at]
        raise UnknownEntry(name, iter(self.scope.visible()))


class Scope(Mapping[str, Json]):
    """The entries that one tree sees.

    A shared name is another scope's entry; with `open`, unknown names are the parent's; with `local`, only for reading.
    """

    __slots__ = ("board", "declared", "entries", "exact", "local", "open", "own", "parent", "path", "shared", "stamps")

    def __init__(self, board: Blackboard, path: str = "", parent: Scope | None = None, open: bool = False) -> None:
        self.board = board
        self.path = path
        self.parent = parent
        self.open = open
        self.local = False
        self.own: Container[str] = ()  # names that are never the parent's
        self.entries = Entries()
        self.entries.scope = self
        self.stamps: dict[str, int] = {}  # name → sequence number of the last write
        self.shared: dict[str, tuple[Scope, str]] = {}
        self.declare({})

    def declare(self, declared: Mapping[str, Port]) -> None:
        """From here on, each write to one of these ports is checked against its type."""
        self.declared = declared
        self.exact = {name: ports.exact(port) for name, port in declared.items()}

    def home(self, name: str, writing: bool = False) -> tuple[Scope, str]:
        """Returns the scope and name that really hold this entry, or that a write goes to."""
        scope = self
        while True:
            if name in scope.shared:
                scope, name = scope.shared[name]
            elif scope.parent is not None and scope.passes_on(name, writing):
                scope = scope.parent
            else:
                return scope, name

    def passes_on(self, name: str, writing: bool = False) -> bool:
        """True when this name is no entry here and is looked up in the parent scope."""
        inward = writing and self.local
        return self.open and not inward and name not in self.entries and name not in self.own

    def __getitem__(self, name: str) -> Json:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in self.visible() if name in self))

    def __len__(self) -> int:
        return sum(1 for name in self.visible() if name in self)

    def snapshot(self) -> dict[str, Json]:
        """Returns all entries at one moment, never half of an `update` as `dict(scope)` may. From any thread."""
        with self.board._lock:
            return {name: self[name] for name in self}

    def items(self) -> ItemsView[str, Json]:
        return self.snapshot().items()

    def values(self) -> ValuesView[Json]:
        return self.snapshot().values()

    __eq__ = object.__eq__  # a place, not what is in it
    __hash__ = object.__hash__

    def get(self, name: str, default: Json = None) -> Json:
        scope, at = self.home(name)
        return scope.entries.get(at, default)

    def __contains__(self, name: object) -> bool:
        scope, at = self.home(str(name))
        return scope.holds(at)

    def holds(self, name: str) -> bool:
        """True when this scope itself has the entry."""
        return name in self.entries

    def __setitem__(self, name: str, value: Json) -> None:
        """Writes one entry. The quick path: in the tick, the entry is here, the value surely fits."""
        board, entries = self.board, self.entries
        if (
            name.__class__ is str
            and board._ticker == get_ident()
            and name in entries
            and name not in self.shared
            and value.__class__ in self.exact.get(name, _ANY)
        ):
            with board._lock:
                before, entries[name] = entries[name], value
                self.stamps[name] = order = board.sequence = board.sequence + 1
                board.stirred = board.stirred or not (before is value or _same(before, value))
            if board.stream.routes[Written]:
                board.tell(Written(self.path, name, value, order))
            return
        board.write(self, {name: value})

    def update(
        self, given: str | Mapping[str, Json] = "", change: Callable[[Json], Json] | None = None, /, **more: Json
    ) -> None:
        """Writes several entries at once: all of them or, when one may not be written, none; no tick sees a part.

        `scope.update("n", lambda n: (n or 0) + 1)` reads and writes one entry in one step, so that no thread's count
        is lost.
        """
        if change is None and not isinstance(given, str):
            more = {**given, **more}
        elif given:
            if not callable(change) or not isinstance(given, str):
                raise TypeError(f"`update` of one entry takes a function of its present value, not {change!r:.60}")
            self.board.change(self, given, change)
        if more:
            self.board.write(self, more)

    def stamp(self, name: str) -> int:
        """The sequence number of the entry's last write; 0 when it was never written."""
        scope, at = self.home(name)
        return scope.stamps.get(at, 0)

    def remove(self, name: str) -> None:
        """Forgets this entry; for nodes, in their tick."""
        self.board._effect(_Change(self, {}, gone=(name,)))

    def clear(self, keep: Container[str]) -> None:
        """Forgets the entries of this scope's own, but for those to keep."""
        with self.board._lock:
            left = [n for n in self.entries if n not in keep]
            for name in left:
                del self.entries[name]
                self.stamps.pop(name, None)
                self.board.sequence += 1  # the picture changed
            done = Unset(self.path, left, self.board.sequence)
        if left:
            self.board.tell(done)

    def visible(self) -> set[str]:
        seen: set[str] = {*self.entries, *self.shared}
        if self.open and self.parent is not None:
            seen |= self.parent.visible()
        return seen


class _Change(NamedTuple):
    """Entries that are written at once."""

    scope: Scope
    values: Mapping[str, Callable[[Json], Json] | None]  # None: its value stands in `plain`
    plain: Mapping[str, Json] = {}  # values that need no other entry
    by: str = ""  # a person, and where from
    gone: tuple[str, ...] = ()  # entries that are removed


class Doubt(Protocol):
    """Called when a program writes an entry that is new or an input of the tree."""

    inputs: Container[str]

    def tell(self, names: Iterable[str]) -> None: ...


class Blackboard:
    """Holds all scopes of one run. Trees of one process stay separate: nothing is global."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream if stream is not None else Stream()
        self.root = Scope(self)
        self.scopes: dict[str, Scope] = {"": self.root}
        self.sequence = 0
        self._lock = threading.RLock()
        self._ticker: int | None = None  # the thread that is inside a tick
        self.begun = 0  # ticks
        self._begins: deque[int] = deque(maxlen=64)  # the sequence number at which each of the latest ticks began
        self._inbox: deque[_Change] = deque()
        self.faults: deque[tuple[str, Exception]] = deque(maxlen=256)  # scope path, what broke; the engine reports them
        self.stirred = False  # an entry changed inside this tick: nodes that were ticked before it may see it next time
        self._picture: tuple[int, Mapping[str, Mapping[str, Json]]] = (-1, {})
        self.doubt: Doubt | None = None  # called for writes to the root scope from outside; never under the lock

    def open(self, path: str, parent: Scope, open: bool = False) -> Scope:
        """Opens a scope for the subtree at this path. It joins snapshots once it is registered."""
        return Scope(self, path, parent, open)

    def register(self, scope: Scope) -> None:
        with self._lock:
            self.scopes[scope.path] = scope
            self.sequence += 1  # the picture changed

    def close(self, scope: Scope) -> None:
        with self._lock:
            if self.scopes.get(scope.path) is scope and scope is not self.root:
                del self.scopes[scope.path]
                self.sequence += 1  # the picture changed

    def change(self, scope: Scope, name: str, change: Callable[[Json], Json]) -> None:
        self._write(_Change(scope, {name: change}))

    def write(self, scope: Scope, values: Mapping[str, Json], by: str = "") -> None:
        for name in values:
            if not isinstance(name, str):
                raise TypeError(f"an entry's name is a text, not {name!r:.60}")
        self._write(_Change(scope, dict.fromkeys(values), values, by))

    def _write(self, change: _Change) -> None:
        doubt, known = self.doubt, self.root.entries
        if doubt is None or change.scope is not self.root or change.by or self.ticked_here():
            self._effect(change)
            return
        doubtful = [name for name in change.values if name not in known or name in doubt.inputs]
        self._effect(change)
        if doubtful:
            doubt.tell(doubtful)

    def _effect(self, change: _Change) -> None:
        with self._lock:
            if self._ticker is not None and self._ticker != threading.get_ident():
                for name, value in change.plain.items():
                    _guard(change.scope, name, value)  # a wrong value raises at its writer
                self._inbox.append(change)
                return
            written = self._put(change)
            inside = self._ticker is not None
        for each in written:
            self.tell(each)  # outside the lock: a listener may wait for something that waits for it
        if not inside and written:
            self.stream.emit(_WOKEN)

    def begin_tick(self) -> None:
        with self._lock:
            self._ticker = threading.get_ident()
            self.stirred = False
            self.begun += 1
            self._begins.append(self.sequence)

    def ticked_here(self) -> bool:
        """True when a tick is in progress in this thread."""
        return self._ticker == threading.get_ident()

    def tick_before(self, written: Written | Unset) -> int:
        """Returns the tick after which another thread's change took effect; listeners may receive it later."""
        return self.begun - sum(1 for began in tuple(self._begins) if began >= written.sequence)

    def end_tick(self) -> None:
        """Makes the writes effective that arrived from other threads during the tick."""
        with self._lock:
            self._ticker = None
            written = self._drain() if self._inbox else ()
        for each in written:
            self.tell(each)
        if written:
            self.stream.emit(_WOKEN)

    def snapshot(self) -> Mapping[str, Mapping[str, Json]]:
        """Returns all entries by scope path; the cached object until the next write."""
        with self._lock:
            if self._picture[0] != self.sequence:
                self._picture = (self.sequence, {path: dict(s.entries) for path, s in self.scopes.items()})
            return self._picture[1]

    def _drain(self) -> list[Written | Unset]:
        done: list[Written | Unset] = []
        while self._inbox:
            change = self._inbox.popleft()
            try:
                done.extend(self._put(change))
            except Exception as error:  # the writer has long gone on
                self.faults.append((change.scope.path, error))
        return done

    def _put(self, change: _Change) -> list[Written | Unset]:
        scope, ready = change.scope, []
        written: list[Written | Unset] = [done for name in change.gone if (done := self._removed(scope, name))]
        for name, make in change.values.items():
            home, at = scope.home(name, writing=True)
            before = home.entries.get(at)
            value = change.plain[name] if make is None else make(before)
            _guard(scope, name, value)
            ready.append((home, at, before, value))
        for home, at, before, value in ready:
            self.sequence += 1
            home.entries[at] = value
            home.stamps[at] = self.sequence
            self.stirred = self.stirred or not _same(before, value)
            written.append(Written(home.path, at, value, self.sequence, change.by))
        return written

    def _removed(self, scope: Scope, name: str) -> Unset | None:
        home, at = scope.home(name, writing=True)
        if at not in home.entries:
            return None
        del home.entries[at]
        home.stamps.pop(at, None)
        self.sequence += 1  # the picture changed
        self.stirred = True
        return Unset(home.path, (at,), self.sequence)

    def tell(self, done: Written | Unset) -> None:
        try:
            self.stream.emit(done)
        except Exception as error:  # the journal's: the write is none the worse for it
            self.faults.append((done.scope, error))


def _guard(scope: Scope, name: str, value: Json) -> None:
    """Checks a write in every scope that shares the name; each may refuse the value."""
    while True:
        if name in scope.declared:
            ports.check(scope.declared[name], value)
        if name in scope.shared:
            scope, name = scope.shared[name]
        elif scope.parent is not None and scope.passes_on(name, writing=True):
            scope = scope.parent
        else:
            return


def _same(before: Json, value: Json, depth: int = 3) -> bool:
    """Returns True when the values certainly equal each other. Large values and deep ones are not compared."""
    if before is value:
        return True
    if before.__class__ is not value.__class__:
        return False
    if isinstance(value, list | dict) and (not depth or len(before) != len(value) or len(value) > _SHORT):
        return False
    if isinstance(value, list):
        return all(_same(old, new, depth - 1) for old, new in zip(before, value, strict=True))
    if isinstance(value, dict):
        return all(name in before and _same(before[name], new, depth - 1) for name, new in value.items())
    if value.__class__ not in ports.PLAIN:
        return False
    return bool(before == value) or (before != before and value != value)  # no number, as before: nothing has changed
