"""Yields sentences that reach a task's goal: planned from the goal, or along ALFRED's own high-level plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.thor.expert import Sentences, ThorExpert
from bt_envs.thor.goals import Goal
from bt_envs.thor.world import Thor
from bt_runtime.types import Task

SURFACES = ("CounterTop", "DiningTable", "SideTable", "CoffeeTable", "Desk", "Dresser", "Sofa", "Bed", "Shelf")


def solve(world: Thor, task: Task) -> Iterator[str]:
    """Solves a task by ALFRED's plan if the task has one. Reads the world only when the first sentence is requested."""
    expert = ThorExpert(world)
    plan = task.data.get("plan")
    yield from follow(expert, plan) if plan else Planner(expert, Goal(**task.data["goal"])).sentences()


class Planner:
    """Plans from the goal and the full state."""

    def __init__(self, expert: ThorExpert, goal: Goal) -> None:
        self.expert = expert
        self.goal = goal
        self.used: set[str] = set()  # things already put where they belong

    def sentences(self) -> Sentences:
        if self.goal.sliced:
            yield from self.cut()
        rounds = 2 if self.goal.type == "pick_two_obj_and_place" else 1
        for _ in range(rounds):
            target = self.target()
            if target is None:
                return
            yield from self.expert.fetch(target)
            held = self.expert.held
            yield from self.finish()
            self.used.add(held or target)

    def finish(self) -> Sentences:
        """Yields the sentences from holding the target to the goal."""
        expert, goal = self.expert, self.goal
        treat = {
            "pick_clean_then_place_in_recep": ("SinkBasin", expert.clean),
            "pick_heat_then_place_in_recep": ("Microwave", expert.heat),
            "pick_cool_then_place_in_recep": ("Fridge", expert.cool),
        }.get(goal.type)
        if goal.type == "look_at_obj_in_light":
            lamp = self.near(goal.toggle)
            yield from expert.light(lamp) if lamp else ()
            return
        if treat is not None:
            appliance = self.near(treat[0])
            yield from treat[1](appliance) if appliance else ()
        if goal.type == "pick_and_place_with_movable_recep":
            yield from self.load_up()
        parent = self.parent()
        if parent is not None:
            yield from expert.place(parent)

    def load_up(self) -> Sentences:
        """Puts the target into the movable receptacle, and picks that up."""
        held = self.expert.held or ""
        carriers = [c for c in self.expert.of(self.goal.movable) if c != held]
        carrier = min(
            carriers, key=lambda c: (self.expert.door_of(c) is not None, self.expert.far(c, held)), default=None
        )
        if carrier is not None:
            yield from self.expert.place(carrier)
            yield from self.expert.retake(carrier)

    def cut(self) -> Sentences:
        """Fetches a knife, slices the target, and puts the knife away."""
        expert = self.expert
        knives = [k for kind in sorted(kinds.KNIVES) for k in expert.of(kind)]
        whole = [t for t in expert.of(self.goal.object) if t not in expert.slices(self.goal.object)]
        if not knives or not whole:
            return
        yield from expert.fetch(min(knives, key=lambda k: expert.door_of(k) is not None))
        yield from expert.slice(min(whole, key=lambda t: expert.door_of(t) is not None))
        spots = [s for kind in SURFACES for s in expert.of(kind)]
        if spots:
            yield from expert.place(min(spots, key=lambda s: expert.far(s, expert.held or s)))

    def target(self) -> str | None:
        expert, goal = self.expert, self.goal
        found = expert.slices(goal.object) if goal.sliced else expert.of(goal.object)
        if goal.type == "pick_two_obj_and_place" and not self.used:
            self.used |= self.already(found)
        free = [t for t in found if t not in self.used]
        return min(free, key=lambda t: expert.door_of(t) is not None, default=None)

    def already(self, found: Sequence[str]) -> set[str]:
        return {t for t in found if self.expert.objects[t]["parentReceptacles"] == [self.parent()]}

    def near(self, kind: str) -> str | None:
        found = self.expert.of(kind)
        here = self.expert.held or (found[0] if found else "")
        return self.expert.nearest(kind, here)

    def parent(self) -> str | None:
        """Returns the receptacle of the goal, constant for a task: two things must end up together."""
        expert = self.expert
        carried = expert.objects[expert.held]["objectType"] if expert.held else self.goal.object

        def unfit(receptacle: str) -> tuple[bool, int, str]:
            entry = expert.objects[receptacle]
            inside = [i for i in entry["receptacleObjectIds"] or () if i in expert.of(self.goal.object)]
            full = len(entry["receptacleObjectIds"] or ()) >= kinds.room_for(entry["objectType"])
            return (full or not kinds.fits(carried, entry["objectType"]), -len(inside), receptacle)

        return min(expert.of(self.goal.parent), key=unfit, default=None)


def follow(expert: ThorExpert, plan: Sequence[Mapping[str, Any]]) -> Sentences:
    """Follows ALFRED's steps in order; a step includes the walk to its place. Ends at a step about an object that is
    not in this room."""
    treat = {
        "PickupObject": expert.fetch,
        "PutObject": expert.place,
        "SliceObject": expert.slice,
        "ToggleObject": expert.light,
        "CleanObject": expert.clean,
        "HeatObject": expert.heat,
        "CoolObject": expert.cool,
    }
    for step in plan:
        does = treat.get(step["action"])
        if does is None:
            continue
        target = _known(expert, step.get("receptacleObjectId") or step["objectId"])
        if target is None:
            return
        yield from does(target)


def _known(expert: ThorExpert, target: str) -> str | None:
    """Returns `target` if the room holds the object. For a missing slice, returns another slice, preferably of the
    original object; otherwise None."""
    if target in expert.objects:
        return target
    stem = target.rpartition("|")[0]
    slices = expert.slices(kinds.id_kind(target)) if target.count("|") == 4 else []
    return min(slices, key=lambda i: not i.startswith(stem), default=None)
