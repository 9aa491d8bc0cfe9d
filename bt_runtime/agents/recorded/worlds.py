"""The world of a recorded run: how to open an equal one, its initial state, and its recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bt_runtime.agents.services import agent_services
from bt_runtime.journal import codec, parts
from bt_runtime.journal.opening import shaped
from bt_runtime.journal.recordable import Given, Recordable
from bt_runtime.journal.taped import TapedJob, TapedWorld, described
from bt_runtime.language import manifest, project
from bt_runtime.language.entry import SkillEntry
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.opening import Opening
from bt_runtime.skills.worlds.registry import Origin, open_suite, open_world, origin_of
from bt_runtime.tree.context import Context
from bt_runtime.types import Json, JsonValue, Restorable, Task, World

_WORLD = {"class": str, "suite": str, "has": [str], "instant": bool, "lasting": bool, "start": object}
_TASK = {"id": str, "kind": str, "goal": str, "data": dict}


class Worlds(parts.JournalPart):
    """Keeps a run's world and task; puts the tape before it, and before the worlds that episodes open."""

    def kept(self, run: Recordable, given: Given) -> parts.Kept:
        world, task = run.context.services.world, run.resources.task
        return parts.Kept({
            "world": _world(world) if world is not None else None, "task": codec.plain(_task(task, world)),
        })  # fmt: skip

    def check(self, head: Mapping[str, Json]) -> None:
        shaped(head, {"world": dict | None, "task": dict | None})
        if head["world"] is not None:
            shaped(head["world"], _WORLD)
        if head["task"] is not None:
            shaped(head["task"], _TASK)

    def wrap(self, run: Recordable, tape: parts.Taping, head: Mapping[str, Json]) -> None:
        services, agents = run.context.services, agent_services(run.context)
        world, task = head["world"], head["task"]
        if world is not None:
            told = {name: world[name] for name in ("has", "instant", "lasting", "label") if name in world}
            taped: Any = TapedWorld(tape, services.world, **told)
            services.world = taped
        agents.open_world = lambda make, **about: TapedOpening(tape, make, about, run.context)
        if task is not None and not agents.task:
            agents.task, agents.task_kind = task["id"], task["kind"]

    def entries(self, head: Mapping[str, Json]) -> list[SkillEntry]:
        return RecordedWorld(head).entries()


WORLDS = Worlds()


class RecordedWorld:
    """The world and the task that a journal's head describes."""

    def __init__(self, head: Mapping[str, Json]) -> None:
        self.kept: Mapping[str, Json] | None = head.get("world")
        self.of: Mapping[str, Json] | None = head.get("task")
        self.given = bool((head.get("given") or {}).get("task"))

    def task(self) -> Task | None:
        """The task that the run was given; None when the world brought its own."""
        return self._task() if self.given else None

    def _task(self) -> Task | None:
        of = self.of
        return Task(of["id"], of["kind"], of["goal"], codec.full(of["data"])) if of is not None else None

    @property
    def suite(self) -> str:
        return self.origin.name

    @property
    def origin(self) -> Origin:
        """Returns the suite and the options that open an equal world."""
        kept = self.kept or {}
        options = kept.get("options")
        return Origin(str(kept.get("suite") or ""), codec.full(options) if isinstance(options, dict) else {})

    def entries(self) -> list[SkillEntry]:
        """The sentences of the world's own manifest, for trees whose agents may use all of them."""
        named = open_suite(self.suite).skills if self.suite else ""
        path = project.find("skills", named) if named else None
        return [k.data["entry"] for k in manifest.read(path).kinds] if path is not None else []

    def open(self) -> World:
        """Opens the world in the state in which the run began, for a rebuilt run."""
        assert self.kept is not None
        if not self.suite:
            raise BtError(
                f"the run's world, {self.kept['class']}, was made by a program", "resume it there: resume(run, world=…)"
            )
        world = open_world(self.suite, **self.origin.options)
        self.set_up(world)
        return world

    def set_up(self, world: World) -> None:
        """Puts a fresh world where the run began."""
        assert self.kept is not None
        if self.kept["lasting"]:
            return
        task = self._task()
        if task is not None:
            world.reset(task)
        if self.kept["start"] is not None:
            world.restore(codec.full(self.kept["start"]))
        elif task is None:
            raise BtError("the world cannot be put back to where the run began", "it gave no snapshot and had no task")


class TapedOpening:
    """The recorded opening of a world during the run; a pure replay opens no world."""

    def __init__(
        self, tape: parts.Taping, make: Callable[[], World], about: dict[str, JsonValue], context: Context
    ) -> None:
        def opened(kept: Mapping[str, Json]) -> TapedWorld:
            return TapedWorld(tape, make() if tape.writer is not None else None, **kept)

        self.tape = tape
        self.job: TapedJob[World | TapedWorld] = TapedJob(
            tape, ("open", "opened"), about, {}, lambda: Opening(make, context.wake), opened, described
        )

    def poll(self) -> TapedWorld | None:
        world = self.job.poll()
        if world is None or isinstance(world, TapedWorld):
            return world
        return TapedWorld(self.tape, world, **described(world))

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)


def _world(world: World) -> dict[str, JsonValue]:
    about, origin, start = described(world), origin_of(world), None
    if not about["lasting"] and isinstance(world, Restorable):
        try:
            start = codec.plain(world.snapshot())
        except Exception:
            start = None  # a world that is not set up yet has no state to keep
    options = codec.plain(dict(origin.options))
    return {
        "class": f"{type(world).__module__}:{type(world).__qualname__}", "suite": origin.name, "options": options,
        **about, "start": start,
    }  # fmt: skip


def _task(task: Task | None, world: object) -> dict[str, Json] | None:
    found = task if task is not None else getattr(world, "_task", None)
    if not isinstance(found, Task):
        return None
    return {"id": found.id, "kind": found.kind, "goal": found.goal, "data": dict(found.data)}
