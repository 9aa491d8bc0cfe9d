"""Records the values that nodes' tests read, only while somebody asks why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from py_trees.behaviour import Behaviour

from bt_runtime.events import Grown, Halt, Tick
from bt_runtime.language.expression import Expression
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.changes import below
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.for_all import ForAll
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.types import Json


class Reads(Mapping[str, Json]):
    """A node's view of its entries; it notes each entry that is read, with the tick."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.read: dict[str, tuple[int, Json]] = {}

    def __getitem__(self, name: str) -> Json:
        value = self.scope[name]
        self.read[name] = self.scope.board.begun, value
        return value

    def __setitem__(self, name: str, value: Json) -> None:
        self.scope[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scope)

    def __len__(self) -> int:
        return len(self.scope)

    def __contains__(self, name: object) -> bool:
        return name in self.scope

    @property
    def entries(self) -> Reads:
        """What compiled tests read, in place of the scope's own entries."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["scope"], name)

    def latest(self) -> dict[str, Json]:
        """The values that the last test read; those of earlier tests may be out of date."""
        last = max((tick for tick, _ in self.read.values()), default=0)
        return {name: value for name, (tick, value) in self.read.items() if tick == last}


class Witness:
    """Notes tests and reads from its creation until `close`."""

    def __init__(self, context: Context, root: Behaviour) -> None:
        self.halts: WeakKeyDictionary[Behaviour, tuple[int, Halt]] = WeakKeyDictionary()
        self.nodes: WeakKeyDictionary[Behaviour, Reads] = WeakKeyDictionary()
        self.look_at(root)
        listen = context.stream.listen
        self.ends = [listen(self.tick, Tick), listen(lambda grown: self.look_at(grown.root), Grown)]

    def look_at(self, root: Behaviour) -> None:
        """Records from now on what the tests of these nodes read."""
        for node in below(root):
            if isinstance(node, Node) and _asks(node) and not isinstance(node.scope, Reads):
                reads: Any = Reads(node.scope)
                node.scope = reads
                self.nodes[node] = reads

    def tick(self, tick: Tick) -> None:
        """Each tick reports its halts, so that `why` can name their cause."""
        for node, why in tick.halts:
            self.halts[node] = tick.number, why

    def read(self, node: Behaviour) -> dict[str, Json]:
        found = self.nodes.get(node)
        return found.latest() if found is not None else {}

    def close(self) -> None:
        for end in self.ends:
            end()
        for node, reads in self.nodes.items():
            if isinstance(node, Node):
                node.scope = reads.scope


def tests(node: Node) -> dict[str, Expression]:
    """Returns the expressions of a node by field."""
    return {name: value for name, value in node.spec.values.items() if isinstance(value, Expression)}


def _asks(node: Node) -> bool:
    """True for a node that evaluates tests itself, in a scope that it passes to no other node."""
    hands_on = isinstance(node, Subtree | ForAll) or isinstance(node.parent, ForAll) or node.copied
    return bool(tests(node)) and not (hands_on or node.spec.kind.asks)
