"""The memories of a recorded run: the episodic memory's identity, its recorded answers, and working memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bt_runtime.agents.services import EpisodeSource, FoundEpisodes, agent_services
from bt_runtime.journal import codec, parts
from bt_runtime.journal.recordable import Given, Recordable
from bt_runtime.journal.sources import class_name
from bt_runtime.journal.taped import TapedJob
from bt_runtime.memory.notice import Fact, Held, Holding, Looked, PlacedThing, Seen, Thing
from bt_runtime.memory.opening import full_name
from bt_runtime.types import Job, Json


@runtime_checkable
class Identified(Protocol):
    def identity(self) -> str:
        """An id that stays the same while the memory grows."""


class RecordedMemory(parts.JournalPart):
    """Keeps which memories the run had; an open one is identified by what its file says of itself."""

    values = (Thing, Seen, PlacedThing, Held, Holding, Looked, Fact)

    def kept(self, run: Recordable, given: Given) -> parts.Kept:
        agents, memory = agent_services(run.context), given.get("memory")
        has = {"working": agents.working_memory is not None, "episodes": agents.episodes is not None}
        return parts.Kept(has, {"memory": _identified(memory, run.resources.memory)})

    def wrap(self, run: Recordable, tape: parts.Taping, head: Mapping[str, Json]) -> None:
        agents = agent_services(run.context)
        if head.get("working") and agents.working_memory is None:
            run.resources.remember(run.context)
        if head.get("episodes"):
            agents.episodes = TapedEpisodes(tape, agents.episodes)


MEMORY = RecordedMemory()


class _Text:
    def __init__(self, text: str, labels: str) -> None:
        self.text, self.labels = text, labels


class Recalled:
    """The recorded result of a retrieval, used when the memory itself is unavailable."""

    def __init__(self, kept: Mapping[str, Json]) -> None:
        labels = kept.get("labels") or [""] * len(kept["texts"])
        self.taken = tuple(_Text(*each) for each in zip(kept["texts"], map(str, labels), strict=True))
        self._why = kept["why"]

    def why(self) -> str:
        return str(self._why)


class TapedEpisodes:
    """An episodic memory whose answers are recorded. `inner` is None during a pure replay."""

    def __init__(self, tape: parts.Taping, inner: EpisodeSource | None) -> None:
        self.tape, self.inner = tape, inner

    @property
    def live(self) -> EpisodeSource:
        """The real memory, used after the recorded part."""
        assert self.inner is not None, "a replay asks no memory"
        return self.inner

    def ask(self, goal: str, *args: Any, **how: Any) -> TapedJob[FoundEpisodes]:
        return self._ask("ask", goal, lambda: self.live.ask(goal, *args, **how))

    def select(self, way: str, count: int, **how: Any) -> TapedJob[FoundEpisodes]:
        return self._ask(way, str(how.get("goal", "")), lambda: self.live.select(way, count, **how))

    def _ask(self, way: str, goal: str, ask: Callable[[], Job[FoundEpisodes]]) -> TapedJob[FoundEpisodes]:
        def keep(found: FoundEpisodes) -> Json:
            labels = [str(getattr(e, "labels", "")) for e in found.taken]
            told: Json = {"labels": labels} if any(labels) else {}
            return {"texts": [e.text for e in found.taken], "why": codec.plain(found.why()), **told}

        job = TapedJob(self.tape, ("seek", "found"), {"way": way, "goal": goal}, {}, ask, Recalled, keep)
        job.wakes = False  # a memory does not
        return job

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _identified(given: object, opened: object) -> dict[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, str | Path):
        return {"object": class_name(given)}
    assert isinstance(opened, Identified)
    return {"name": full_name(given), "identity": opened.identity()}
