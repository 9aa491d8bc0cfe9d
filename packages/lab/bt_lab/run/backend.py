"""Runs the episodes in this process. A backend that sends cases elsewhere has the same interface."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from bt_lab.run.case import Case, Setup
from bt_lab.run.episode import Episode
from bt_lab.run.outcome import Outcome
from bt_lab.run.readonly_memory import ReadonlyMemories, ReadonlyMemory
from bt_runtime.run.run import Tree, load
from bt_runtime.tree.clock import Alarm, Monotonic, RunClock
from bt_runtime.types import Model

Models = Mapping[str, Model]


class Backend(Protocol):
    def outcomes(self, setup: Setup, cases: Sequence[Case]) -> Iterator[Outcome]:
        """Yields one outcome for each case as it ends. A broken case yields an error.
        Closing the iterator ends running cases."""


class Intake:
    """The cases still to run: a fixed list, or one that grows while it is open."""

    def __init__(self, cases: Iterable[Case] = (), open: bool = False) -> None:
        self.cases, self.open = deque(cases), open
        self.ended = False
        self.alarm = Alarm()  # rung from any thread when there is something to do

    @property
    def goes_on(self) -> bool:
        return not self.ended and (self.open or bool(self.cases))

    def add(self, case: Case) -> None:
        self.cases.append(case)
        self.alarm.set()

    def end(self) -> None:
        """Starts no more cases and closes the running ones."""
        self.ended = True
        self.alarm.set()

    def wait(self) -> None:
        if self.goes_on and not self.cases:
            self.alarm.wait()


class Local:
    """Ticks `jobs` episodes in turn on one thread; the models answer their questions in one batch.

    Sleeps only while all of them wait, on the clock of the earliest one."""

    def __init__(
        self, models: Models | Callable[[Case], Models], jobs: int = 1, clock: Callable[[], RunClock] = Monotonic
    ) -> None:
        self.models, self.jobs, self.clock = models, max(1, jobs), clock
        self.trees: dict[str, Tree] = {}

    def outcomes(self, setup: Setup, cases: Sequence[Case]) -> Iterator[Outcome]:
        return self.served(setup, Intake(cases))

    def served(self, setup: Setup, intake: Intake) -> Iterator[Outcome]:
        """Runs cases until the intake ends, or is closed and done."""
        running, alarm = list[Episode](), intake.alarm
        with ReadonlyMemories(setup, self.count) as memories:
            try:
                while intake.goes_on or (running and not intake.ended):
                    alarm.clear()
                    while intake.cases and len(running) < self.jobs:
                        running.append(self._begun(setup, intake.cases.popleft(), memories, alarm))
                    for episode in [e for e in running if e.over or e.wait <= 0]:
                        if not episode.over:
                            episode.tick()
                        if episode.over:
                            running.remove(episode)
                            yield memories.kept(episode.finish(), episode.case)
                    if running:
                        self._sleep(running, alarm)
                    else:
                        intake.wait()
            finally:
                for episode in running:
                    episode.close()

    def _begun(self, setup: Setup, case: Case, memories: ReadonlyMemories, alarm: Alarm) -> Episode:
        episode = Episode(setup, case, self.clock(), alarm.set)
        models = self.models(case) if callable(self.models) else self.models
        memory: ReadonlyMemory | None = memories.of(case)
        episode.begin(self.tree(case.strategy.tree), models, memory)
        return episode

    def tree(self, name: str) -> Tree:
        """Loads a tree once for all episodes."""
        if name not in self.trees:
            self.trees[name] = load(name)
        return self.trees[name]

    def _sleep(self, running: Sequence[Episode], alarm: Alarm) -> None:
        first: Any = min(running, key=lambda episode: episode.wait, default=None)
        if first is not None and first.wait > 0:
            first.clock.wait(alarm, first.due)

    def count(self, text: str) -> int:
        """Counts tokens by the first model; counts words when each case has its own model."""
        if callable(self.models):
            return len(text.split())
        return next(iter(self.models.values())).count(text) if self.models else len(text.split())
