"""The services of a tree's nodes: the world, the person, limits, and parts that other rooms keep for their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.tree.budget import Budget, Spending
from bt_runtime.types import Doing

if TYPE_CHECKING:
    import threading

    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.clock import RunClock
    from bt_runtime.types import Job, Observation, World


@runtime_checkable
class Joining(Protocol):
    """A person object that wants to be told which run asks."""

    def joins(self, context: object) -> None: ...


class PersonService(Protocol):
    """Answers an agent's questions. An optional `confirm` is asked yes-or-no questions."""

    def ask(self, question: str) -> Job[str]: ...


class Actor(Protocol):
    """Acts sentences: a world, or working memory."""

    def act(self, sentence: str) -> Observation: ...


class ScriptedSkills(Protocol):
    """A test's skills: maps a skill's name to the function called instead."""

    def get(self, name: str) -> Callable[..., Any] | None: ...


class Part(Protocol):
    """State that a room above keeps in a run for its own nodes; made when a node first asks for it."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Makes the part of a run; it may take objects from the program's services."""

    def of_episode(self) -> Self:
        """Returns a copy for an episode, in which the state of the task is new."""


P = TypeVar("P", bound=Part)


@dataclass
class Services:
    """The services of a run. An episode has a copy with its own task's services."""

    # of the run
    person: PersonService | None = None
    budget: Budget | None = None  # budget of the whole run
    seed: int = 0
    turns: dict[int, threading.Lock] = field(default_factory=dict)  # world's identity → lock: one action at a time
    imports: Callable[..., Any] | None = None  # finds the Python that a `py:` node names; none: as it is installed
    starts: Counter[tuple[str, str]] = field(default_factory=Counter)  # starts of skills with `at_most`
    scripted_skills: ScriptedSkills | None = None
    world_skills: Sequence[Kind] = ()  # skills of all manifests of the project, whose locks hold even if unlisted
    given: dict[str, Any] = field(default_factory=dict)  # objects that a program gives its own nodes and skills
    equip: Callable[[Part], None] = lambda part: None  # gives a new part what the run was made with
    policy: Any = None  # a `RunEnforcer` of `run/policy`: holds the run to its policies
    # of one task
    world: World | None = None
    memory: Actor | None = None  # working memory as something to act on: `impl: memory` in a manifest
    spent: Spending | None = None
    scene: Any = None  # a skill that can be looked at: it has `picture()`
    parts: dict[type[Part], Part] = field(default_factory=dict)
    in_episode: bool = False
    around: Services | None = None  # in an episode: the services of the tree around it

    def part(self, kind: type[P]) -> P:
        """Returns the part of that class; the first call makes it, an episode's from the run's."""
        found = self.parts.get(kind)
        if isinstance(found, kind):
            return found
        if self.around is not None:
            made = self.around.part(kind).of_episode()
        else:
            made = kind.of(self.given)
            self.equip(made)
        self.parts[kind] = made
        return made

    def give(self, given: Mapping[str, Any]) -> None:
        """Adds a program's services; raises for a name that the runtime uses itself."""
        for name, value in dict(given).items():
            if name in _KEPT or not isinstance(name, str):
                raise BtError(
                    f"`{name!s:.60}` cannot be a service of yours: the run keeps it itself", "name it otherwise"
                )
            if name in _NAMES:
                setattr(self, name, value)
            else:
                self.given[name] = value

    def introduce(self, context: object) -> None:
        """Tells the person object which run asks."""
        if isinstance(self.person, Joining):
            self.person.joins(context)

    def of_episode(
        self, world: World | None = None, memory: Actor | None = None, spent: Spending | None = None
    ) -> Self:
        """Returns an episode's services, with everything of the task new."""
        return replace(
            self, world=world, memory=memory, spent=spent, scene=None, parts={}, in_episode=True, around=self
        )

    def acted_in(self, impl: str) -> Actor | None:
        """Returns the target of a manifest skill with `impl: world` or `impl: memory`."""
        return self.world if impl == "world" else self.memory if impl == "memory" else None

    def done_by_world(self, name: str, clock: RunClock) -> Any:
        """Returns the world's own skill of that name (`impl: world/skill`); raises when there is none."""
        world = self.world
        if world is None:
            raise BtError(f"`{name}` is done by a world, and this run has none", "name one: `btr run TREE --env field`")
        found = world.skill(name, clock) if isinstance(world, Doing) else None
        if found is None:
            raise BtError(f"this world has no skill `{name}`", "is it the world that the manifest was written for?")
        return found

    def spending(self, now: float) -> Spending:
        """Returns the spending so far; the first call starts the count."""
        if self.spent is None:
            self.spent = Spending(now)
        return self.spent


_NAMES = {"person", "budget", "imports", "scripted_skills", "world_skills", "world", "memory"}  # may be given
_KEPT = frozenset(f.name for f in fields(Services)) - _NAMES
