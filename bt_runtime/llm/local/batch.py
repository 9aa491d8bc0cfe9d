"""One continuous batch for all jobs of a worker: jobs are generators that yield work and resume when it is done.
Short work (an answer's next token) goes before long work (a prompt), so that no job waits for another's prompt."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.context import DAMAGED, Aborted, NoRoom, TokenFeed
from bt_runtime.llm.local.prefix import PrefixTree
from bt_runtime.llm.local.task import LocalTask, TaskWork
from bt_runtime.types import Spent

_JOBS = 48  # at once; the others wait
_SHORT = 32  # tokens of work that goes first
_ROWS = 512  # rows of logits in one batch: they take four bytes for every token of the vocabulary
_ROWS_KEPT = 16  # rows of logits after whole prompts
_IDLE = 1_000  # times in a row that a job may ask for no work: then it would go on so for ever
SPARE = 2  # sequences of its own that every job starts with: its prompt, and one to branch


class BatchCache(Protocol):
    """The parts of a llama.cpp context that the batch needs."""

    batch: int
    sequences: int

    def decode(self, feeds: Sequence[TokenFeed]) -> list[list[Any]]: ...
    def length(self, seq: int) -> int: ...
    def copy(self, source: int, target: int, length: int) -> None: ...
    def share(self, source: int, target: int, length: int) -> None: ...
    def cut(self, seq: int, length: int = 0) -> None: ...
    def clear(self) -> None: ...
    def save(self, seq: int) -> Any: ...
    def restore(self, seq: int, saved: Any) -> None: ...
    def stop(self) -> None: ...
    def go_on(self) -> None: ...


class BatchPart(NamedTuple):
    """A piece of work in a batch: the token where it ends, and the number of logit rows it needs."""

    task: LocalTask
    work: TaskWork
    end: int
    want: int


class Batch:
    """`done(id, value, error, spent)` is called once for every job that was not cancelled."""

    states = False  # a sequence can be forked only at its end

    def __init__(
        self,
        cache: BatchCache,
        room: int,
        done: Callable[[int, Any, BaseException | None, Spent], None],
        chunk: int = 512,
        repeatable: bool = False,
        alone: bool = False,
    ) -> None:
        """Creates a batch. `alone`: runs one job at a time and caches nothing else."""
        self.cache, self.room, self.done = cache, room, done
        self.chunk, self.repeatable, self.alone = min(chunk, cache.batch), repeatable, alone
        self.tree = PrefixTree()
        self.free = list(range(cache.sequences - 1, -1, -1))
        self.after: OrderedDict[tuple[int, ...], Any] = OrderedDict()  # prompt → the logits after it
        self.waiting: list[LocalTask] = []
        self.active: dict[int, LocalTask] = {}  # sequence of the prompt → task, in order of admission

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.active)

    def ask(self, task: LocalTask, first: bool = False) -> None:
        """Queues a task. `first`: the task continues a job that has just ended."""
        task.asked = task.asked or time.monotonic()
        self.waiting.insert(0 if first else len(self.waiting), task)

    def stop(self, _id: int | None = None) -> None:
        """Ends the running decode early. Any thread may call it."""
        self.cache.stop()

    def go_on(self) -> None:
        self.cache.go_on()

    def idle(self) -> None:
        """Called when nothing is asked."""

    def runs(self, id: int) -> bool:
        """True while this job runs. Safe from another thread."""
        return any(task.id == id for task in list(self.active.values()))

    def cancel(self, id: int) -> None:
        """Cancels the job; the computed part of its prompt stays in the cache."""
        self.waiting = [t for t in self.waiting if t.id != id]
        for task in [t for t in self.active.values() if t.id == id]:
            self._leave(task)

    @property
    def ready(self) -> bool:
        """True when a step has something to do."""
        return self.busy

    def step(self) -> None:
        """Admits jobs, runs one batch, and hands the rows out."""
        if plan := self.begin():
            self.finish(plan, self.decoded(plan))

    def begin(self) -> list[BatchPart]:
        """Admits jobs and plans the next batch."""
        self.admit()
        return self._plan()

    def decoded(self, plan: Sequence[BatchPart]) -> list[list[Any]] | Aborted | NoRoom:
        """Runs a planned batch. Any thread may call it, while nothing else touches this batch's cache."""
        try:
            return self.cache.decode(
                [TokenFeed(w.tokens[w.done : end], w.start + w.done, w.seqs, n) for _, w, end, n in plan]
            )
        except (Aborted, NoRoom) as why:
            return why

    def finish(
        self, plan: Sequence[BatchPart], answers: list[list[Any]] | Aborted | NoRoom, gone: Sequence[int] = ()
    ) -> None:
        """Hands out the rows of a batch. `gone`: jobs that were cancelled while it ran."""
        if isinstance(answers, NoRoom):
            self._relieve(plan[-1].task)
        elif isinstance(answers, Aborted):
            self._take_back(plan)
        for cancelled in gone:
            self.cancel(cancelled)
        if not isinstance(answers, list):
            return
        pairs = [pair for pair in zip(plan, answers, strict=True) if pair[0].task.id not in gone]
        for part, rows in pairs:
            if part.task.fault is None:
                self._hand_out(part, rows)
        for task in {id(part.task): part.task for part, _ in pairs}.values():
            task.works = [w for w in task.works if w.done < len(w.tokens)]
            if task.fault is not None:
                self._end(task, error=task.fault)
            elif not task.works:
                self._resume(task)

    def _hand_out(self, part: BatchPart, rows: Sequence[Any]) -> None:
        task, work = part.task, part.work
        task.computed += part.end - work.done
        first = work.want - (len(work.tokens) - part.end) - part.want
        try:
            for k, row in enumerate(rows, first):
                if not math.isfinite(row.max()):  # a NaN anywhere makes the maximum NaN
                    raise BtError("the model answers with what is not a number (NaN or infinity)", DAMAGED)
                work.read(k, row)
        except (BtError, ValueError, RuntimeError) as fault:
            task.fault = fault
        work.done = part.end
        if work.seqs == (task.seq,):
            task.ready = min(len(task.prompt), work.start + part.end)

    def _take_back(self, plan: Sequence[BatchPart]) -> None:
        """Undoes a batch after an abort, and queues its work again."""
        starts: dict[int, int] = {}
        for part in plan:
            start = part.work.start + part.work.done
            for seq in part.work.seqs:
                starts[seq] = min(start, starts.get(seq, start))
        for seq, start in starts.items():
            self.cache.cut(seq, start)

    def _relieve(self, last: LocalTask) -> None:
        """Frees cells when the cache is fuller than counted: drops a kept prefix, else requeues the youngest job."""
        gone = self.tree.oldest(but=self.active)
        if gone is not None:
            self._evict(gone)
        else:
            self._end(
                last, error=BtError("the model's cache is full", "give it more `room`, or run fewer jobs at once")
            )

    def remember(self, task: LocalTask, row: Any) -> None:
        """Caches the logits after a prompt, because a prompt is often asked again with other options."""
        self.after[tuple(task.prompt)] = row.copy()
        if len(self.after) > _ROWS_KEPT:
            self.after.popitem(last=False)

    def clear(self, but: int | None = None) -> None:
        for seq in self.tree.seqs():
            if seq != but:
                self._forget(seq)

    # sequences, for jobs that branch

    def take(self, task: LocalTask) -> int | None:
        if task.spare:
            return task.spare.pop()
        if len(self.free) > SPARE:  # the last ones are for the next job
            return self.free.pop()
        return None

    def give(self, task: LocalTask, seq: int) -> None:
        self.cache.cut(seq)
        if len(task.spare) < SPARE - 1:
            task.spare.append(seq)
        else:
            self.free.append(seq)

    def swap(self, task: LocalTask, seq: int, kept: list[int]) -> None:
        """Lets `seq` hold this job's prompt from now on, followed by the tokens `kept`."""
        task.kept = kept
        if seq == task.seq:
            return
        self.tree.remove(task.seq)
        del self.active[task.seq]
        old, task.seq = task.seq, seq
        self.active[seq] = task
        self.tree.insert(task.prompt, seq)
        self.give(task, old)

    # admission

    def admit(self) -> None:
        for task in list(self.waiting):
            if len(self.active) >= (1 if self.repeatable or self.alone else _JOBS):
                return
            outcome = self._enter(task)
            if outcome == "no room":
                return  # first come, first served: a small job does not overtake a large one for ever
            if outcome == "in":
                self.waiting.remove(task)
                self._resume(task)

    def _enter(self, task: LocalTask) -> Literal["in", "no room", "being computed"]:
        length, source = (0, None) if self.repeatable else self.beginning(task.prompt)
        if length is None:
            return "being computed"
        if self.alone:
            self.clear(but=source)
            if source is not None:
                self._shorten(source, length)
        if not self.make_room(len(task.prompt) - length + task.extra, source):
            return "no room"
        task.seq, *task.spare = (self.free.pop() for _ in range(SPARE))
        if self.repeatable:
            self.cache.clear()
        if source is not None:
            task.row = self.after.get(tuple(task.prompt)) if length == len(task.prompt) else None
            # without its logits, the last token is run once more
            task.reused = task.ready = min(length, len(task.prompt) - (task.row is None))
            if self.alone:
                self._take_over(task, source)
            else:
                self.cache.copy(source, task.seq, task.reused)
                self.tree.touch(source)
        self._begin(task)
        return "in"

    def _begin(self, task: LocalTask) -> None:
        task.begun = time.monotonic()
        self.active[task.seq] = task
        self.tree.insert(task.prompt, task.seq)
        self.drop_contained(task.seq)
        task.run = task.start(task, self)

    def beginning(self, prompt: Sequence[int]) -> tuple[int | None, int | None]:
        """Returns the longest cached part of a prompt and its sequence. The length is None while another job is
        computing that part."""
        match = self.tree.match(prompt)
        for seq in match.seqs:
            held = self.active.get(seq)
            if held is None or held.ready >= match.length:
                return match.length, seq
            if held.ready >= len(prompt) - 1:
                return held.ready, seq
        return (None, None) if match.seqs else (0, None)

    def _shorten(self, seq: int, length: int) -> None:
        beginning = self.tree.tokens(seq)[:length]
        self.tree.remove(seq)
        self.tree.insert(beginning, seq)
        self.cache.cut(seq, length)

    def _take_over(self, task: LocalTask, seq: int) -> None:
        """Takes the cached sequence over instead of copying it, because no other job needs it; a copy costs time per
        cell."""
        self.free.append(task.seq)
        self.tree.remove(seq)
        self.cache.cut(seq, task.reused)
        task.seq = seq

    def make_room(self, cells: int, source: int | None) -> bool:
        keep = {*self.active} if source is None else {*self.active, source}
        while len(self.free) < SPARE or self._used() + cells > self.room:
            gone = self.tree.oldest(but=keep)
            if gone is not None:
                self._evict(gone)
            elif self.active:
                return False
            elif source is None:
                return True  # alone in an empty cache: as much room as there can be
            else:
                self._forget(source)  # alone, and too little: the shared beginning has to go as well
                return False
        return True

    def _used(self) -> int:
        return self.tree.cells + sum(task.extra for task in self.active.values())

    def _evict(self, seq: int) -> None:
        """Frees the cells of an idle prompt."""
        self._forget(seq)

    def _forget(self, seq: int) -> None:
        self.tree.remove(seq)
        self.cache.cut(seq)
        self.free.append(seq)

    def drop_contained(self, seq: int) -> None:
        for other in self.tree.contained(seq):
            if other not in self.active:
                self._forget(other)

    # one batch

    def _plan(self) -> list[BatchPart]:
        """Plans the next batch."""
        plan: list[BatchPart] = []
        tokens, rows = self.cache.batch, _ROWS
        tasks = list(self.active.values())
        tasks.sort(key=lambda t: sum(len(w.tokens) - w.done for w in t.works) > _SHORT)  # stable: then by admission
        for task in tasks:
            left = self.chunk
            for work in task.works:
                size = min(len(work.tokens) - work.done, left, tokens, self.reach(task, work))
                silent = len(work.tokens) - work.want - work.done  # tokens whose logits nobody asked for
                size = min(size, max(0, silent) + rows)
                if size <= 0:
                    break
                want = max(0, size - max(0, silent))
                plan.append(BatchPart(task, work, work.done + size, want))
                tokens, left, rows = tokens - size, left - size, rows - want
                if work.done + size < len(work.tokens):
                    break  # later tasks may build on its tokens
        return plan

    def reach(self, task: LocalTask, work: TaskWork) -> int:
        """Returns how many tokens may run in one go."""
        return len(work.tokens)

    def _resume(self, task: LocalTask) -> None:
        assert task.run is not None
        try:
            for _ in range(_IDLE):
                task.works = next(task.run)
                if task.works:
                    return
            raise RuntimeError("the job makes no headway")
        except StopIteration as end:
            self._end(task, value=end.value)
        except (BtError, ValueError, RuntimeError) as fault:
            self._end(task, error=fault)

    def _end(self, task: LocalTask, value: Any = None, error: BaseException | None = None) -> None:
        spent = task.spent()
        self._leave(task)
        self.done(task.id, value, error, spent)

    def _leave(self, task: LocalTask) -> None:
        """Keeps a finished task's sequence as a prefix for others, up to the computed token."""
        if task.run is not None:
            task.run.close()
        self.free += task.spare
        task.spare = []
        del self.active[task.seq]
        self.tree.remove(task.seq)
        held = [*task.prompt, *task.kept][: self.cache.length(task.seq)]
        self.cache.cut(task.seq, len(held))
        if not held or self.repeatable:
            self.cache.cut(task.seq)
            self.free.append(task.seq)
            return
        self.tree.insert(held, task.seq)
        self.drop_contained(task.seq)
