"""Collects an episode's events while it runs: the data for counts and for the cause of a failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from py_trees.common import Status

from bt_runtime.agents.surroundings import RECALL
from bt_runtime.events import (
    AGENT_EVENTS,
    NAMES,
    Acting,
    AgentEnded,
    AgentEvent,
    Decided,
    Expanded,
    SkillEnded,
    Stepped,
)
from bt_runtime.run.run import Run
from bt_runtime.types import Observation


class Acted(NamedTuple):
    """One finished action, of an agent or a plan, and the world's answer."""

    sentence: str
    observation: str
    ok: bool
    offered: bool


Told = AgentEvent | Acted
T = TypeVar("T")
_DECIDED: dict[type, tuple[str, ...]] = {
    Decided: ("path", "move", "sentence"), Stepped: ("path", "move", "text"), Expanded: ("path", "plan")
}  # fmt: skip


class EpisodeLog:
    """Listens to a run, from before its first tick."""

    def __init__(self, run: Run, offered: Callable[[str], bool]) -> None:
        self.events: list[Told] = []
        self.offered = offered
        self._digest = blake2b(digest_size=12)
        run.listen(self.told, *AGENT_EVENTS)
        run.listen(self.acted, SkillEnded)

    def told(self, event: AgentEvent) -> None:
        self.events.append(event)
        if type(event) in _DECIDED:
            told = [NAMES[type(event)], *(str(getattr(event, field)) for field in _DECIDED[type(event)])]
            self._digest.update(json.dumps(told).encode("utf-8", "backslashreplace"))

    def acted(self, done: SkillEnded) -> None:
        said = done.value.text if isinstance(done.value, Observation) else done.feedback
        ok = done.status is Status.SUCCESS
        self.events.append(Acted(done.sentence, said, ok, self.offered(done.sentence)))

    @property
    def decided(self) -> str:
        return self._digest.hexdigest()

    def all(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]


def steps(events: Sequence[Told]) -> int:
    """Counts actions, and questions to working memory, each of which takes a step."""
    asked = [e for e in events if isinstance(e, Acting) and e.sentence.startswith(RECALL)]
    return len(asked) + sum(isinstance(e, Acted) for e in events)


def nesting(events: Sequence[Told]) -> int:
    """Returns the maximum number of nested agents; each expansion adds one."""
    grown = {e.path for e in events if isinstance(e, Expanded)}
    lived = {e.path for e in events if isinstance(e, AgentEnded) and e.kind == "agent"}
    return max((1 + sum(path.startswith(f"{above}/") for above in grown) for path in lived), default=0)
