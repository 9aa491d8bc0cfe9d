"""Chooses exactly by whole answers. A server writes the most likely option; its probabilities can prove that no
other is better.

Without a proof, the most likely open option is written next. The search is pure: it yields requests and receives
paths, like `choice.py`."""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.llm.decoding.choice import ROOT, Trie
from bt_runtime.types import Choice


class PathRequest(NamedTuple):
    """A request for the likeliest path from a node: by this child of it, or by any (-1)."""

    node: int = ROOT
    child: int = -1


class TokenRow(NamedTuple):
    """One token of an answer: its log-probability, those of the likeliest alternatives, and a bound for the others."""

    token: int
    logprob: float
    likely: Mapping[int, float]
    least: float
    exact: bool = True  # False: the log-probability is a lower bound


Rows = Sequence[TokenRow]
Rollouts = Generator[PathRequest, Rows, Choice | None]


class Proof:
    """The known bounds of the options: the best complete one, and an upper bound for each unexplored path."""

    def __init__(self, trie: Trie, options: Sequence[str]) -> None:
        self.trie, self.options = trie, options
        self.open: list[tuple[float, int, int]] = []  # minus the bound, the first option, the child
        self.seen: set[int] = set()
        self.total = {ROOT: 0.0}
        self.finished: dict[int, float] = {}

    def take(self, way: PathRequest, rows: Rows) -> bool:
        """Adds an answer to the proof. Returns False for an answer that left the trie or has unknown probabilities: it
        proves nothing."""
        node = way.node
        for row in rows:
            children = {self.trie.token[child]: child for child in self.trie.children[node]}
            if not children:
                break
            if row.token not in children or not row.exact:
                return False
            self._branch(node, row)
            child = children[row.token]
            self.total[child] = self.total[node] + row.logprob
            if self.trie.option[child] >= 0:
                self.finished[self.trie.option[child]] = self.total[child]
            node = child
        return not self.trie.children[node]

    def _branch(self, node: int, row: TokenRow) -> None:
        if node in self.seen:
            return
        self.seen.add(node)
        for child in self.trie.children[node]:
            token = self.trie.token[child]
            if token != row.token:
                bound = self.total[node] + row.likely.get(token, row.least)
                heapq.heappush(self.open, (-bound, self.trie.first[child], child))

    @property
    def best(self) -> tuple[int, float]:
        index = min(self.finished, key=lambda i: (-self.finished[i], i))
        return index, self.finished[index]

    @property
    def proved(self) -> bool:
        if not self.finished:
            return False
        index, score = self.best
        return not self.open or (self.open[0][0], self.open[0][1]) > (-score, index)

    def choice(self) -> Choice:
        index, score = self.best
        others = [other for i, other in self.finished.items() if i != index]
        margin = score - max([*others, -self.open[0][0] if self.open else -math.inf])
        return Choice(self.options[index], index, score, margin)


def exact(trie: Trie, options: Sequence[str], most: int) -> Rollouts:
    """Returns the likeliest option once it is proven; None when `most` requests do not prove it."""
    proof, way = Proof(trie, options), PathRequest()
    for _ in range(most):
        if not proof.take(way, (yield way)):
            return None
        if proof.proved:
            return proof.choice()
        _, _, child = heapq.heappop(proof.open)
        way = PathRequest(trie.parent[child], child)
    return None


def greedy(trie: Trie, options: Sequence[str], rows: Rows, end: int = -1) -> Choice | None:
    """The greedy branch at every decision, from one answer; None when the answer left the trie. `end`: the token of
    a line break, whose log-probability here is that of all ends of an option together."""
    node, total, margin = ROOT, 0.0, math.inf
    for row in rows:
        children = {trie.token[child]: child for child in trie.children[node]}
        if row.token not in children:
            break
        if len(children) > 1:
            total += row.logprob
            others = (row.likely.get(token, row.least) for token in children if token != row.token)
            ahead = row.logprob - max(others)
            if not row.exact or (end in children and row.likely.get(end, row.least) > row.logprob):
                return None
            margin = min(margin, ahead)
        node = children[row.token]
    if trie.children[node]:
        return None
    return Choice(options[trie.option[node]], trie.option[node], total, margin)
