"""The blackboard of a proof: entries from outside are chosen when they are read, inputs once; a value that only a run
knows is `UNKNOWN`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from bt_author.proof.choices import Choices
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.tree.blackboard import Blackboard, Scope, UnknownEntry, _guard, _same
from bt_runtime.types import Json

MISSING: Any = object()


class Marked:
    """Stands on the board for a value that is chosen when it is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


LATER, OUTSIDE = Marked("an input, chosen when it is first read"), Marked("an entry that changes from outside")


class Absent(UnknownEntry):
    """Raised when an entry is read that is not there; it makes no hint."""

    def __init__(self, name: str) -> None:
        BtError.__init__(self, f"the blackboard has no entry `{name}`")


class AnyItems(list[Any]):
    """A list that only a run knows: each time somebody asks it may have an item, or none."""

    def __init__(self, board: ProofBoard) -> None:
        super().__init__((UNKNOWN,))
        self.board = board

    __eq__, __hash__ = object.__eq__, object.__hash__  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.board.choices.choose(2))

    def __getitem__(self, at: Any) -> Any:
        return self if isinstance(at, slice) else UNKNOWN

    def __iter__(self) -> Iterator[Any]:
        return iter((UNKNOWN, UNKNOWN))  # the first item, and the others


class Open(BaseException):
    """Raised within an expression that reads a value which only a run knows."""


class Sight:
    """A scope as expressions read it."""

    __slots__ = ("scope",)

    def __init__(self, scope: ProofScope) -> None:
        self.scope = scope

    def __getitem__(self, name: str) -> Any:
        value = self.scope[name]
        if value is UNKNOWN:
            raise Open
        return value

    def __contains__(self, name: object) -> bool:
        return name in self.scope


class ProofScope(Scope):
    __slots__ = ("sight",)
    board: ProofBoard

    def __init__(self, board: Blackboard, path: str = "", parent: Scope | None = None, open: bool = False) -> None:
        super().__init__(board, path, parent, open)
        self.sight = Sight(self)

    def __getitem__(self, name: str) -> Json:
        scope, at = self.home(name)
        value = self.board.read(scope, at)
        if value is MISSING:
            raise Absent(name)
        return value

    def get(self, name: str, default: Json = None) -> Json:
        value = self.board.read(*self.home(name))
        return default if value is MISSING else self.board.items if value is UNKNOWN else value

    def holds(self, name: str) -> bool:
        return self.board.read(self, name, there=True) is not MISSING

    def stamp(self, name: str) -> int:
        """Numbers for writes: 1 for one before this tick. Nodes keep them; see `NodeSlot`."""
        home, at = self.home(name)
        return Stamp(self.board.written.get((home, at), 1), (home, at)) if at in home.entries else 0

    def remove(self, name: str) -> None:
        self.board.unset(*self.home(name, writing=True))

    def clear(self, keep: Container[str]) -> None:
        """Forgets the entries of this scope's own, but for those to keep. Nobody wants a tick for that."""
        before = self.board.stirred
        for name in [n for n in self.entries if n not in keep]:
            self.board.unset(self, name)
        self.board.stirred = before


