"""A batch that reuses prompts from outside its cache: idle ones that were put aside, and those of earlier starts."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Literal

from bt_runtime.llm.local.aside import Aside
from bt_runtime.llm.local.batch import Batch
from bt_runtime.llm.local.lending import fill, make_room
from bt_runtime.llm.local.prefix import common
from bt_runtime.llm.local.prompt_store import LEAST, MOST_TOKENS, PromptStore
from bt_runtime.llm.local.task import LocalTask

_WORTH = 64  # tokens more than the cache holds that are worth a copy, and to be put aside for
_WAITING = 4  # prompts that wait for an idle moment


class StoredBatch(Batch):
    """Puts idle prompts aside while a long one is computed. Stores a prompt that was computed nearly from its first
    token, because later prompts of a run share it."""

    def __init__(self, *given: Any, store: PromptStore | None, aside: Aside) -> None:
        super().__init__(*given)
        self.store, self.aside = store, aside
        self.unkept: list[tuple[int, ...]] = []

    def _enter(self, task: LocalTask) -> Literal["in", "no room", "being computed"]:
        if not task.looked_up:
            task.looked_up = True
            self._bring_back(task)
            if self.store is not None:
                self._restore(task, self.store)
            if self.aside.most and len(task.prompt) - self.tree.match(task.prompt).length >= _WORTH:
                self._put_aside(task)
        return super()._enter(task)

    def _bring_back(self, task: LocalTask) -> None:
        """Copies what was put aside of this prompt into the cache."""
        found = self.aside.best(task.prompt)
        if found is None or found.length < self.tree.match(task.prompt).length + _WORTH:
            return
        state = self.aside.states[found.key]  # read now: making room may drop it
        if make_room(self, found.held):
            fill(self, task.prompt[: found.length], state, found.held)
            if found.held < found.length + _WORTH and found.key in self.aside.states:
                self.aside.drop(found.key)

    def _put_aside(self, task: LocalTask) -> None:
        """Takes the idle prompts out of the cache that hold much besides the beginning of this task's prompt."""
        for seq in self.tree.seqs():
            if seq not in self.active:
                tokens = self.tree.tokens(seq)
                if len(tokens) - common(tokens, task.prompt) >= _WORTH:
                    self._evict(seq)

    def _evict(self, seq: int) -> None:
        if self.aside.most:
            self.aside.put(self.tree.tokens(seq), self.cache.save(seq))
        super()._evict(seq)

    def _restore(self, task: LocalTask, store: PromptStore) -> None:
        """Copies the beginning that an earlier start computed into the cache. At least two tokens are left: one alone
        is summed in another order."""
        entry, shared = store.best(task.prompt)
        length = min(shared, len(task.prompt) - 2)
        if entry is None or length < self.tree.match(task.prompt).length + _WORTH:
            return
        state = store.state(entry) if make_room(self, len(entry.tokens)) else None
        if state is None:
            return
        try:
            fill(self, task.prompt[:length], state, len(entry.tokens))
        except RuntimeError as fault:
            store.drop(entry, str(fault))

    def _leave(self, task: LocalTask) -> None:
        if self.store is not None and task.reused < _WORTH and task.ready >= len(task.prompt) - 1:
            # what stands for a picture is numbered anew at each start
            tokens = tuple(takewhile(lambda token: token >= 0, task.prompt[:MOST_TOKENS]))
            if len(tokens) >= LEAST and self.store.best(tokens)[1] < len(tokens) and len(self.unkept) < _WAITING:
                self.unkept.append(tokens)
        super()._leave(task)

    def idle(self) -> None:
        """Called when no job is running: writes the states worth storing."""
        while self.store is not None and self.unkept:
            tokens = self.unkept.pop()
            match = self.tree.match(tokens)
            if match.length < len(tokens) or not self.free:
                continue  # the cache holds other prompts by now
            seq = self.free[-1]
            self.cache.copy(match.seqs[0], seq, len(tokens))
            state = bytes(self.cache.save(seq))
            self.cache.cut(seq)
            self.store.keep(tokens, state)
