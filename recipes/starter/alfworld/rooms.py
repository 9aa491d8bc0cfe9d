"""Large made-up homes: as many pieces of furniture as AI2-THOR's rooms have (`rooms.yaml`), and a task of the training
split in each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

from bt_envs.alfworld import invent
from bt_envs.alfworld.game import Aim
from bt_envs.alfworld.invent import Home, InventedRoom, SceneBook
from bt_runtime.skills.worlds.registry import in_split
from bt_runtime.types import Task

_BOOK = Path(__file__).with_name("rooms.yaml")
_SKEW, _WIDE = 1.7, 4  # most rooms have few pieces of a kind, some have very many


@lru_cache(maxsize=1)
def furnished() -> SceneBook:
    return invent.book(_BOOK)


def room_task(seed: int, kind: str, number: int) -> Task:
    """Invents a task in a large home, equal for equal arguments; its goal is in no other split."""
    known, rng = furnished(), Random(f"alfworld room {seed} {kind} {number}")
    while True:
        home = _home(known, known.rooms[rng.choice(list(known.rooms))], rng)
        goals = [g for g in invent.goals_of(known, home, kind) if in_split(f"{kind} {' '.join(g)}", "train")]
        if goals:
            thing, place = _rarer(goals, rng)
            said = rng.choice(invent.tasks()[kind]["said"])
            name = f"alfworld-room-{seed}-{number:04}"
            return invent.written(name, known, invent.located(home, rng), Aim(kind, thing, place), said)


def _rarer(goals: Sequence[tuple[str, str]], rng: Random) -> tuple[str, str]:
    """Chooses by the thing or by the place first, so that what stands in few goals comes as often as the others."""
    by = rng.randrange(2)
    kind = rng.choice(sorted({goal[by] for goal in goals}))
    return rng.choice([goal for goal in goals if goal[by] == kind])


def _home(known: SceneBook, room: InventedRoom, rng: Random) -> Home:
    """Things lie by the kind of furniture first: of twenty cabinets each holds less than one of two countertops."""
    furniture = room.furniture.items()
    places = {invent.make_id(kind, rng): kind for kind, span in furniture for _ in range(_count(span, rng))}
    lying = {}
    for kind, span in room.things.items():
        fit = sorted({place for place in places.values() if kind in known.holds[place]})
        for _ in range(rng.randint(*span) if fit else 0):
            where = rng.choice(fit)
            lying[invent.make_id(kind, rng)] = (kind, rng.choice([i for i, place in places.items() if place == where]))
    return Home(places, lying, frozenset(i for i, kind in places.items() if kind in known.opens))


def _count(span: tuple[int, int], rng: Random) -> int:
    low, high = span
    return rng.randint(low, high) if high - low <= _WIDE else low + int((high - low + 1) * rng.random() ** _SKEW)
