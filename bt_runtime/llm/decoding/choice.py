"""Chooses one of many options exactly, without scoring them all: best-first search on the trie of their tokens.

Pure: a search asks for the log-probabilities below some nodes and is told; who computes them is not its concern.
Log-probabilities are never above zero, so a node's sum bounds every option below it, and the search may stop early.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import Literal

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Choice

Mode = Literal["exact", "greedy", "scores"]
# yields the nodes to look below; is sent, for each, the log-probability of every child in the trie's order
Search = Generator[list[int], list[Sequence[float]], Choice]
ROOT = 0
_HOPE = 3.0  # nats behind the best: what is less likely than that is looked at when its turn comes, not beforehand
_SURE = 1.0  # nats: rounding makes a sure thing a little more than sure


class Trie:
    """The options' tokens, one node per token; node 0 is the end of the prompt. Lists by node number."""

    def __init__(self, options: Sequence[Sequence[int]]) -> None:
        self.token, self.parent, self.depth = [-1], [-1], [0]
        self.children: list[list[int]] = [[]]
        self.option = [-1]  # the first option that ends here
        self.first = [0]  # the first option at or below
        self.longest = [0]  # tokens of the longest option at or below
        self.leaf_of: list[int] = []
        for index, tokens in enumerate(options):
            self.leaf_of.append(self._add(index, tokens))

    def _add(self, index: int, tokens: Sequence[int]) -> int:
        node = ROOT
        self.longest[node] = max(self.longest[node], len(tokens))
        for token in tokens:
            node = self._child(node, token, index)
            self.longest[node] = max(self.longest[node], len(tokens))
        if self.option[node] < 0:
            self.option[node] = index
        return node

    def _child(self, node: int, token: int, index: int) -> int:
        for child in self.children[node]:
            if self.token[child] == token:
                return child
        self.token.append(token)
        self.parent.append(node)
        self.depth.append(self.depth[node] + 1)
        self.children.append([])
        self.option.append(-1)
        self.first.append(index)
        self.longest.append(0)
        self.children[node].append(len(self.token) - 1)
        return len(self.token) - 1

    def __len__(self) -> int:
        return len(self.token)

    @cached_property
    def below(self) -> list[list[int]]:
        """The tokens of every node's children."""
        return [[self.token[child] for child in children] for children in self.children]

    def forced(self, node: int) -> list[int]:
        """Returns a node and its successors up to the next node with a choice. Leaves are excluded, because nothing
        follows them."""
        chain = [node]
        while len(self.children[node]) == 1 and self.children[self.children[node][0]]:
            node = self.children[node][0]
            chain.append(node)
        return chain


def check_options(options: Sequence[str], terminator: str) -> None:
    """Raises for options that cannot be chosen from, before any work is done."""
    if not options:
        raise BtError("there is nothing to choose from", "give at least one option")
    for option in options:
        if not option.strip():
            raise BtError("an empty option cannot be chosen", "leave it out")
        if terminator in option:
            raise BtError(
                f"the option {option!r} contains its own terminator {terminator!r}",
                "give the options another terminator, or this one other words",
            )


def check_apart(options: Sequence[str], trie: Trie) -> None:
    """Raises for options with equal tokens, which cannot have scores of their own."""
    first: dict[int, str] = {}
    for option, leaf in zip(options, trie.leaf_of, strict=True):
        other = first.setdefault(leaf, option)
        if other != option:
            raise BtError(
                f"the model's tokens cannot tell {other.strip()!r} from {option.strip()!r}",
                "give one of them other words",
            )


def ended(options: Sequence[str], terminator: str) -> list[str]:
    """Returns the options as searched: with the terminator, except beginnings, which end with a blank."""
    return [option.rstrip(" ") if option.endswith(" ") else option + terminator for option in options]


def search(
    trie: Trie, options: Sequence[str], mode: Mode = "exact", width: int = 32, normalise: bool = False
) -> Search:
    if mode == "greedy":
        return _greedy(trie, options)
    return _best_first(trie, options, width if mode == "exact" else len(trie), normalise, everything=mode == "scores")


def _greedy(trie: Trie, options: Sequence[str]) -> Search:
    """The best child at every decision. Forced tokens are neither computed nor counted."""
    node, total, margin = ROOT, 0.0, math.inf
    while trie.children[node]:
        if len(trie.children[node]) > 1:
            (below,) = yield [node]
            for logprob in below:
                _check(logprob)
            order = sorted(range(len(below)), key=lambda i: -below[i])  # stable: ties by order
            best = order[0]
            total += below[best]
            margin = min(margin, below[best] - below[order[1]])
            node = trie.children[node][best]
        else:
            node = trie.children[node][0]
    index = trie.option[node]
    return Choice(options[index], index, total, margin)


def _best_first(trie: Trie, options: Sequence[str], width: int, normalise: bool, everything: bool) -> Search:
    """Exact: ends when no unfinished option can reach the best finished one. With `everything`, scores all. A search
    that goes on looks at twice as many branches each time, because a larger batch costs less for each."""
    front = [(-0.0, trie.first[ROOT], ROOT, 0.0)]  # best bound first, then the order of the options
    finished: dict[int, float] = {}
    best = (math.inf, len(options))  # minus the score, and the number of the best finished option
    while front and (everything or front[0][:2] < best):
        chains: list[tuple[list[int], float]] = []
        hope = math.inf if everything else front[0][0] + _HOPE
        while front and len(chains) < width and front[0][0] <= hope and (everything or front[0][:2] < best):
            _, _, node, total = heapq.heappop(front)
            chains.append((trie.forced(node), total))
        width *= 1 + (len(chains) == width)
        answers = iter((yield [node for chain, _ in chains for node in chain]))
        for chain, start in chains:
            total = start
            for node in chain:
                for child, logprob in zip(trie.children[node], next(answers), strict=True):
                    _check(logprob)
                    total_here = total + logprob
                    if trie.option[child] >= 0:
                        score = total_here / (trie.depth[child] if normalise else 1)
                        finished[trie.option[child]] = score
                        best = min(best, (-score, trie.option[child]))
                    if trie.children[child] and node == chain[-1]:
                        bound = total_here / (trie.longest[child] if normalise else 1)
                        heapq.heappush(front, (-bound, trie.first[child], child, total_here))
                if node != chain[-1]:
                    total = total_here
    return _verdict(trie, options, finished, best[1], everything, -front[0][0] if front else -math.inf)


def _check(logprob: float) -> None:
    """Raises for NaN, with which a search would never end."""
    if not logprob <= _SURE:
        raise BtError(
            f"the model gives {logprob} for a log-probability", "its file or its server is broken: try another"
        )


def combine(move: Choice, choice: Choice, before: int) -> Choice:
    """Merges a choice made in two parts, a move and its option. `before` counts the options of the moves listed
    earlier."""
    margin = min(move.margin, choice.margin)
    return Choice(move.text + choice.text, before + choice.index, move.logprob + choice.logprob, margin)


def _verdict(
    trie: Trie, options: Sequence[str], finished: dict[int, float], index: int, everything: bool, bound: float
) -> Choice:
    """Returns the choice. `bound` is an upper limit on the score of every option not scored."""
    score = finished[index]
    margin = score - max((other for i, other in finished.items() if i != index), default=-math.inf)
    margin = min(margin, score - bound)
    scores = tuple(finished[trie.option[leaf]] for leaf in trie.leaf_of) if everything else None
    return Choice(options[index], index, score, margin, scores)
