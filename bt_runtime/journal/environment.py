"""Stores a run's world and models in a form that allows opening them again, or replaying without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime import project
from bt_runtime.envs.registry import Origin, open_suite, open_world, origin_of
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal import codec
from bt_runtime.journal.recordable import Recordable
from bt_runtime.journal.tape import Tape
from bt_runtime.journal.taped import TapedEpisodes, TapedModel, TapedOpening, TapedPerson, TapedWorld, described
from bt_runtime.language import manifest
from bt_runtime.language.entry import Entry
from bt_runtime.llm.chat.chat import keep
from bt_runtime.tree.services import Services
from bt_runtime.types import Json, Restorable, Task


class RunEnvironment:
    """Keeps the facts about `world` and `models` that a replay or resume needs."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self.kept = dict(kept)

    @classmethod
    def of(cls, run: Recordable) -> RunEnvironment:
        services: Services = run.context.services
        world, models = services.world, services.models
        return cls({
            "world": _world(world) if world is not None else None,
            "task": codec.plain(_task(run.resources.task, world)),
            "models": {name: _model(m, services.prompts) for name, m in models.items()},
            "working": services.working_memory is not None,
            "episodes": services.episodes is not None,
            "person": services.person is not None,
        })  # fmt: skip

    @classmethod
    def recorded(cls, head: Mapping[str, Any]) -> RunEnvironment:
        return cls({k: head.get(k) for k in ("world", "task", "models", "working", "episodes", "person", "given")})

    def task(self) -> Task | None:
        """The one that the run was given, rather than found in its world."""
        kept = self.kept["task"]
        if kept is None or not (self.kept.get("given") or {}).get("task"):
            return None
        return Task(kept["id"], kept["kind"], kept["goal"], codec.full(kept["data"]))

    def head(self) -> dict[str, Json]:
        return self.kept

    @property
    def suite(self) -> str:
        return self.origin.name

    @property
    def origin(self) -> Origin:
        """Returns the suite and the options that open an equal world."""
        kept = self.kept["world"] or {}
        options = kept.get("options")
        return Origin(str(kept.get("suite") or ""), codec.full(options) if isinstance(options, dict) else {})

    def manifest(self) -> list[Entry]:
        """The sentences of the world's own manifest, for trees that leave the choice to an agent."""
        named = open_suite(self.suite).skills if self.suite else ""
        path = project.find("skills", named) if named else None
        return [k.data["entry"] for k in manifest.read(path).kinds] if path is not None else []

    def wrap(self, run: Recordable, tape: Tape) -> None:
        """Puts the tape between the run and everything around it."""
        context, kept = run.context, self.kept
        services: Services = context.services
        world = kept["world"]
        if world is not None:
            taped: Any = TapedWorld(tape, services.world, world["has"], world["instant"], world["lasting"])
            services.world = taped
        if kept["working"] and services.working_memory is None:
            run.resources.remember(context)
        models: dict[str, Any] = {n: TapedModel(tape, n, services.models.get(n), m) for n, m in kept["models"].items()}
        if models:
            services.models, services.prompts = models, ""  # each has the register that it was asked in
        if kept["episodes"]:
            services.episodes = TapedEpisodes(tape, services.episodes)
        services.open_world = lambda make, **about: TapedOpening(tape, make, about, context)
        if kept["person"]:
            services.person = TapedPerson(tape, services.person)
        if kept["task"] is not None and not services.task:
            services.task, services.task_kind = kept["task"]["id"], kept["task"]["kind"]

    def open_world(self) -> Any:
        """The world as it stood when the run began, for one that is made again."""
        kept = self.kept["world"]
        if not self.suite:
            raise BtError(
                f"the run's world, {kept['class']}, was made by a program", "resume it there: resume(run, world=…)"
            )
        world: Any = open_world(self.suite, **self.origin.options)
        self.set_up(world)
        return world

    def set_up(self, world: Any) -> None:
        """Puts a fresh world where the run began."""
        kept, task = self.kept["world"], self.kept["task"]
        if kept["lasting"]:
            return
        if task is not None:
            world.reset(Task(task["id"], task["kind"], task["goal"], codec.full(task["data"])))
        if kept["start"] is not None:
            world.restore(codec.full(kept["start"]))
        elif task is None:
            raise BtError("the world cannot be put back to where the run began", "it gave no snapshot and had no task")


def _model(model: Any, register: str) -> dict[str, Json]:
    kept: dict[str, Json] = {"template": keep(model.chat_template), "register": register or model.register}
    return kept if model.constrains else {**kept, "constrains": False}


def _world(world: Any) -> dict[str, Json]:
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


def _task(task: Task | None, world: Any) -> dict[str, Json] | None:
    found = task if task is not None else getattr(world, "_task", None)
    if not isinstance(found, Task):
        return None
    return {"id": found.id, "kind": found.kind, "goal": found.goal, "data": dict(found.data)}
