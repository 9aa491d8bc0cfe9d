"""What is in the key-value cache, as a radix tree over tokens: so that a shared beginning is never computed twice.

Entries are sequences of the cache. Cells that several entries share are counted once; the least recently used goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count


@dataclass(slots=True, eq=False)
class _Node:
    edge: tuple[int, ...]  # the tokens between the parent and here
    parent: _Node | None = None
    children: dict[int, _Node] = field(default_factory=dict)
    seq: int | None = None  # the sequence that ends here
    used: int = 0

    def entries(self) -> Iterator[_Node]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.seq is not None:
                yield node
            waiting += node.children.values()


class PrefixTree:
    def __init__(self) -> None:
        self._root = _Node(())
        self._at: dict[int, _Node] = {}  # sequence → its node
        self._clock = count(1)
        self.cells = 0

    def __len__(self) -> int:
        return len(self._at)

    def match(self, tokens: Sequence[int]) -> tuple[int, int | None]:
        """How many of these tokens are there, and a sequence that holds them. Counts as a use of that sequence."""
        node, shared, _ = self._walk(tokens)
        if not shared:
            return 0, None
        entry = max(node.entries(), key=lambda n: n.used)
        entry.used = next(self._clock)
        return shared, entry.seq

    def insert(self, tokens: Sequence[int], seq: int) -> list[int]:
        """Keep this sequence. Answers those that are not needed any more, this one too if its tokens were there."""
        node, shared, inside = self._walk(tokens)
        if not tokens or (shared == len(tokens) and any(node.entries())):
            for entry in node.entries():
                entry.used = next(self._clock)
                break
            return [seq]
        if inside:
            node = self._split(node, inside)
        leaf = _Node(tuple(tokens[shared:]), node, used=next(self._clock), seq=seq)
        node.children[leaf.edge[0]] = leaf
        self._at[seq] = leaf
        self.cells += len(leaf.edge)
        return self._shorter(leaf)

    def _shorter(self, leaf: _Node) -> list[int]:
        """Entries on the way to this one: their tokens are all in it."""
        gone, node = [], leaf.parent
        while node is not None:
            if node.seq is not None:
                gone.append(node.seq)
                del self._at[node.seq]
                node.seq = None
            node = node.parent
        return gone

    def remove(self, seq: int) -> None:
        node = self._at.pop(seq)
        node.seq = None
        while node.parent is not None and node.seq is None and not node.children:
            del node.parent.children[node.edge[0]]
            self.cells -= len(node.edge)
            node = node.parent
        if node.parent is not None and node.seq is None and len(node.children) == 1:
            (child,) = node.children.values()
            child.edge = node.edge + child.edge
            child.parent = node.parent
            node.parent.children[child.edge[0]] = child

    def oldest(self) -> int | None:
        """The sequence that was not used for longest."""
        return min(self._at, key=lambda s: self._at[s].used, default=None)

    def tokens(self, seq: int) -> tuple[int, ...]:
        node: _Node | None = self._at[seq]
        edges = []
        while node is not None:
            edges.append(node.edge)
            node = node.parent
        return tuple(token for edge in reversed(edges) for token in edge)

    def _walk(self, tokens: Sequence[int]) -> tuple[_Node, int, int]:
        """The node at or below the end of the match, its length, and how far into that node's edge it ends."""
        node, at = self._root, 0
        while at < len(tokens):
            child = node.children.get(tokens[at])
            if child is None:
                break
            limit = min(len(child.edge), len(tokens) - at)
            same = 0
            while same < limit and child.edge[same] == tokens[at + same]:
                same += 1
            at += same
            if same < len(child.edge):
                return child, at, same
            node = child
        return node, at, 0

    def _split(self, node: _Node, at: int) -> _Node:
        """A new node in the middle of an edge."""
        assert node.parent is not None
        upper = _Node(node.edge[:at], node.parent, used=node.used)
        node.parent.children[upper.edge[0]] = upper
        upper.children[node.edge[at]] = node
        node.edge, node.parent = node.edge[at:], upper
        return upper
