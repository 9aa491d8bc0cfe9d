"""The nodes of a choice's trie as sequences of the key-value cache, so that shared prefixes are computed once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from bt_runtime.llm.decoding.choice import ROOT, Mode, Trie, search
from bt_runtime.llm.local.batch import Batch
from bt_runtime.llm.local.task import LocalTask, Run, TaskWork
from bt_runtime.types import Choice


def choose(
    task: LocalTask,
    batch: Batch,
    trie: Trie,
    options: Sequence[str],
    mode: Mode,
    width: int,
    normalise: bool,
    ending: Sequence[int] = (),
) -> Run:
    """The job of a choice: computes the prompt, then the nodes that the search asks for. The winner's tokens stay in
    the cache.

    `ending`: the token of the terminator, and those that end an option as well as it does.
    """
    branches = TokenBranches(trie, task, batch, ending)
    quest = search(trie, options, mode, width, normalise)
    try:
        nodes = next(quest)
        if task.row is None:
            yield [TaskWork(task.prompt[task.reused :], task.reused, (task.seq,), 1, branches.first)]
        else:
            branches.start(task.row)
        while True:
            found = yield from branches.look(nodes)
            nodes = quest.send(found)
    except StopIteration as end:
        choice: Choice = end.value
        branches.keep(trie.leaf_of[choice.index])
        return choice
    finally:
        branches.forget()


def logprobs(row: Any, tokens: Sequence[int], ending: Sequence[int] = ()) -> list[float]:
    """Returns the log-probabilities of tokens under a row of logits. The first token of `ending` stands for all of
    them: their probabilities add up."""
    top = row.max()
    total = float(top) + float(np.log(np.exp(row - top).sum(dtype=np.float64)))
    found = [float(x) - total for x in row[list(tokens)]]
    if ending and ending[0] in tokens:
        found[tokens.index(ending[0])] = float(top) + float(np.log(np.exp(row[list(ending)] - top).sum())) - total
    return found


class TokenBranches:
    """Holds at most the job's extra cells; paths beyond that are dropped, and computed again when needed."""

    def __init__(self, trie: Trie, task: LocalTask, batch: Batch, ending: Sequence[int] = ()) -> None:
        self.trie, self.task, self.batch, self.ending = trie, task, batch, ending
        self.length = len(task.prompt)
        self.held: dict[int, int] = {}  # node → a sequence that has it and all above it
        self.tip: dict[int, int] = {}  # sequence → its last node; the first branch grows in the prompt's own sequence
        self.placed: list[tuple[int, int, int]] = []  # (last node, sequence, node above the first): not run yet
        self.filled = 0
        self._top: list[float] = []

    def first(self, _k: int, row: Any) -> None:
        self.batch.remember(self.task, row)
        self.start(row)

    def start(self, row: Any) -> None:
        """Sets the logits after the prompt, where the search starts."""
        self._top = logprobs(row, self.trie.below[ROOT], self.ending)

    def look(self, nodes: Sequence[int]) -> Generator[list[TaskWork], None, list[Sequence[float]]]:
        found: dict[int, Sequence[float]] = {ROOT: self._top}
        works: list[TaskWork] = []
        for chain in self._chains(nodes):
            work = self._place(chain, found)
            if work is None:
                yield works
                works = []
                self.forget()
                work = self._place(chain, found)
                assert work is not None, "a job always has one sequence to work with"
            works.append(work)
        yield works
        self._settle()
        return [found[node] for node in nodes]

    def _settle(self) -> None:
        """Marks the placed nodes as computed, so that others may build on them."""
        for node, seq, above in self.placed:
            while node != above:
                self.held[node] = seq
                node = self.trie.parent[node]
        self.placed.clear()

    def forget(self) -> None:
        for seq in self.tip:
            if seq == self.task.seq:
                self.batch.cache.cut(seq, self.length)
            else:
                self.batch.give(self.task, seq)
        self.held.clear()
        self.tip.clear()
        self.placed.clear()
        self.filled = 0

    def keep(self, leaf: int) -> None:
        """Keeps the path to this leaf as the job's own sequence, and drops the other branches."""
        node = self.trie.parent[leaf]
        while node != ROOT and not self._ends_at(node):
            node = self.trie.parent[node]
        if node != ROOT:
            seq = self.held[node]
            del self.tip[seq]
            self.batch.cache.cut(seq, self.length + self.trie.depth[node])
            self.tip.pop(self.task.seq, None)
            self.batch.swap(self.task, seq, self._path(node, ROOT))

    def _ends_at(self, node: int) -> bool:
        """True when the node is in a sequence that others can extend. A recurrent state serves only for its last
        token."""
        return node in self.held and (not self.batch.states or self.tip[self.held[node]] == node)

    def _chains(self, nodes: Sequence[int]) -> list[list[int]]:
        chains: list[list[int]] = []
        for node in nodes:
            if node == ROOT:
                continue
            if chains and chains[-1][-1] == self.trie.parent[node]:
                chains[-1].append(node)
            else:
                chains.append([node])
        return chains

    def _path(self, node: int, above: int) -> list[int]:
        tokens = []
        while node != above:
            tokens.append(self.trie.token[node])
            node = self.trie.parent[node]
        return tokens[::-1]

    def _place(self, chain: list[int], found: dict[int, Sequence[float]]) -> TaskWork | None:
        """Returns the work that computes the logits of a chain; None when no sequence or no room is left."""
        above = self.trie.parent[chain[0]]
        while above != ROOT and not self._ends_at(above):
            above = self.trie.parent[above]
        tokens = self._path(chain[-1], above)
        source = self.task.seq if above == ROOT else self.held[above]
        if self.filled and self.filled + len(tokens) > self.task.extra:
            return None
        seq: int | None = source
        if self.batch.states or self.tip.get(source, ROOT) != above:
            seq = self.batch.take(self.task)
            if seq is None:
                return None
            self.batch.cache.copy(source, seq, self.length + self.trie.depth[above])
        assert seq is not None
        self.tip[seq] = chain[-1]
        self.placed.append((chain[-1], seq, above))
        self.filled += len(tokens)

        def read(k: int, row: Any) -> None:
            found[chain[k]] = logprobs(row, self.trie.below[chain[k]], self.ending)

        return TaskWork(tokens, self.length + self.trie.depth[above], (seq,), len(chain), read)
