"""Explores every possible sequence of events of a tree with bounded entries, on the real engine, until no new state
appears.

    explored = explore("door", never="open and locked")
    assert explored.finding is None, explored.finding

A state is what nodes and entries are between two ticks. From each, all that may happen next is tried: any running skill
goes on, succeeds or fails, any entry that somebody outside writes gets another of its values, or the time comes at
which the tree wants a tick. Time passes only from one such time to the next.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bt_runtime import Tree
from bt_runtime.testing import RUNNING, Trial
from bt_runtime.testing.case import BROKEN, Case, Finding, Subject
from bt_runtime.testing.promise import Broken
from bt_runtime.testing.values import ChosenValues
from bt_runtime.types import Json
from tests.support.brute_force_play import Choices, Oracle, Play
from tests.support.brute_force_state import seen_as

STATES = 5_000  # that are looked at, unless whoever asks says otherwise


@dataclass(frozen=True)
class Explored:
    """The result of an exploration. `whole` is True when all states were seen, and not only the allowed number."""

    finding: Finding | None
    states: int
    steps: int
    whole: bool
    late: bool = False  # did the time run out


def explore(
    tree: str | Path | Tree,
    *,
    never: str | Iterable[str] = (),
    always: str | Iterable[str] = (),
    states: int = STATES,
    inputs: Mapping[str, Json] | None = None,
    values: Mapping[str, Sequence[Json]] | None = None,
    project: Path | str | None = None,
    found_by: str = "",
    seconds: float = math.inf,
    ticks: int = sys.maxsize,
    told: Callable[[int, int], object] = lambda states, left: None,
) -> Explored:
    """Returns the shortest sequence of events that breaks a promise, or none; it visits at most so many states, and
    plays at most so many ticks of the engine, because each state is reached by playing all ticks before it again.

    After each step `told` gets the number of states that were seen, and of those from which it has yet to go on.
    """
    subject = Subject(tree, never, always, project)
    choices = Choices(subject, ChosenValues(subject.tree.spec, values), inputs or {})
    search = _Search(choices, states, time.monotonic() + seconds, told, ticks)
    broken = search.run()
    finding = subject.finding(broken, found_by or "explore(…)") if broken is not None else None
    if broken is None and search.whole and search.last is not None:
        subject.promises.known(search.last.run)
    return Explored(finding, len(search.seen), search.steps, search.whole, search.late)


class _Search:
    """A breadth-first search, so that the first counterexample is the shortest. A state is reached by repeating its
    choices."""

    def __init__(self, choices: Choices, most: int, end: float, told: Callable[[int, int], object], ticks: int) -> None:
        self.choices, self.most, self.end, self.told, self.ticks = choices, most, end, told, ticks
        self.late = False
        self.seen: set[Hashable] = set()
        self.todo: deque[tuple[tuple[int, ...], ...]] = deque([()])
        self.steps = 0
        self.whole = True
        self.last: Trial | None = None

    def run(self) -> Case | None:
        while self.todo:
            way = self.todo.popleft()
            prefix: list[int] | None = []
            while prefix is not None:
                self.late = time.monotonic() >= self.end
                if self.late or len(self.seen) >= self.most or self.ticks <= 0:
                    self.whole = False
                    return None
                play = Play(self.choices)
                try:
                    prefix, broken = self.beyond(play, way, prefix)
                finally:
                    play.close()
                if broken:
                    return play.case()
                self.told(len(self.seen), len(self.todo))
        return None

    def beyond(self, play: Play, way: tuple[tuple[int, ...], ...], prefix: list[int]) -> tuple[list[int] | None, bool]:
        """Plays one step beyond this way. Returns the next choices to try, and whether a promise was broken."""
        for number, chosen in enumerate((*way, tuple(prefix))):
            play.oracle = Oracle(chosen)
            self.ticks -= 1
            if number == 0:
                play.begin()
            try:
                play.step()
            except Broken:
                return None, True
        trial = self.last = play.trial
        assert trial is not None
        self.steps += 1
        state = seen_as(trial)
        if state not in self.seen:
            self.seen.add(state)
            if trial.status is RUNNING:
                self.todo.append((*way, tuple(choice for choice, _ in play.oracle.trail)))
        if any(crash for crash in trial.crashes if not crash.message.endswith(BROKEN)):
            return None, True
        return play.oracle.next(), False
