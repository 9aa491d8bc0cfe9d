"""Experiences for an evaluation: all episodes read them and none changes them, so that their order does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.retrieval import Retrieval
from bt_runtime.memory.store import Added

if TYPE_CHECKING:
    from bt_lab.run.case import Case, Setup
    from bt_lab.run.outcome import Outcome
    from bt_runtime.memory.episodes import Episodes
    from bt_runtime.memory.experience import Experience


class ReadonlyMemory:
    """One episode's view of a memory; `episodes` is None for an empty one."""

    def __init__(
        self, episodes: Episodes | None, level: str = "", tokens: int = 0, similarity: float | None = None
    ) -> None:
        self.episodes, self.level, self.tokens, self.similarity = episodes, level, tokens, similarity
        self.noted: list[Experience] = []

    def ask(self, goal: str, budget: int | None = None, k: int = 5, **how: Any) -> Any:
        if self.level:
            how["level"] = self.level
        if self.similarity is not None:
            how["similarity"] = self.similarity
        budget = self.tokens or budget
        return self.episodes.ask(goal, budget, k, **how) if self.episodes is not None else Nothing(goal)

    def select(self, strategy: Any, count: int, **how: Any) -> Any:
        if self.episodes is None:
            return Nothing(str(how.get("goal", "")))
        return self.episodes.select(strategy, count, **how)

    def add(self, experiences: Iterable[Experience]) -> Added:
        """Stores new experiences apart from those that are read."""
        self.noted += experiences
        return Added(0, 0)

    retell = add  # also for a run that was rolled back


class Nothing:
    """The answer of an empty memory."""

    def __init__(self, goal: str) -> None:
        self.goal = goal

    def poll(self) -> Any:
        return Retrieval(self.goal, (), (), 0, None, "there are no experiences yet")

    def cancel(self, reason: str) -> None:
        """No-op: the answer was immediate."""


class ReadonlyMemories:
    """The memory of every strategy, opened once for all episodes."""

    def __init__(self, setup: Setup, count: Callable[[str], int]) -> None:
        self.setup, self.count = setup, count
        self.opened: dict[str, Episodes] = {}
        self.out: dict[str, ReadonlyMemory] = {}
        self.stack = ExitStack()

    def __enter__(self) -> ReadonlyMemories:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def of(self, case: Case) -> ReadonlyMemory | None:
        """Returns the case's memory; None without a memory in the strategy and without learning."""
        where = case.strategy.memory
        if not where and not self.setup.learning:
            return None
        memory = self.out[case.key] = ReadonlyMemory(
            self._open(where) if where else None,
            self.setup.level,
            self.setup.example_tokens,
            self.setup.similarity,
        )
        return memory

    def kept(self, outcome: Outcome, case: Case) -> Outcome:
        """Adds the episode's notes to the outcome when learning. Equal episodes give equal notes."""
        memory = self.out.pop(case.key, None)
        if memory is not None and self.setup.learning:
            run = f"{case.strategy.name} {case.task.id}"
            outcome.experiences = [replace(each, run=run, when=0.0).to_json() for each in memory.noted]
        return outcome

    def _open(self, where: str) -> Episodes:
        if where not in self.opened:
            from bt_runtime.memory.episodes import Episodes

            if not Path(where).is_file():
                raise BtError(f"there is no memory {where}", "make one: `btr lab eval … --memory build --train 50`")
            self.opened[where] = self.stack.enter_context(Episodes.open(where, count=self.count, readonly=True))
        return self.opened[where]
