"""What one episode tells of itself while it runs: all that its failure is judged by, and counts are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.agents.surroundings import RECALL
from bt_runtime.diagnose import BtError
from bt_runtime.runtime import Run
from bt_runtime.skills.activity import Activity, Ended
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
    """Listens to a run; whoever listened before goes on listening."""

    def __init__(self, run: Run, offered: Callable[[str], bool]) -> None:
        self.events: list[Event] = []
        self.run, self.offered = run, offered
        self._digest = blake2b(digest_size=12)
        context = run.context
        self._tell, self._begun = context.events, context.begun
        context.events, context.begun = self.tell, self.begun

    def tell(self, name: str, what: dict[str, Any]) -> None:
        known = dict(what)
        if name == "end":
            known["kind"] = self._kind(str(what.get("path", "")))
        self.events.append(Event(name, known))
        if name in _DECIDED:
            told = [name, *(str(what.get(key, "")) for key in _DECIDED[name])]
            self._digest.update(json.dumps(told).encode("utf-8", "backslashreplace"))
        self._tell(name, what)

    def begun(self, start: Any, sentence: str, target: Any, *about: Any) -> Activity:
        """Every action passes here, an agent's and a plan's."""
        return _Acted(self._begun(start, sentence, target, *about), sentence, self)

    def acted(self, sentence: str, done: Ended) -> None:
        said = done.value.text if isinstance(done.value, Observation) else done.feedback
        ok = done.status is Status.SUCCESS
        self.events.append(Event("acted", {
            "sentence": sentence, "observation": said, "ok": ok, "offered": self.offered(sentence)
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


class _Acted:
    """An activity that is told when it has ended."""

    def __init__(self, inner: Activity, sentence: str, log: EpisodeLog) -> None:
        self.inner, self.sentence, self.log = inner, sentence, log
        self.wakes = inner.wakes

    def poll(self) -> Ended | None:
        done = self.inner.poll()
        if done is not None:
            self.log.acted(self.sentence, done)
        return done

    def cancel(self, reason: str) -> None:
        self.inner.cancel(reason)


def steps(events: list[Event]) -> int:
    """Actions, and questions to working memory, which take a step as well."""
    asked = [e for e in events if e.name == "act" and str(e.what.get("sentence", "")).startswith(RECALL)]
    return len(asked) + sum(e.name == "acted" for e in events)


def nesting(events: list[Event]) -> int:
    """How many agents stood above one another, at most: each expansion adds one."""
    grown = {e.path for e in events if e.name == "expand"}
    lived = {e.path for e in events if e.name == "end" and e.what.get("kind") == "agent"}
    return max((1 + sum(path.startswith(f"{above}/") for above in grown) for path in lived), default=0)
