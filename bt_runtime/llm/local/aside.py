"""The states of idle prompts in memory, outside the cache.

Without flash attention every token is compared with all cells in use, those of other prompts too. So idle prompts leave
the cache before a long one is computed, and are copied back when they go on: a copy costs as much as a few tokens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from bt_runtime.llm.local.prefix import PrefixTree


class Found(NamedTuple):
    key: int
    length: int  # tokens of the asked prompt that the state holds
    held: int  # tokens that it holds in all


class Aside:
    """Keeps at most so many bytes; the states used longest ago go first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.states: dict[int, Any] = {}
        self._tree = PrefixTree()
        self._keys = count()

    def best(self, prompt: Sequence[int]) -> Found | None:
        """Returns the state that holds the longest beginning of a prompt."""
        match = self._tree.match(prompt)
        return Found(match.seqs[0], match.length, len(self._tree.tokens(match.seqs[0]))) if match.seqs else None

    def put(self, tokens: Sequence[int], state: Any) -> None:
        key = next(self._keys)
        self._tree.insert(tokens, key)
        self.states[key] = state
        for part in self._tree.contained(key):
            self.drop(part)
        while sum(map(len, self.states.values())) > self.most and (oldest := self._tree.oldest()) is not None:
            self.drop(oldest)

    def drop(self, key: int) -> None:
        self._tree.remove(key)
        del self.states[key]
