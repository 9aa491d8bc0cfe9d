"""For models that keep one core busy with one batch: jobs that are asked at the same time are computed on several
cores, in a batch of its own on each.

All decisions are made by the worker's computing thread; other threads only run a planned batch. Two caches share the
weights. What one has computed of a beginning is copied to the other, never computed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.batch import Batch, BatchPart
from bt_runtime.llm.local.lending import known, lend
from bt_runtime.llm.local.task import LocalTask

_WORTH = 32  # tokens that another batch has more: then they are copied rather than computed


class BatchReport(NamedTuple):
    """What a thread reports: the batch that it ran, and what came of it."""

    batch: Batch
    plan: Sequence[BatchPart]
    outcome: Any = None  # the rows, or why there are none
    fault: BaseException | None = None


class Cores:
    """Acts as a batch for the worker. `open` creates a batch; a second one is opened when two jobs are there at the
    same time. `tell` is called from other threads; its value is for `computed`."""

    def __init__(self, first: Batch, open: Callable[[], Batch], most: int, tell: Callable[[BatchReport], None]) -> None:
        self.open, self.most, self.tell = open, most, tell
        self.batches = [first]
        self.waiting: list[LocalTask] = []
        self.running: dict[Batch, list[int]] = {}  # batch → its jobs that were cancelled while it runs
        self._threads = ThreadPoolExecutor(most, "compute")
        self._looked = False  # since the last news: nothing more can be started

    @property
    def busy(self) -> bool:
        return bool(self.waiting) or any(batch.busy for batch in self.batches)

    @property
    def ready(self) -> bool:
        return self.busy and not self._looked

    def ask(self, task: LocalTask, first: bool = False) -> None:
        """Queues a task. `first`: the task continues a job that has just ended."""
        task.asked = task.asked or time.monotonic()
        self.waiting.insert(0 if first else len(self.waiting), task)
        self._looked = False

    def runs(self, id: int) -> bool:
        """True while this job runs. Safe from another thread."""
        return any(batch.runs(id) for batch in [*self.batches])

    def stop(self, id: int | None = None) -> None:
        """Ends the decode of this job's batch early, else that of all. Any thread may call it."""
        for batch in [*self.batches]:
            if id is None or batch.runs(id):
                batch.stop()

    def go_on(self) -> None:
        for batch in self.batches:
            if batch not in self.running:
                batch.go_on()

    def idle(self) -> None:
        for batch in self.batches:
            batch.idle()

    def cancel(self, id: int) -> None:
        """Cancels the job, at once or at the end of the batch that runs it."""
        self.waiting = [task for task in self.waiting if task.id != id]
        self._looked = False
        for batch in self.batches:
            if batch in self.running:
                self.running[batch].append(id)
            else:
                batch.cancel(id)

    def computed(self, told: BatchReport) -> None:
        """Hands out what a thread has computed."""
        gone = self.running.pop(told.batch)
        self._looked = False
        if told.fault is not None:
            raise told.fault
        told.batch.go_on()  # a cancel that stopped it is read before it is started again
        told.batch.finish(told.plan, told.outcome, gone)

    def step(self) -> None:
        """Gives waiting jobs to batches, and starts every batch that is not running."""
        self._looked = True
        for task in [*self.waiting]:
            if self._assign(task):
                self.waiting.remove(task)
        for batch in self.batches:
            if batch not in self.running and batch.busy and (plan := batch.begin()):
                self.running[batch] = []
                self._threads.submit(self._run, batch, plan)

    def _run(self, batch: Batch, plan: Sequence[BatchPart]) -> None:
        try:
            self.tell(BatchReport(batch, plan, batch.decoded(plan)))
        except BaseException as fault:
            self.tell(BatchReport(batch, plan, fault=fault))

    def _assign(self, task: LocalTask) -> bool:
        """Gives a job to the batch with the fewest, else to the one that holds most of its prompt. Returns False when
        it has to wait: for a beginning that is being computed, or for a batch to be at rest."""
        batch = self._least(task)
        held = {each: known(each, task.prompt) for each in self.batches}
        home = max(held, key=lambda each: held[each].length)
        source = max(held, key=lambda each: held[each].ready)
        ready, missing = held[source].ready, held[home].length - held[batch].length
        if missing > _WORTH and held[home].length > ready + _WORTH:
            return False
        lends = ready > held[batch].length + _WORTH
        if batch in self.running or (lends and source in self.running):
            batch, lends = home, False
        if batch in self.running:
            return False
        if lends:
            lend(source, task.prompt[:ready], batch)
        batch.ask(task)
        batch.admit()  # at once, so that the next job sees what is being computed
        return True

    def _least(self, task: LocalTask) -> Batch:
        """Returns the batch with the fewest jobs; of equal ones that which holds more of the prompt."""
        jobs = {batch: len(batch.active) + len(batch.waiting) for batch in self.batches}
        if min(jobs.values()) and len(self.batches) < self.most:
            try:
                self.batches.append(self.open())
                jobs[self.batches[-1]] = 0
            except BtError:  # no memory for another cache
                self.most = len(self.batches)
        return min(jobs, key=lambda batch: (jobs[batch], -known(batch, task.prompt).length))
