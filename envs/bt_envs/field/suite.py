"""Tasks for the robot in the field, by seed: go somewhere, look at all shelves and come back, go home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from bt_envs.field import ground
from bt_envs.field.ground import DOCK, PLACES, SHELVES
from bt_envs.field.world import Field
from bt_runtime.skills.worlds.registry import Split, choose_kinds, no_more_options, number_option
from bt_runtime.types import Json, Task, World

WALL = 5.5  # how high up the wall is that has the doors
_OPTIONS = ("speed", "calm")


class FieldSuite:
    name = "field"
    kinds: Sequence[str] = ("reach", "rounds", "home")
    asked_for: Sequence[str] = ("chase",)
    skills = "nav2"

    def open(self, **options: Any) -> World:
        no_more_options(self.name, options, ())
        return Field()

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None,
        *, speed: float | str = 1, calm: bool | str = False, **options: Any,
    ) -> list[Task]:  # fmt: skip
        """Returns tasks. `speed`: the speed factor of the world's clock, 0 without waiting. `calm`: no obstacles."""
        no_more_options(self.name, options, _OPTIONS)
        wanted = choose_kinds((*self.kinds, *self.asked_for), kinds or self.kinds)
        made, fast = [], number_option("speed", speed, 0)
        for i in range(count):
            kind, rng = wanted[i % len(wanted)], Random(f"field {split} {seed} {i}")
            goal, data = _task(kind, rng)
            data |= {} if _yes(calm) else _obstacles(rng, data["goals"])
            data |= {"speed": fast} if fast != 1 else {}
            made.append(Task(f"{split}-{seed}-{i:04}", kind, goal, data))
        return made

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        if world.holds("docked"):
            yield "undock"
        for goal in task.data["goals"]:
            yield f"go to {goal}"
        if task.data.get("back"):
            yield "dock"


def _task(kind: str, rng: Random) -> tuple[str, dict[str, Json]]:
    shelves = [*SHELVES.values()]
    one = rng.choice(shelves)
    if kind == "rounds":
        return "check the three shelves and come back", {"goals": shelves, "back": True}
    if kind == "home":
        return "go back to the dock", {"goals": [], "back": True, "start": one, "battery": 0.3}
    if kind == "chase":
        return "follow the one who walks", {"goals": [], "back": False, "route": _route(rng), "pace": 0.5}
    return f"go to {one}, and come back", {"goals": [one], "back": True}


def _route(rng: Random) -> list[list[float]]:
    end = [round(rng.uniform(6.0, 9.0), 2), round(rng.uniform(1.5, 3.0), 2)]
    return [[3.0, 4.6], [8.75, 4.6], [8.75, 6.6], [3.25, 6.6], [3.25, 4.6], end]


def _obstacles(rng: Random, goals: Sequence[str]) -> dict[str, Json]:
    """Places the obstacles: a snag on the way to the first goal, a box in the door, and a walker behind it."""
    way = ground.way(PLACES[DOCK], PLACES[goals[0] if goals else rng.choice([*SHELVES.values()])], ())
    assert not isinstance(way, str)
    door, snag = min(way, key=lambda point: abs(point.y - WALL)), way[rng.randrange(5, 9)]
    return {
        "boxes": [[round(door.x, 2), WALL, round(rng.uniform(3, 6), 1)]],
        "walkers": [[round(rng.uniform(2, 4), 2), 6.5, round(rng.uniform(11, 14), 2), 6.5, 0.4]],
        "snags": [[round(snag.x, 2), round(snag.y, 2)]],
    }


def _yes(given: bool | str) -> bool:
    return str(given).lower() in ("true", "yes", "1")


SUITE = FieldSuite()
