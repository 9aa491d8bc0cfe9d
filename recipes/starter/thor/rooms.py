"""Lessons in ALFRED's tasks on THOR, in rooms that are made up: whole tasks, the first decisions of others, and sheets
on which sentence after sentence is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from random import Random

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Room, place
from bt_envs.thor.goals import TYPES, Goal
from bt_envs.thor.tasks import LAMPS, NEEDS, SLICED, generate
from bt_lab.distill.documents import Document
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import StoryStep
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Task, Verdict, World
from recipes.starter.drills import Sheet
from recipes.starter.exercise import Exercise, solved, strategy
from recipes.starter.lesson import Slips, Taught
from recipes.starter.seen import Seen
from recipes.starter.thor.furniture import make_room
from recipes.starter.thor.names import a
from recipes.starter.thor.sentences import said
from recipes.starter.thor.teacher import teacher
from recipes.starter.thor.walks import MOVES, WALKS, walk
from recipes.starter.thor.wish import TREATED, Told

_MIXTURE = (("reactree", 50), ("react", 20), ("adapt", 20), ("plan_and_execute", 10))
_MORE = (("react", 60), ("adapt", 30), ("plan_and_execute", 10))  # in the other whole tasks of a lesson
_SLIPPING = (0.0, 0.0, 0.05)  # of a lesson's decisions
MOST = 6  # documents of one task
WHOLE = 3  # tasks of a lesson that are taught to their ends
OPENINGS = 2  # of which only the first decisions are
SHEETS = 2  # rooms in which many sentences are read, one after the other
PLANS = 1  # rooms in which many sentences are planned in steps
SENTENCES = 10  # of a sheet
_FIRST = {  # decisions of an opening: what is meant, what is to be done, where
    "reactree": (3, 3, 5),
    "react": (3, 4, 5),
    "adapt": (2, 3, 5),
    "plan_and_execute": (1, 2, 4),
}
_SOUGHT = 0.1  # of a sheet's plans are of a search that came to nothing
_NEARLY, _HERE = 0.3, 0.4  # how often nearly the sentence before, and about what is there
_FREE: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
_ALIKE = ("pick_and_place_simple", *TREATED)
_PLANNED = 0.3  # of a sheet's sentences, with what is to be done
_ELSEWHERE = 10_000_000  # numbers of their rooms
_TRIES = 30  # rooms, until one has a task of the type
_NOBODY = Verdict(0, 0)


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks that came out well, the openings of others, and sheets; the same numbers give the same lessons."""
    for number in range(first, first + count):
        parts = [*_parts(seed, number)]
        yield from solved(parts[:WHOLE], MOST)
        yield from (opening.taught() for opening, _ in parts[WHOLE:])
        papers = [sheet(seed, number * SHEETS + part) for part in range(SHEETS)]
        papers += [plans(seed, number * PLANS + part) for part in range(PLANS)]
        papers += [walk(world(), sort, Random(f"thor walk {seed} {number} {part}")) for part, sort in enumerate(WALKS)]
        yield Taught(papers, _NOBODY, 0)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    for number in range(first, first + count):
        yield from _parts(seed, number)


def _parts(seed: int, number: int) -> Iterator[tuple[Exercise, Random]]:
    """Whole tasks, and the openings of others."""
    rng = Random(f"thor lesson {seed} {number}")
    for part in range(WHOLE + OPENINGS):
        mixture = _MORE if 0 < part < WHOLE else _MIXTURE
        yield _exercise(seed, _ELSEWHERE * part + number, mixture, rng, opening=part >= WHOLE), rng


def _exercise(
    seed: int, number: int, mixture: Sequence[tuple[str, int]], rng: Random, opening: bool = False
) -> Exercise:
    name = rng.choices([name for name, _ in mixture], [often for _, often in mixture])[0]
    slips = Slips(0.0 if opening else rng.choice(_SLIPPING), rng)
    task, told = opening_task(seed, number) if opening else lesson_task(seed, number)
    knowing, most = partial(teacher, told={task.goal: told}), rng.choice(_FIRST[name]) if opening else 400
    return Exercise(f"thor {name}", strategy(name), world(), task, knowing, slips, decisions=most)


@lru_cache
def world() -> World:
    return open_world("thor", through="scene")


def lesson_task(seed: int, number: int) -> tuple[Task, Told]:
    """In a room of its own, in words of its own, and what they mean."""
    rng, wanted = Random(f"thor room {seed} {number}"), TYPES[number % len(TYPES)]
    for _ in range(_TRIES):
        room = make_room(f"lesson {seed} {number}", rng, wanted)
        try:
            task = generate({room.name: room}, seed, 1, "train", [wanted])[0]
        except BtError:
            continue
        placed = place(room, task.data["where"])
        return _task(f"thor-lesson-{seed}-{number}", placed, Goal(**task.data["goal"]), rng)
    raise BtError(f"no room for a task {wanted}", "give the rooms of thor_lessons.yaml more things")


