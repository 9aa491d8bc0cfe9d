"""For small models: each job runs alone in a cache of its own, instead of all jobs in one batch over one cache.

A batch shares the reading of the weights. Weights that fit the processor's own cache gain nothing from that, while
every token pays for looking at what the cache holds of others. So each lane holds one conversation and goes on with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.batch import Batch
from bt_runtime.llm.local.lending import KnownPrefix, known, lend
from bt_runtime.llm.local.task import LocalTask

_WORTH = 32  # tokens that another lane knows more: then they are copied rather than computed
_LOSS = 64  # tokens at the end of a conversation that may be given up for going on with its beginning


class Lanes:
    """Acts as a batch for the worker. `open` creates a lane; conversations open lanes as needed."""

    def __init__(self, first: Batch, open: Callable[[], Batch], most: int) -> None:
        self.open, self.most = open, most
        self.lanes = [first]
        self.waiting: list[LocalTask] = []
        self._used = {first: 0}  # lane → when it was last given a job
        self._clock = count(1)
        self._turn = 0

    @property
    def busy(self) -> bool:
        return bool(self.waiting) or any(lane.busy for lane in self.lanes)

    @property
    def ready(self) -> bool:
        return self.busy

    def idle(self) -> None:
        """Called when nothing is asked."""

    def ask(self, task: LocalTask, first: bool = False) -> None:
        """Queues a task. `first`: the task continues a job that has just ended, in that job's lane."""
        task.asked = task.asked or time.monotonic()
        self.waiting.insert(0 if first else len(self.waiting), task)

    def runs(self, id: int) -> bool:
        """True while this job runs. Safe from another thread."""
        return any(lane.runs(id) for lane in [*self.lanes])

    def stop(self, _id: int | None = None) -> None:
        """Ends the running decode early. Any thread may call it. Only one decode runs, so all lanes are told."""
        for lane in [*self.lanes]:
            lane.stop()

    def go_on(self) -> None:
        for lane in self.lanes:
            lane.go_on()

    def cancel(self, id: int) -> None:
        self.waiting = [task for task in self.waiting if task.id != id]
        for lane in self.lanes:
            lane.cancel(id)

    def step(self) -> None:
        """Gives waiting jobs to lanes, then runs one batch of the next lane."""
        for task in [*self.waiting]:
            if len(self.lanes) >= self.most and all(lane.busy for lane in self.lanes):
                break
            if self._assign(task):
                self.waiting.remove(task)
        for _ in self.lanes:
            self._turn = (self._turn + 1) % len(self.lanes)
            if self.lanes[self._turn].busy:
                self.lanes[self._turn].step()
                return

    def _assign(self, task: LocalTask) -> bool:
        """Returns False when the job has to wait: for a free lane, or for another job to compute a prefix that can be
        copied."""
        held = {lane: known(lane, task.prompt) for lane in self.lanes}
        source = max(held, key=lambda lane: held[lane].ready)
        if max(k.length for k in held.values()) > held[source].ready + _WORTH:
            return False
        lane = self._lane(held)
        if lane is None:
            return False
        ready, length = held[source].ready, held[lane].length if lane in held else 0
        if ready > length + _WORTH:
            lend(source, task.prompt[:ready], lane)
        self._used[lane] = next(self._clock)
        lane.ask(task)
        lane.admit()  # at once, so that the next job sees what is being computed
        return True

    def _lane(self, held: dict[Batch, KnownPrefix]) -> Batch | None:
        """Returns the lane that holds this conversation, else a new lane, else the least recently used one."""
        idle = [lane for lane in held if not lane.busy]
        going_on = [lane for lane in idle if held[lane].lost <= _LOSS]
        if going_on:
            return max(going_on, key=lambda lane: held[lane].length)
        return self._opened() or min(idle, key=self._used.__getitem__, default=None)

    def _opened(self) -> Batch | None:
        """Opens a lane; None at the limit, or without memory."""
        if len(self.lanes) >= self.most:
            return None
        try:
            lane = self.open()
        except BtError:
            self.most = len(self.lanes)
            return None
        self.lanes.append(lane)
        self._used[lane] = 0
        return lane
