"""A batch for models with a recurrent state (Mamba, and hybrids with attention), where reading cannot be undone.

A state can be copied only at its present position. Copies are therefore kept where prompts diverge, at every
prompt's end, and at intervals. A later prompt continues from the last copy on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from bt_runtime.llm.local.batch import SPARE, Batch, BatchPart
from bt_runtime.llm.local.task import LocalTask, TaskWork

_LEAST = 32  # tokens that a state has to spare others before it is kept on the way
_EVERY = 256  # tokens between two states on the way through a long prompt
_MANY = 48  # sequences from which on states are kept on the way
FEWEST = 8  # sequences: a prompt, its end, and a few branches and beginnings


def sequences(state: int, bound: int, most: int) -> int:
    """Returns how many states fit in `bound` bytes."""
    return max(FEWEST, min(most, bound // max(1, state)))


class StateBatch(Batch):
    states = True

    # admission

    def _enter(self, task: LocalTask) -> Literal["in", "no room", "being computed"]:
        length, source = (0, None) if self.repeatable else self._state(task.prompt)
        fork = 0 if self.repeatable else self.tree.match(task.prompt).length
        if self._is_computed(task.prompt, fork, length):
            return "being computed"
        if not self.make_room(len(task.prompt) - length + task.extra, source):
            return "no room"
        task.seq, *task.spare = (self.free.pop() for _ in range(SPARE))
        if self.repeatable:
            self.cache.clear()
        if source is not None:
            task.row = self.after.get(tuple(task.prompt)) if length == len(task.prompt) else None
            task.reused = task.ready = length
            self.cache.copy(source, task.seq, length)
            self.tree.touch(source)
        task.marks = [] if self.repeatable else self._places(task, fork)
        self._begin(task)
        return "in"

    def _state(self, prompt: list[int]) -> tuple[int, int | None]:
        """The longest prefix of a prompt whose state is kept, and its sequence."""
        for length, seqs in self.tree.ends(prompt):
            known = length < len(prompt) or tuple(prompt) in self.after  # else its last token is computed twice
            for seq in seqs if known else ():
                if self.cache.length(seq) == length:
                    return length, seq
        return 0, None

    def _is_computed(self, prompt: list[int], fork: int, length: int) -> bool:
        """Returns True when another job will reach the fork of this prompt: its state is kept, and this job waits."""
        if fork < length + _LEAST:
            return False
        for task in self.active.values():
            if task.ready < fork and task.prompt[:fork] == prompt[:fork]:
                marks = task.marks
                if fork not in marks:
                    marks.append(fork)
                    marks.sort(reverse=True)
                return True
        return False

    def _places(self, task: LocalTask, fork: int) -> list[int]:
        """Returns the positions of a prompt at which states are kept."""
        end = len(task.prompt)
        wanted = {end, fork} if fork >= _LEAST else {end}
        if self.cache.sequences >= _MANY:
            wanted.update(range(_EVERY, end - _LEAST, _EVERY))
        return sorted((place for place in wanted if task.ready < place <= end), reverse=True)

    # one batch

    def reach(self, task: LocalTask, work: TaskWork) -> int:
        marks = task.marks
        if work.seqs != (task.seq,) or not marks:
            return len(work.tokens)
        left = marks[-1] - work.start - work.done
        return left if left > 0 else len(work.tokens)

    def _hand_out(self, part: BatchPart, rows: Sequence[Any]) -> None:
        task, marks = part.task, part.task.marks
        if part.work.seqs == (task.seq,):
            place = part.work.start + part.end
            while marks and marks[-1] <= place:
                if marks.pop() == place and task.fault is None:
                    self._keep(task, place)
        super()._hand_out(part, rows)

    def _keep(self, task: LocalTask, place: int) -> None:
        """Keeps a copy of a job's present state, for other jobs and for its own later prompts."""
        seq = self.take(task)
        if seq is None:
            return
        self.cache.copy(task.seq, seq, place)
        self.tree.insert(task.prompt[:place], seq)
        self.drop_contained(seq)

    def _take_back(self, plan: Sequence[BatchPart]) -> None:
        """Restarts a batch's jobs after an abort, because their states are unknown."""
        for task in {id(part.task): part.task for part in plan}.values():
            if task.run is not None:
                task.run.close()
            self._free(task)
            task.works, task.kept, task.row, task.reused, task.ready = [], [], None, 0, 0
            self.ask(task, first=True)

    def _leave(self, task: LocalTask) -> None:
        if task.run is not None:
            task.run.close()
        held = [*task.prompt, *task.kept]
        length = self.cache.length(task.seq)
        if self.repeatable or not 0 < length <= len(held):
            self._free(task)
            return
        self._give_up(task)
        self.tree.insert(held[:length], task.seq)
        self.drop_contained(task.seq)

    def _free(self, task: LocalTask) -> None:
        self._give_up(task)
        self.cache.cut(task.seq)
        self.free.append(task.seq)

    def _give_up(self, task: LocalTask) -> None:
        self.free += task.spare
        task.spare = []
        del self.active[task.seq]
        self.tree.remove(task.seq)

    # sequences

    def take(self, task: LocalTask) -> int | None:
        """Returns a free sequence; frees the least recently used one if necessary."""
        if not task.spare and len(self.free) <= SPARE:
            gone = self.tree.oldest(but=self.active)
            if gone is not None:
                self._forget(gone)
        return super().take(task)

    def drop_contained(self, seq: int) -> None:
        """Frees duplicates of a sequence only: later prompts continue from its prefixes."""
        for other in self.tree.twins(seq):
            if other not in self.active:
                self._forget(other)
