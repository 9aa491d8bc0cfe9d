"""What one episode tells of itself while it runs: all that its failure is judged by, and counts are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.agents.surroundings import RECALL
from bt_runtime.events import AGENT_EVENTS, NAMES, AgentEnded, AgentEvent, SkillEnded, body
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Run
from bt_runtime.types import Observation


class Event(NamedTuple):
    """As agents tell it: `step`, `end`, `expand`, `refused`, …; `acted` is what the world said to an act."""

    name: str
    what: dict[str, Any]

    @property
    def path(self) -> str:
        return str(self.what.get("path", ""))


_DECIDED = {"decision": ("path", "move", "sentence"), "step": ("path", "move", "text"), "expand": ("path", "plan")}


class EpisodeLog:
    """Listens to a run, from before its first tick."""

    def __init__(self, run: Run, offered: Callable[[str], bool]) -> None:
        self.events: list[Event] = []
        self.run, self.offered = run, offered
        self._digest = blake2b(digest_size=12)
        run.listen(self.told, *AGENT_EVENTS)
        run.listen(self.acted, SkillEnded)

    def told(self, event: AgentEvent) -> None:
        name, known = NAMES[type(event)], body(event)
        if isinstance(event, AgentEnded):
            known["kind"] = self._kind(event.path)
        self.events.append(Event(name, known))
        if name in _DECIDED:
            told = [name, *(str(known.get(key, "")) for key in _DECIDED[name])]
            self._digest.update(json.dumps(told).encode("utf-8", "backslashreplace"))

    def acted(self, done: SkillEnded) -> None:
        """An agent's action or a plan's."""
        said = done.value.text if isinstance(done.value, Observation) else done.feedback
        ok = done.status is Status.SUCCESS
        self.events.append(Event("acted", {
            "sentence": done.sentence, "observation": said, "ok": ok, "offered": self.offered(done.sentence)
        }))  # fmt: skip

    def _kind(self, path: str) -> str:
        with suppress(BtError):
            node: Any = self.run.engine.find(path)
            return str(node.spec.kind.name)
        return ""

    @property
    def decided(self) -> str:
        return self._digest.hexdigest()

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]


def steps(events: list[Event]) -> int:
    """Actions, and questions to working memory, which take a step as well."""
    asked = [e for e in events if e.name == "act" and str(e.what.get("sentence", "")).startswith(RECALL)]
    return len(asked) + sum(e.name == "acted" for e in events)


def nesting(events: list[Event]) -> int:
    """How many agents stood above one another, at most: each expansion adds one."""
    grown = {e.path for e in events if e.name == "expand"}
    lived = {e.path for e in events if e.name == "end" and e.what.get("kind") == "agent"}
    return max((1 + sum(path.startswith(f"{above}/") for above in grown) for path in lived), default=0)
