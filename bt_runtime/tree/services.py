"""The services of a tree's nodes: world, models, memories and the task's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.tree.budget import Budget, Spent
from bt_runtime.types import Doing

if TYPE_CHECKING:
    import threading

    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.memory.notebook import Notebook
    from bt_runtime.memory.working import WorkingMemory
    from bt_runtime.types import Model, World


@runtime_checkable
class Joining(Protocol):
    """A person object that wants to know which run asks."""

    def joins(self, context: object) -> None: ...


@dataclass
class Services:
    """The services of a run. An episode has a copy with its own task's services."""

    # of the run
    models: dict[str, Model] = field(default_factory=dict)  # by role; `default` answers for those that are not there
    episodes: Any = None  # the episodic memory that agents are shown examples from
    person: Any = None  # who answers an agent's question
    budget: Budget | None = None  # what the whole run may spend
    seed: int = 0
    prompts: str = ""  # the register of all models' prompts; each model's own where none is named
    open_world: Callable[..., Any] | None = None  # for an episode; a journal's, which keeps what was opened
    fresh_memory: Callable[[Any], Mapping[str, Any]] | None = None  # an episode's working memory, by its context
    turns: dict[int, threading.Lock] = field(default_factory=dict)  # one action at a time in a world, by its identity
    imports: Callable[..., Any] | None = None  # finds the Python that a `py:` node names; none: as it is installed
    starts: Counter[tuple[str, str]] = field(default_factory=Counter)  # of skills that may be started so often only
    scripted_skills: Any = None  # by a skill's name, what is called in its stead: a test's
    world_skills: Sequence[Kind] = ()  # of the project's manifests, listed by a tree or not: their locks hold
    given: dict[str, Any] = field(default_factory=dict)  # by a program, for nodes and skills of its own
    # (role of a model, prompt) → scores of sentences behind it, which are asked for once
    priors: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    # of one task
    world: World | None = None
    task: str = ""
    task_kind: str = ""
    spent: Spent | None = None
    stories: dict[str, tuple[str, str]] = field(default_factory=dict)  # goal → what an agent did for it, how it ended
    skill_outputs: dict[tuple[str, str], Any] = field(default_factory=dict)  # (skill, output) → what it gave last
    scene: Any = None  # a skill that can be looked at: it has `picture()`
    last_action: tuple[str, str] | None = None  # its sentence, what was seen then
    deeds: list[tuple[str, str]] = field(default_factory=list)  # the newest of them
    working_memory: WorkingMemory | None = None
    memory: Any = None  # working memory as something to act on: `impl: memory` in a manifest
    notebook: Notebook | None = None  # where finished stories go
    in_episode: bool = False

    def give(self, given: Mapping[str, Any]) -> None:
        """Adds a program's services; raises for a name that the runtime uses itself."""
        for name in given:
            if name in _KEPT or not isinstance(name, str):
                raise BtError(
                    f"`{name!s:.60}` cannot be a service of yours: the run keeps it itself", "name it otherwise"
                )
        self.update(given)

    def introduce(self, context: object) -> None:
        """Tells the person object which run asks."""
        if isinstance(self.person, Joining):
            self.person.joins(context)

    def update(self, given: Mapping[str, Any]) -> None:
        """Sets services by name; unknown names are kept for the program's own nodes."""
        for name, value in given.items():
            if name == "model":
                self.models |= _models({"default": value})
            elif name == "models":
                self.models = _models(value)
            elif name in _NAMES:
                setattr(self, name, value)
            else:
                self.given[name] = value

    def of_episode(self, **own: Any) -> Services:
        """Returns an episode's services, with everything of the task new."""
        anew: dict[str, Any] = dict.fromkeys(_OF_TASK)
        anew |= {"task": "", "task_kind": "", "stories": {}, "skill_outputs": {}, "deeds": [], "in_episode": True}
        return replace(self, **anew | own)

    def did(self, sentence: str, told: str, recalled: bool = False) -> None:
        """Counts a successful action; recalls do not count."""
        self.last_action = (sentence, told)
        if not recalled:
            self.deeds.append(self.last_action)
            del self.deeds[:-KEPT_DEEDS]

    def model(self, role: str = "") -> Model | None:
        return self.models.get(role) or self.models.get("default")

    def acted_in(self, impl: str) -> Any:
        """Returns the target of a manifest skill with `impl: world` or `impl: memory`."""
        return {"world": self.world, "memory": self.memory}.get(impl)

    def done_by_world(self, name: str, clock: Any) -> Any:
        """The world's own skill of that name (`impl: world/skill`); raises where there is none."""
        world = self.world
        if world is None:
            raise BtError(f"`{name}` is done by a world, and this run has none", "name one: `btr run TREE --env field`")
        found = world.skill(name, clock) if isinstance(world, Doing) else None
        if found is None:
            raise BtError(f"this world has no skill `{name}`", "is it the world that the manifest was written for?")
        return found

    def spending(self, now: float) -> Spent:
        """Returns the spending so far; the first call starts the count."""
        if self.spent is None:
            self.spent = Spent(now)
        return self.spent


KEPT_DEEDS = 1000
_NAMES = {f.name for f in fields(Services)} - {"given"}
_KEPT = frozenset(
    (
        "given",
        "starts",
        "priors",
        "turns",
        "task",
        "task_kind",
        "spent",
        "stories",
        "skill_outputs",
        "scene",
        "last_action",
        "deeds",
        "in_episode",
        "seed",
    )
)
_OF_TASK = ("world", "spent", "scene", "last_action", "working_memory", "memory", "notebook")


def _models(given: Mapping[str, object]) -> dict[str, Model]:
    from bt_runtime.llm.model_wrapper import a_model

    return {role: a_model(model) for role, model in given.items()}
