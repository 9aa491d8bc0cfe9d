"""Choosing exactly by whole answers: a server writes the likeliest option, and its probabilities on the way prove that
no other can be better; where they do not, the likeliest of those that are left open is written next.

Pure, as the search of `choice.py`: it asks for a way through the trie and is told one, whoever computes it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.llm.choice import ROOT, Trie
from bt_runtime.types import Choice


class Way(NamedTuple):
    """What is asked for: the likeliest way on from a node; by this child of it, or by any (-1)."""

    node: int = ROOT
    child: int = -1


class Row(NamedTuple):
    """One token of an answer: its log-probability, those of the likeliest at its place, and a bound for the others."""

    token: int
    logprob: float
    likely: Mapping[int, float]
    least: float


Rows = Sequence[Row]
Rollouts = Generator[Way, Rows, Choice | None]


class Proof:
    """What is known of the options: the best one that is whole, and a bound for each way that was not gone."""

    def __init__(self, trie: Trie, options: Sequence[str]) -> None:
        self.trie, self.options = trie, options
        self.open: list[tuple[float, int, int]] = []  # minus the bound, the first option, the child
        self.seen: set[int] = set()
        self.total = {ROOT: 0.0}
        self.finished: dict[int, float] = {}

    def take(self, way: Way, rows: Rows) -> bool:
        """False where the answer left the trie: it proves nothing."""
        node = way.node
        for row in rows:
            children = {self.trie.token[child]: child for child in self.trie.children[node]}
            if not children:
                break
            if row.token not in children:
                return False
            self._branch(node, row)
            child = children[row.token]
            self.total[child] = self.total[node] + row.logprob
            if self.trie.option[child] >= 0:
                self.finished[self.trie.option[child]] = self.total[child]
            node = child
        return not self.trie.children[node]

    def _branch(self, node: int, row: Row) -> None:
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
    """The likeliest option, proved; None where `most` answers do not prove it."""
    proof, way = Proof(trie, options), Way()
    for _ in range(most):
        if not proof.take(way, (yield way)):
            return None
        if proof.proved:
            return proof.choice()
        _, _, child = heapq.heappop(proof.open)
        way = Way(trie.parent[child], child)
    return None


def greedy(trie: Trie, options: Sequence[str], rows: Rows) -> Choice | None:
    """The likeliest branch at every decision, as one answer tells it."""
    node, total, margin = ROOT, 0.0, math.inf
    for row in rows:
        children = {trie.token[child]: child for child in trie.children[node]}
        if row.token not in children:
            break
        if len(children) > 1:
            total += row.logprob
            others = (row.likely.get(token, row.least) for token in children if token != row.token)
            margin = min(margin, row.logprob - max(others))
        node = children[row.token]
    if trie.children[node]:
        return None
    return Choice(options[trie.option[node]], trie.option[node], total, margin)
