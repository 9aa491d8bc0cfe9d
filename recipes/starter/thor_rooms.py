"""Lessons in ALFRED's tasks on THOR: rooms that are made up, and sentences as people might say them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from random import Random

from bt_runtime.envs.registry import open_world
from bt_runtime.envs.thor import kinds
from bt_runtime.envs.thor.goals import TYPES, Goal
from bt_runtime.envs.thor.room import Room, place
from bt_runtime.envs.thor.rooms import parse
from bt_runtime.envs.thor.tasks import generate
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Task
from recipes.starter import data
from recipes.starter.exercise import Exercise, solved
from recipes.starter.lesson import Slips, Taught
from recipes.starter.thor import teacher

_MIXTURE = (("reactree", 70), ("react", 30))
_SLIPPING = (0.0, 0.0, 0.05)  # of a lesson's decisions
MOST = 6  # documents of one task
_TRIES = 30  # rooms, until one has a task of the type


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks that came out well; the same numbers give the same lessons."""
    return solved(exercises(seed, count, first), MOST)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    world = open_world("thor", through="scene")
    for number in range(first, first + count):
        rng = Random(f"thor lesson {seed} {number}")
        name = rng.choices([name for name, _ in _MIXTURE], [often for _, often in _MIXTURE])[0]
        slips, task = Slips(rng.choice(_SLIPPING), rng), lesson_task(seed, number)
        knowing = partial(teacher, told={task.goal: Goal(**task.data["goal"])})
        yield Exercise(f"thor {name}", _tree(name), world, task, knowing, slips), rng


@lru_cache
def _tree(name: str) -> Tree:
    return load(name)


def lesson_task(seed: int, number: int) -> Task:
    """In a room of its own, in words of its own."""
    rng, wanted = Random(f"thor room {seed} {number}"), TYPES[number % len(TYPES)]
    for _ in range(_TRIES):
        room = make_room(f"lesson {seed} {number}", rng)
        try:
            task = generate({room.name: room}, seed, 1, "train", [wanted])[0]
        except BtError:
            continue
        goal = Goal(**task.data["goal"])
        placed = place(room, task.data["where"]).to_json()
        return Task(f"thor-lesson-{seed}-{number}", wanted, said(goal, rng), {"room": placed, "goal": goal.to_json()})
    raise BtError(f"no room for a task {wanted}", "give the rooms of thor_lessons.yaml more things")


def make_room(name: str, rng: Random) -> Room:
    """Furniture along the walls, things on it."""
    words = data.read("thor_lessons")
    scene = rng.choice(list(words["rooms"]))
    wide, deep = (rng.choice((4.0, 4.5, 5.0, 5.5)) for _ in range(2))
    spots = [(x / 2 + 0.5, z) for x in range(int(wide * 2) - 1) for z in (0.3, deep - 0.3)]
    spots += [(x, z / 2 + 1.0) for z in range(int(deep * 2) - 3) for x in (0.3, wide - 0.3)]
    rng.shuffle(spots)
    lines = [f"version: 1\nroom: {name}\nscene: {scene}\nsize: [{wide}, {deep}]"]
    lines.append(f"start: {{at: [{wide / 2}, {deep / 2}], turn: {rng.choice((0, 90, 180, 270))}}}\nfurniture:")
    things = [thing for thing in words["rooms"][scene]["things"] for _ in range(rng.choice((0, 1, 1, 2)))]
    for piece, span in words["rooms"][scene]["furniture"].items():
        for _ in range(min(rng.randint(*span), len(spots))):
            lines += _stood(piece, spots.pop(), things, rng)
    return parse("\n".join(lines))


def _stood(piece: str, at: tuple[float, float], things: list[str], rng: Random) -> list[str]:
    """A piece of furniture, and what lies there, which is no longer among the things."""
    fit = [thing for thing in things if kinds.fits(thing, piece)] if piece in kinds.FURNITURE else []
    held = rng.sample(fit, min(len(fit), kinds.room_for(piece), rng.choice((0, 1, 2, 3))))
    for thing in held:
        things.remove(thing)
    spot = f"at: [{at[0]}, {at[1]}]"
    beside = [f"- {kind}: {{{spot}}}" for kind in ("Sink", "Faucet") if piece == "SinkBasin"]
    return [f"- {piece}: {{{spot}{', holds: [' + ', '.join(held) + ']' if held else ''}}}", *beside]


def said(goal: Goal, rng: Random) -> str:
    """As a person might say it, in none of the suite's sentences."""
    words = data.read("thor_lessons")
    names = words["names"]

    def call(kind: str) -> str:
        return str(rng.choice([kinds.to_words(kind), *names.get(kind, ())]))

    thing = call(goal.object)
    slots = {
        "o": f"{rng.choice(('slice of', 'piece of'))} {thing}" if goal.sliced else thing,
        "os": f"{rng.choice(('slices', 'pieces'))} of {thing}" if goal.sliced else _plural(thing),
        "p": call(goal.parent) if goal.parent else "",
        "t": call(goal.toggle) if goal.toggle else "",
        "m": call(goal.movable) if goal.movable else "",
        "on": rng.choice(words["in"] if goal.parent in words["inside"] else words["on"]),
    }
    text = str(rng.choice(words["said"][goal.type])).format(**slots)
    for vowel in "aeio":
        text = text.replace(f" a {vowel}", f" an {vowel}")
    return (text[:1].upper() + text[1:] if rng.random() < 0.6 else text) + rng.choice(("", "."))


def _plural(name: str) -> str:
    if name.endswith("knife"):
        return f"{name.removesuffix('fe')}ves"
    return f"{name}es" if name.endswith(("o", "ch", "sh", "x", "s")) else f"{name}s"