class ProofBoard(Blackboard):
    """`outside`: the values of each entry of the top scope that somebody outside writes at any time; `stirred_by`: of
    those that something waits for; `inputs`: the values of inputs. `kept`: whether an entry's value matters."""

    choices: Choices
    root: ProofScope

    def __init__(self, kept: Callable[[str], bool]) -> None:
        super().__init__()
        self.root = ProofScope(self)
        self.scopes = {"": self.root}
        self.kept = kept
        self.outside: dict[str, tuple[Json, ...]] = {}
        self.awaited: dict[str, tuple[Json, ...]] = {}
        self.inputs: dict[str, tuple[Json, ...]] = {}
        self.now: dict[str, Json] = {}  # entries from outside, as this tick sees them
        self.written: dict[tuple[Scope, str], int] = {}  # entry → number of its write in this tick
        self.touched: set[Scope] = set()
        self.items = AnyItems(self)

    def open(self, path: str, parent: Scope, open: bool = False) -> Scope:
        return ProofScope(self, path, parent, open)

    def begin(self, choices: Choices) -> None:
        """Begins a tick."""
        self.choices, self.stirred = choices, False
        self.now.clear()
        self.written.clear()
        self.touched.clear()

    def read(self, scope: Scope, name: str, there: bool = False) -> Json:
        """Returns the present value. `there`: it is only asked whether there is one."""
        value = scope.entries.get(name, MISSING)
        if scope is self.root and name in self.outside:
            return OUTSIDE if there and value is not MISSING else self.from_outside(name, value)
        if value is LATER and not there:
            values = self.inputs[name]
            value = scope.entries[name] = values[self.choices.choose(len(values)) if len(values) > 1 else 0]
            self.touched.add(scope)
            self.choices.note("input", name, value)
        return value

    def from_outside(self, name: str, before: Json) -> Json:
        """Returns what an entry from outside holds in this tick. Missing before: a node has unset it, and nobody need
        have written it since."""
        found = self.now.get(name, self)
        if found is not self:
            return found
        values = self.outside[name]
        count = len(values) + (before is MISSING)
        at = self.choices.choose(count) if count > 1 else 0
        if at == len(values):
            found = self.now[name] = MISSING
            return found
        found = self.now[name] = values[at]
        if before is MISSING:
            self.root.entries[name] = OUTSIDE
            self.touched.add(self.root)
        if found is not UNKNOWN:
            self.choices.note("set", name, found)
        return found

    def change(self, scope: Scope, name: str, change: Callable[[Json], Json]) -> None:
        self.write(scope, {name: change(scope.get(name))})

    def write(self, scope: Scope, values: Mapping[str, Json], by: str = "") -> None:
        ready = []
        for name, value in values.items():
            if value is not UNKNOWN:
                _guard(scope, name, value)
            ready.append((*scope.home(name, writing=True), value))
        for home, at, value in ready:
            self._store(home, at, value)

    def _store(self, home: Scope, name: str, value: Json) -> None:
        if not self.kept(name) or (value.__class__ is list and UNKNOWN in value):
            value = UNKNOWN
        values = self.outside.get(name) if home is self.root else None
        if values is None:
            before = home.entries.get(name, MISSING)
            home.entries[name] = value
            self.touched.add(home)
        else:  # it holds until the next tick, before which somebody outside may write again
            known = value is not UNKNOWN or name not in home.entries
            before = self.read(home, name) if known else UNKNOWN
            self.now[name] = value
            if name not in home.entries:
                home.entries[name] = OUTSIDE
                self.touched.add(home)
            self.choices.note("wrote", name)
        self.written[home, name] = len(self.written) + 2
        if before is MISSING:
            self.stirred = True
        elif before is not UNKNOWN and value is not UNKNOWN and before is not LATER and not _same(before, value):
            # What was ticked before may see the change at the next tick. One that stands for others may be this value.
            listed = values is None or any(_same(each, value) for each in values)
            self.stirred = listed or bool(self.choices.choose(2)) or self.stirred

    def unset(self, home: Scope, name: str) -> None:
        values = self.outside.get(name) if home is self.root else None
        before = home.entries.get(name, MISSING)
        if values is not None:
            before = self.read(home, name) if before is MISSING else UNKNOWN
            self.now[name] = MISSING
            self.choices.note("wrote", name)
        if before is MISSING:
            return
        home.entries.pop(name, None)
        self.touched.add(home)
        self.written.pop((home, name), None)
        self.stirred = True

    def stir(self) -> None:
        """Lets entries be written from outside, if something waits for them."""
        for name, values in self.awaited.items():
            at = self.choices.choose(len(values) + 1)
            if at:
                self.root.entries[name] = values[at - 1]
                self.touched.add(self.root)
                self.written[self.root, name] = len(self.written) + 2
                self.choices.note("write", name, values[at - 1])


class Stamp(int):
    """The number of an entry's write in a tick, and of which entry."""

    of: tuple[Scope, str]

    def __new__(cls, number: int, of: tuple[Scope, str]) -> Stamp:
        made = super().__new__(cls, number)
        made.of = of
        return made

    def settled(self, written: Mapping[tuple[Scope, str], int]) -> int:
        """Returns what it is after its tick: 1 if it is the latest write, else 0."""
        return int(self.of[1] in self.of[0].entries and written.get(self.of, 1) == self)
