"""What the nodes of a tree find around them: the world, the models, the memories, and what is kept of the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.front import a_model
from bt_runtime.tree.budget import Budget, Spent
from bt_runtime.types import Doing

if TYPE_CHECKING:
    import threading

    from bt_runtime.memory.notebook import Notebook
    from bt_runtime.memory.working import WorkingMemory
    from bt_runtime.types import Model, World


@dataclass
class Services:
    """Those of a run; an episode has a copy, in which what belongs to its task is its own."""

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
    given: dict[str, Any] = field(default_factory=dict)  # by a program, for nodes and skills of its own
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

    def update(self, given: Mapping[str, Any]) -> None:
        """By name; what is no service of the runtime's is kept for the program's own nodes."""
        for name, value in given.items():
            if name == "model":
                self.models["default"] = a_model(value)
            elif name == "models":
                self.models = {role: a_model(model) for role, model in value.items()}
            elif name in _NAMES:
                setattr(self, name, value)
            else:
                self.given[name] = value

    def of_episode(self, **own: Any) -> Services:
        """Those of an episode: all that belongs to a task is new."""
        anew: dict[str, Any] = dict.fromkeys(_OF_TASK)
        anew |= {"task": "", "task_kind": "", "stories": {}, "skill_outputs": {}, "deeds": [], "in_episode": True}
        return replace(self, **anew | own)

    def did(self, sentence: str, told: str, recalled: bool = False) -> None:
        """An act that came out; who only recalled something has done nothing."""
        self.last_action = (sentence, told)
        if not recalled:
            self.deeds.append(self.last_action)
            del self.deeds[:-KEPT_DEEDS]

    def model(self, role: str = "") -> Model | None:
        return self.models.get(role) or self.models.get("default")

    def acted_in(self, impl: str) -> Any:
        """What a skill of a manifest acts in: `impl: world` or `impl: memory`."""
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
        """What has been spent so far, counted from the first who asks."""
        if self.spent is None:
            self.spent = Spent(now)
        return self.spent


KEPT_DEEDS = 1000
_NAMES = {f.name for f in fields(Services)} - {"given"}
_OF_TASK = ("world", "spent", "scene", "last_action", "working_memory", "memory", "notebook")
