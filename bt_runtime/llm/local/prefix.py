"""The content of the key-value cache as a radix tree over tokens, so that a shared prefix is never computed twice.
Entries are sequences of the cache. Cells shared by several count once; the least recently used entry is evicted
first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple


def common(tokens: Sequence[int], others: Sequence[int], start: int = 0) -> int:
    """Returns how many of the first tokens equal those of the others from `start` on."""
    low, high = 0, min(len(tokens), len(others) - start)
    while low < high:  # slices are compared much faster than single tokens
        middle = (low + high + 1) // 2
        same = tuple(tokens[low:middle]) == tuple(others[start + low : start + middle])
        low, high = (middle, high) if same else (low, middle - 1)
    return low


class Match(NamedTuple):
    length: int  # tokens that are there
    seqs: tuple[int, ...]  # sequences that hold them, the one used last first


@dataclass(slots=True, eq=False)
class _Node:
    edge: tuple[int, ...]  # the tokens between the parent and here
    parent: _Node | None = None
    children: dict[int, _Node] = field(default_factory=dict)
    seqs: set[int] = field(default_factory=set)  # the sequences that end here

    def below(self) -> Iterator[int]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield from node.seqs
            waiting += node.children.values()


class PrefixTree:
    def __init__(self) -> None:
        self._root = _Node(())
        self._at: dict[int, _Node] = {}  # sequence → its node
        self._used: dict[int, int] = {}
        self._clock = count(1)
        self.cells = 0

    def __len__(self) -> int:
        return len(self._at)

    def seqs(self) -> list[int]:
        return [*self._at]

    def match(self, tokens: Sequence[int]) -> Match:
        node, shared, _ = self._walk(tokens)
        if not shared:
            return Match(0, ())
        return Match(shared, tuple(sorted(node.below(), key=lambda s: -self._used[s])))

    def ends(self, tokens: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Returns the sequences that end along the path of these tokens, with their lengths; the longest first."""
        node: _Node | None
        node, shared, inside = self._walk(tokens)
        if inside:
            node, shared = node.parent, shared - inside
        found = []
        while node is not None and node.parent is not None:
            found.append((shared, tuple(sorted(node.seqs, key=lambda s: -self._used[s]))))
            node, shared = node.parent, shared - len(node.edge)
        return found

    def twins(self, seq: int) -> list[int]:
        """Returns the other sequences with equal tokens."""
        return [other for other in self._at[seq].seqs if other != seq]

    def touch(self, seq: int) -> None:
        self._used[seq] = next(self._clock)

    def insert(self, tokens: Sequence[int], seq: int) -> None:
        node, shared, inside = self._walk(tokens)
        if inside:
            node = self._split(node, inside)
        if shared < len(tokens):
            leaf = _Node(tuple(tokens[shared:]), node)
            node.children[leaf.edge[0]] = leaf
            self.cells += len(leaf.edge)
            node = leaf
        node.seqs.add(seq)
        self._at[seq] = node
        self.touch(seq)

    def contained(self, seq: int) -> list[int]:
        """Returns the other sequences that are prefixes of this one."""
        found: list[int] = []
        node: _Node | None = self._at[seq]
        while node is not None:
            found += node.seqs - {seq}
            node = node.parent
        return found

    def remove(self, seq: int) -> None:
        node = self._at.pop(seq)
        del self._used[seq]
        node.seqs.discard(seq)
        while node.parent is not None and not node.seqs and not node.children:
            del node.parent.children[node.edge[0]]
            self.cells -= len(node.edge)
            node = node.parent
        if node.parent is not None and not node.seqs and len(node.children) == 1:
            (child,) = node.children.values()
            child.edge = node.edge + child.edge
            child.parent = node.parent
            node.parent.children[child.edge[0]] = child

    def oldest(self, but: Collection[int] = ()) -> int | None:
        """Returns the least recently used sequence, `but` those excluded."""
        return min((s for s in self._at if s not in but), key=self._used.__getitem__, default=None)

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
            same = common(child.edge, tokens, at)
            at += same
            if same < len(child.edge):
                return child, at, same
            node = child
        return node, at, 0

    def _split(self, node: _Node, at: int) -> _Node:
        """A new node in the middle of an edge."""
        assert node.parent is not None
        upper = _Node(node.edge[:at], node.parent)
        node.parent.children[upper.edge[0]] = upper
        upper.children[node.edge[at]] = node
        node.edge, node.parent = node.edge[at:], upper
        return upper
