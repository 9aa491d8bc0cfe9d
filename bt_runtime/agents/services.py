"""The services of a run's agents: models, memories, and what they share about the task at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.model_wrapper import a_model

if TYPE_CHECKING:
    from bt_runtime.memory.notebook import Notebook
    from bt_runtime.memory.working import WorkingMemory
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.services import Actor
    from bt_runtime.types import Job, Model, Wake

KEPT_DEEDS = 1000


class Shown(Protocol):
    """One retrieved experience. Its `labels`, if it has any, say where it came from: `author,world`."""

    @property
    def text(self) -> str: ...


class FoundEpisodes(Protocol):
    """What a memory found for a goal."""

    @property
    def taken(self) -> tuple[Shown, ...]: ...
    def why(self) -> str:
        """How it was found, for the journal and the page."""


class EpisodeSource(Protocol):
    """The episodic memory that agents are shown examples from."""

    def ask(
        self,
        goal: str,
        budget: int,
        count: int,
        /,
        *,
        level: str,
        seed: int,
        exclude_task: str | None,
        similarity: float,
    ) -> Job[FoundEpisodes]:
        """The experiences most similar to a goal, within a budget of tokens; none below `similarity`."""

    def select(
        self, way: str, count: int, /, *, goal: str, kind: str, seed: int, exclude_task: str | None
    ) -> Job[FoundEpisodes]:
        """Experiences of a kind of task, or of each kind."""


class Album(Protocol):
    """The pictures of a run, as its nodes see them."""

    def take(self, named: str, wake: Wake | None = None) -> Job[str]:
        """Reads a picture by its path or its mark, and keeps it; the job gives its mark."""

    def files(self, prompt: str) -> tuple[str, ...]:
        """The files of the pictures whose marks stand in a prompt; marks that a text made up are not known."""


class Remembering(NamedTuple):
    """A working memory, and the target that skills with `impl: memory` act on."""

    working: WorkingMemory
    target: Actor


@dataclass
class AgentServices:
    """One for each run, reached by `agent_services(context)`. An episode has its own, with the run's models."""

    STATE: ClassVar = (
        "task", "task_kind", "stories", "skill_outputs", "last_action", "deeds", "working_memory", "notebook",
    )  # fmt: skip

    # of the run
    models: dict[str, Model] = field(default_factory=dict)  # models by role; `default` answers for other roles
    episodes: EpisodeSource | None = None
    prompts: str = ""  # the register of all models' prompts; each model's own where none is named
    pictures: Album | None = None  # pictures that models are shown
    texts: Mapping[str, str] = field(default_factory=dict)  # texts of prompts by name, in place of their files
    open_world: Callable[..., Any] | None = None  # for an episode; a journal's, which keeps what was opened
    fresh_memory: Callable[[Context], Remembering] | None = None  # an episode's working memory
    # (role of a model, prompt) → scores of sentences behind it, which are asked for once
    priors: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    # of one task
    task: str = ""
    task_kind: str = ""
    stories: dict[str, tuple[str, str]] = field(default_factory=dict)  # goal → what an agent did for it, how it ended
    skill_outputs: dict[tuple[str, str], object] = field(default_factory=dict)  # (skill, output) → its latest value
    last_action: tuple[str, str] | None = None  # (sentence, observation)
    deeds: list[tuple[str, str]] = field(default_factory=list)  # the newest of them
    working_memory: WorkingMemory | None = None
    notebook: Notebook | None = None  # takes finished stories

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Takes its own from a program's services, by name: `model`, `models` by role, `episodes`, `prompts`, …"""
        for name in given.keys() & _KEPT:
            raise BtError(f"`{name}` cannot be a service of yours: the agents keep it themselves", "name it otherwise")
        models = given.get("models") or ({"default": given["model"]} if given.get("model") is not None else {})
        own = {name: given[name] for name in _GIVEN if name in given}
        return cls({role: a_model(model) for role, model in models.items()}, **own)

    def of_episode(self) -> Self:
        return replace(
            self, task="", task_kind="", stories={}, skill_outputs={}, last_action=None, deeds=[], working_memory=None,
            notebook=None,
        )  # fmt: skip

    def model(self, role: str = "") -> Model | None:
        return self.models.get(role) or self.models.get("default")

    def did(self, sentence: str, told: str, recalled: bool = False) -> None:
        """Counts a successful action; recalls do not count."""
        self.last_action = (sentence, told)
        if not recalled:
            self.deeds.append(self.last_action)
            del self.deeds[:-KEPT_DEEDS]


_GIVEN = ("episodes", "prompts", "notebook")
_KEPT = {f.name for f in fields(AgentServices)} - {"models", *_GIVEN}


def agent_services(context: Context) -> AgentServices:
    """The services of the agents around this context: the run's, or its episode's."""
    return context.services.part(AgentServices)