def opening_task(seed: int, number: int) -> tuple[Task, Told]:
    """Whatever may be wanted, in a room with much furniture; whether it can be had is not asked."""
    rng = Random(f"thor opening {seed} {number}")
    room = make_room(f"opening {seed} {number}", rng)
    return _task(f"thor-opening-{seed}-{number}", room, _any_goal(room, rng), rng)


def _task(name: str, room: Room, goal: Goal, rng: Random) -> tuple[Task, Told]:
    text, told = said(goal, _kinds(room), rng)
    return Task(name, goal.type, text, {"room": room.to_json(), "goal": goal.to_json()}), told


def _kinds(room: Room) -> set[str]:
    return {thing.kind for thing in room.things}


def sheet(seed: int, number: int) -> Document:
    """One room, and many sentences of what may be wanted there, each followed by what it means."""
    rng = Random(f"thor sheet {seed} {number}")
    room = make_room(f"sheet {seed} {number}", rng)
    task, _ = _task("thor-sheet", room, _any_goal(room, rng), rng)
    opening, paper, moves = world().reset(task).text, Sheet(), rng.choice(MOVES)
    paper.say(f"At every step you do one of these: {moves}.\n\n{opening}\n")
    goal = _any_goal(room, rng)
    for _ in range(SENTENCES):
        goal = _nearly(goal, room, rng) if rng.random() < _NEARLY else _any_goal(room, rng)
        text, told = said(goal, _kinds(room), rng)
        seen, steps = Seen(moves, text, opening, ()), 2 if rng.random() < _PLANNED else 1
        paper.say(f"Your task is to: {text}\n")
        for _ in range(steps):
            answer = teacher(seen, (), {text: told})
            paper.answer(f"{answer}\n")
            if answer.startswith("Think:"):
                paper.say("OK.\n")
            seen = seen._replace(steps=(StoryStep("think", answer.removeprefix("Think: ")),))
    find = f"find and pick up {a(rng.choice(sorted(kinds.PICKUPABLE)))}"
    paper.say(f"Your task is to: {find}\n")
    paper.answer(f"{teacher(Seen(moves, find, opening, ()), ())}\n")
    return Document("thor sheet", paper.text, tuple(paper.learn))


def plans(seed: int, number: int) -> Document:
    """One room, and many sentences, each planned as a planner of steps is asked to."""
    rng = Random(f"thor plans {seed} {number}")
    room = make_room(f"plans {seed} {number}", rng)
    task, _ = _task("thor-plans", room, _any_goal(room, rng), rng)
    opening, paper = world().reset(task).text, Sheet()
    system = system_text("plan_steps", {"moves": ["expand"], "recall": False})
    goal = _any_goal(room, rng)
    for _ in range(SENTENCES):
        goal = _nearly(goal, room, rng) if rng.random() < _NEARLY else _any_goal(room, rng)
        text, meant = said(goal, _kinds(room), rng)
        told = {text: meant}
        if rng.random() < _SOUGHT:
            text = f"find and pick up {a(rng.choice(sorted(kinds.PICKUPABLE)))}"
        prompt = agent_prompt(system, text, opening).text()
        paper.say(f"\nYour task is to: {text}\n# Think:" if paper.text else f"{prompt}# Think:")
        paper.answer(f"{teacher(Seen(system, text, opening, ()), (), told)}\n")
    return Document("thor plans", paper.text, tuple(paper.learn))


def _nearly(goal: Goal, room: Room, rng: Random) -> Goal:
    """The same again, and one thing is otherwise: whether it is to be clean, hot, cold or as it is."""
    here = _kinds(room)
    others = [type_ for type_ in _ALIKE if type_ != goal.type and NEEDS.get(type_, _FREE)[0] <= here]
    return goal._replace(type=rng.choice(others)) if goal.type in _ALIKE and others else _any_goal(room, rng)


def _any_goal(room: Room, rng: Random) -> Goal:
    """Any thing may be wanted, whether it is there or not: rare ones are as frequent as others."""
    here = _kinds(room)
    places = sorted(kind for kind in here if kind in kinds.FURNITURE and kind not in ("Sink", "Bathtub"))
    while True:
        type_, sliced = rng.choice((*TYPES, *TREATED, "pick_two_obj_and_place")), rng.random() < SLICED
        needs, which = NEEDS.get(type_, (frozenset(), kinds.PICKUPABLE))
        if rng.random() < _HERE:
            which = frozenset(which) & here or which
        things = [kind for kind in sorted(which) if not sliced or kind in kinds.SLICEABLE - {"Egg"}]
        if not (needs <= here and things):
            continue
        thing, parent, dish = rng.choice(things), rng.choice(places), rng.choice(sorted(kinds.MOVABLE_RECEPTACLES))
        if type_ == "look_at_obj_in_light":
            return Goal(type_, thing, toggle=rng.choice(LAMPS))
        if type_ != "pick_and_place_with_movable_recep":
            return Goal(type_, thing, parent, sliced=sliced)
        if kinds.fits(kinds.slice_of(thing) if sliced else thing, dish):
            return Goal(type_, thing, parent, movable=dish, sliced=sliced)
