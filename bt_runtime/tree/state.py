"""The state of a run between two ticks: taken, compared, put back.

    states = States(run.parts.engine)
    before = states.take()         # hashable; equal snapshots go on alike
    run.tick()
    states.put_back(before)        # as if that tick had not been

Each class of nodes declares what a tick leaves behind in it: `STATE`, what outlasts a round; `ROUND`, what each start
sets anew, so that it is compared only while the node runs; `CACHES`, what a tick may change and what holds in every
state. Among the names of `STATE` and `ROUND`, `TIMES` are moments of the run's clock, compared by what is left until
then, `STAMPS` those of the entry `updated`, compared by whether it was written since, and `CRASHES` numbers of crashes.
Activities, skills and services that can be put back declare `STATE`. What cannot is named by `Snapshot.lost`; such a
snapshot can be compared, and `put_back` refuses it.

Only who takes snapshots loads this module."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.tree.frozen import ATOMS, MISSING, Losses, freeze, key_of, put_apart, thaw, thawed, values_of
from bt_runtime.tree.node import RUNNING
from bt_runtime.tree.state_rest import RestOfRun, foreign_row, put_foreign_row, reshape
from bt_runtime.tree.state_shape import TreeShape

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine

_AS_THEY_ARE = ATOMS - {bool, float}


HINT = "let each of these classes declare STATE, or take the state while none of them is at work"


class NotRestorable(BtError):
    """Raised for a snapshot that holds what cannot be put back."""


class Snapshot:
    """The state of a run between two ticks. Hashable: equal ones go on alike, given the same answers of skills."""

    __slots__ = ("_hash", "board", "entries", "foreign", "lost", "nodes", "rest", "rows", "scopes", "shape", "states")

    def __init__(self, states: States, shape: TreeShape) -> None:
        self.states, self.shape = states, shape
        self.lost: tuple[str, ...] = ()  # what cannot be put back, in words
        self._hash = 0

    nodes: tuple[
        Hashable, ...
    ]  # how the nodes stand, for comparison, in the order of `shape.nodes` (foreign ones last)
    entries: tuple[Hashable, ...]  # for each scope its path, entries, and their types
    rest: RestOfRun  # the clock, requests, halts, spending, worlds
    rows: list[tuple[Any, ...]]
    foreign: list[tuple[tuple[str, Any], ...]]
    scopes: list[tuple[Any, Any, dict[str, int]]]
    board: tuple[Any, ...]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.nodes, self.entries, self.rest.key, self.shape.like)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Snapshot) and self.key == other.key)

    def __hash__(self) -> int:
        self._hash = self._hash or hash((self.nodes, self.entries, self.rest.key))
        return self._hash


class States:
    """Takes snapshots of one run, and puts them back.

    `shown`: the nodes whose results matter after their end; of others it is only compared whether they run. None: all
    of them."""

    def __init__(self, engine: Engine, shown: Container[Behaviour] | None = None) -> None:
        self.engine, self.shown = engine, shown
        self.shape = TreeShape(engine.root)

    def take(self) -> Snapshot:
        """Returns the present state; never called inside a tick."""
        with self._between():
            if not self.shape.stands(self.engine.root):
                self.shape = TreeShape(self.engine.root)
            made, losses = Snapshot(self, self.shape), Losses()
            self._nodes(made, losses)
            self._board(made, losses)
            made.rest = RestOfRun(self.engine, losses, self.shape.numbers)
            made.lost = tuple(losses.found)
            return made

    def put_back(self, snapshot: Snapshot) -> None:
        """Restores a state that was taken of this run."""
        if snapshot.states.engine is not self.engine:
            raise NotRestorable("the snapshot was taken of another run", "each run restores its own")
        if snapshot.lost:
            raise NotRestorable(f"this state cannot be put back: {'; '.join(snapshot.lost[:3])}", HINT)
        with self._between():
            if not snapshot.shape.stands(self.engine.root):
                reshape(self.engine, snapshot.shape, TreeShape(self.engine.root))
            self.shape = shape = snapshot.shape
            for (node, form), row in zip(shape.ours, snapshot.rows, strict=True):
                own = vars(node)
                own.update(zip(form.names, thawed(row), strict=True))
                if form.properties or MISSING in row:
                    put_apart(node, form.properties)
            for each, kept in zip(shape.foreign, snapshot.foreign, strict=True):
                put_foreign_row(each, kept)
            self._restore_board(snapshot)
            snapshot.rest.put_back(self.engine)

    # -----------------------------------------------------------------------------------------

    @contextmanager
    def _between(self) -> Iterator[None]:
        with self.engine.lock:
            if self.engine.context.ticking:
                raise BtError("the tree is being ticked", "take and put back states between two ticks")
            yield

    def _nodes(self, made: Snapshot, losses: Losses) -> None:
        shape, shown, now = self.shape, self.shown, self.engine.context.clock.now()
        rows: list[tuple[Any, ...]] = []
        keys: list[Hashable] = []
        numbers, atoms = shape.numbers, ATOMS.issuperset
        for node, form in shape.ours:
            try:
                row = form.get(node)
            except AttributeError:
                row = values_of(node, form.names)
            status = row[0]
            running = status is RUNNING
            plain = atoms(map(type, row))
            if not plain:
                losses.at = node
                row = tuple([v if v.__class__ in ATOMS else freeze(v, losses) for v in row])
            rows.append(row)
            own: Any = row[4:] if running else row[4 : form.round]
            if not plain:
                own = tuple([v if v.__class__ in _AS_THEY_ARE else key_of(v, numbers) for v in own])
            if form.compared:
                own = [*own]
                for at, compare in form.compared:
                    if at - 4 < len(own):
                        own[at - 4] = compare(node, row[at], now)
                own = tuple(own)
            keys.append((status if shown is None or node in shown else running, own))
        made.foreign = []
        for each in shape.foreign:
            losses.at = each
            made.foreign.append(foreign_row(each, losses))
            keys.append(tuple([(name, key_of(value, numbers)) for name, value in made.foreign[-1]]))
        made.rows, made.nodes = rows, tuple(keys)

    def _board(self, made: Snapshot, losses: Losses) -> None:
        board = self.engine.context.blackboard
        made.scopes, entries = [], []
        losses.at = None
        for path, scope in board.scopes.items():
            own = scope.entries
            items = sorted(own.items())
            kept: Any = dict(own)
            if not ATOMS.issuperset(map(type, own.values())):
                kept = freeze(kept, losses)
                items = [(name, key_of(freeze(value, losses), self.shape.numbers)) for name, value in items]
            entries.append((path, tuple(items), tuple([type(value) for _, value in items])))
            made.scopes.append((scope, kept, dict(scope.stamps)))
        made.entries = tuple(entries)
        made.board = board.sequence, board.begun, tuple(board._begins), board.stirred

    def _restore_board(self, snapshot: Snapshot) -> None:
        board = self.engine.context.blackboard
        with board._lock:
            board.scopes = {scope.path: scope for scope, _, _ in snapshot.scopes}
            for scope, kept, stamps in snapshot.scopes:
                scope.entries.clear()
                scope.entries.update(thaw(kept))
                scope.stamps.clear()
                scope.stamps.update(stamps)
            board.sequence, board.begun, begins, board.stirred = snapshot.board
            board._begins = deque(begins, board._begins.maxlen)
            board._picture = (-1, {})
