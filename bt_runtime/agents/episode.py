"""An episode: a task in its own world for one subtree; its outcome is data."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.agents.services import agent_services
from bt_runtime.agents.worked_example import read_ahead
from bt_runtime.events import EpisodeBegun, EpisodeJudged
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.opening import Opening
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.tree.budget import Spending
from bt_runtime.tree.context import Context, ScopedContext
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Decorator
from bt_runtime.types import Json, Revealing, Task, Verdict

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.services import Services


class Episode(Decorator):
    """The state that a run keeps for one task, its world first; it belongs to the episode while that lasts."""

    HOLDS = True
    STATE, CACHES = ("opening", "task", "serving"), ("within",)
    task: Task

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.within = ScopedContext(context)
        self.opening: Any = None  # the job that sets the world up

    @property
    def world(self) -> Any:
        return self.within.services.world

    @property
    def serving(self) -> Services:
        """The services of the task at hand."""
        return self.within.services

    @serving.setter
    def serving(self, services: Services) -> None:
        vars(self.within)["services"] = services

    @property
    def inside(self) -> Context:
        return self.within

    def ended_by(self, at: int, status: Status) -> Status | None:
        return status if status is INVALID else None  # the world judges

    # Ticking ---------------------------------------------------------------------------------

    def choose(self) -> Any:
        if self.status is not RUNNING:
            self.close()  # closes a round that broke before its end
            self.task = read_task(self.value("task"))
            self.opening = self.opened(str(self.value("world")), dict(self.value("options")), self.task)
        if self.opening is not None:
            world = self.opening.poll()
            if world is None:
                self.context.poll_again()
                return RUNNING
            self.opening = None
            self.begin(world)
        return self.children[0]

    def opened(self, name: str, options: dict[str, Any], task: Task) -> Any:
        """The world's opening as a job, since it may take long; it goes through the recorder, which can replay it."""

        def make() -> Any:
            world = open_world(name, **options)
            world.reset(task)
            read_ahead(world)
            return world

        bring = agent_services(self.context).open_world or (lambda make, **about: Opening(make, self.context.wake))
        return bring(make, world=name, task=task.id)

    def begin(self, world: Any) -> None:
        fresh = agent_services(self.context).fresh_memory
        working, target = fresh(self.within) if fresh is not None else (None, None)
        self.within.serve(world, target, Spending(self.context.clock.now()))
        own = agent_services(self.within)
        own.task, own.task_kind, own.working_memory = self.task.id, self.task.kind, working
        self.context.emit(EpisodeBegun(self.path, self.task.id, self.task.goal))

    def conclude(self, status: Status) -> Any:
        if status is RUNNING or self.opening is not None:
            return status
        verdict: Verdict = self.world.verdict()
        into = self.spec.values.get("into")
        if into is not None:
            self.scope[into] = self.outcome(verdict)
        self.feedback_message = f"{verdict.met} of {verdict.total}: {self.task.goal}"
        self.context.emit(EpisodeJudged(self.path, self.task.id, verdict.met, verdict.total))
        self.close()
        if status is INVALID or not verdict.total:
            return status
        return SUCCESS if verdict.reached else FAILURE

    def outcome(self, verdict: Verdict) -> dict[str, Json]:
        """The outcome of the episode, for the reflecting node and for counts."""
        spent = self.within.services.spending(self.context.clock.now())
        stories = agent_services(self.within).stories
        ended = stories[self.task.goal][1] if self.task.goal in stories else ""
        return {
            "task": self.task.id, "kind": self.task.kind, "goal": self.task.goal,
            "reached": verdict.reached, "met": verdict.met, "total": verdict.total,
            "steps": spent.steps, "decisions": spent.decisions, "tokens": spent.tokens,
            "story": "".join(story for story, _ in stories.values()), "ended": ended,
            **({"revealed": [*self.world.revealed()]} if isinstance(self.world, Revealing) else {}),
        }  # fmt: skip

    def terminate(self, new_status: Status) -> None:
        super().terminate(new_status)
        if self.opening is not None:
            self.opening.cancel("the episode was halted")
            self.opening = None
        self.close()

    def close(self) -> None:
        world = self.world
        self.within.serve()
        real = getattr(world, "inner", world)  # a recorded one has no world behind it when it is only played
        if real is not None:
            with suppress(BtError):
                real.close()

    def release(self) -> None:
        self.close()


def read_task(value: Mapping[str, Any]) -> Task:
    """Reads a task of a suite that is given as a mapping."""
    missing = [name for name in Task._fields if name not in value]
    if missing:
        raise BtError(f"a task has {', '.join(Task._fields)}, and this one lacks {', '.join(missing)}",
                      "`btr lab tasks house --json` prints tasks that are whole")  # fmt: skip
    return Task(str(value["id"]), str(value["kind"]), str(value["goal"]), value["data"])
