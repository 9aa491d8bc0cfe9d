"""Sheets of what goes wrong most in ALFRED's rooms: seeing what is sought in what is told, the next of a list, long
lists themselves, and the second of two. Many such decisions in a short text, acted in the world, by the teacher."""

from __future__ import annotations

from functools import partial
from random import Random

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Room
from bt_envs.thor.goals import Goal
from bt_envs.thor.tasks import LAMPS
from bt_lab.distill.documents import Document
from bt_runtime.agents.story import StoryStep
from bt_runtime.types import Task, World
from recipes.starter.drills import Sheet
from recipes.starter.seen import Seen
from recipes.starter.thor.furniture import make_room
from recipes.starter.thor.names import a
from recipes.starter.thor.sentences import said
from recipes.starter.thor.teacher import teacher
from recipes.starter.thor.wish import Told

MOVES = ("think, act", "think, act, expand", "think, act, expand")
WALKS = ("full", "full", "long", "lists", "two")  # of each lesson
_GOALS = {"full": 5, "long": 2, "lists": 4, "two": 2}
_MOST = {"lists": 1}  # decisions of a goal
_LONGEST = 90
_ABSENT, _CHAINED, _PASSED, _CUTS = 0.06, 0.6, 0.15, 0.3
_TAKES = ("Act: pick up ", "Act: slice ", "Act: turn on ")
_TWO = "pick_two_obj_and_place"


def walk(world: World, sort: str, rng: Random) -> Document:
    """Goal after goal, each in a room of its own or with what the last one left in the hand."""
    paper, moves = Sheet(), rng.choice(MOVES)
    paper.say(f"At every step you do one of these: {moves}.\n\n")
    room, held = _room(sort, rng), ""
    for _ in range(_GOALS[sort]):
        goal = _chained(room, held, rng) if held and rng.random() < _CHAINED else ""
        told: dict[str, Told] = {}
        if not goal:
            room = _room(sort, rng)
            goal, told = _two(room, rng) if sort == "two" else (_goal(room, rng), {})
            world.reset(Task("thor-walk", "", goal, {"room": room.to_json(), "goal": _ANY.to_json()}))
        held = _gone(paper, world, Seen(moves, goal, world.look().text, ()), told, _MOST.get(sort, _LONGEST), rng)
    return Document(f"thor {sort}", paper.text, tuple(paper.learn))


_ANY = Goal("pick_and_place_simple", "")


def _room(sort: str, rng: Random) -> Room:
    kind = {"two": "full", "lists": rng.choice(("long", "long", ""))}.get(sort, sort)
    return make_room(f"walk {rng.random()}", rng, sort=kind)


def _gone(paper: Sheet, world: World, seen: Seen, told: dict[str, Told], most: int, rng: Random) -> str:
    """One goal, to its end; the kind of what is held then. At times what is sought is passed by, and gone back to."""
    paper.say(f"Your task is to: {seen.goal}\n{seen.opening}\n")
    knowing = partial(teacher, told=told)
    for _ in range(most):
        answer = knowing(seen, ())
        if passed := "" if told else _passed(answer, seen, rng):
            paper.say(f"{(answer := passed)}\n")
        else:
            paper.answer(f"{answer}\n")
        if answer in ("Act: done", "Act: failure"):
            break
        opening, _, text = answer.partition(": ")
        heard = world.act(text).text if opening == "Act" else ""
        paper.say(f"{heard or 'OK.'}\n")
        seen = seen._replace(steps=(*seen.steps, StoryStep("act" if heard else "think", text, heard)))
    paper.say("\n")
    _, holding, name = world.look().text.rpartition("I am holding ")
    return name.partition(" ")[0] if holding else ""


def _passed(answer: str, seen: Seen, rng: Random) -> str:
    """On to the next place of the list, in place of what is to be done with what is in sight."""
    last = seen.steps[-1] if seen.steps else StoryStep("think", "")
    if not answer.startswith(_TAKES) or not last.text.startswith("go to ") or rng.random() >= _PASSED:
        return ""
    listed = next((step.text for step in reversed(seen.steps) if step.move == "think"), "")
    _, here, after = listed.partition(f"{last.text.removeprefix('go to ')}, ")
    return f"Act: go to {after.rstrip('.').split(', ')[0]}" if here else ""


def _goal(room: Room, rng: Random) -> str:
    here = {thing.kind for thing in room.things}
    lamps = sorted(here & set(LAMPS))
    if lamps and rng.random() < 0.2:
        return f"find and turn on a {rng.choice([*lamps, 'lamp'])}"
    return f"find and pick up {a(_sought(room, rng))}"


def _sought(room: Room, rng: Random) -> str:
    """Of each kind of furniture as often, whatever lies there."""
    kind = {thing.id: thing.kind for thing in room.things}
    lying = [(kind[thing.parent], thing.kind) for thing in room.things if thing.parent in kind]
    if not lying or rng.random() < _ABSENT:
        return rng.choice(sorted(kinds.PICKUPABLE))
    if rng.random() < _CUTS and any(thing in kinds.KNIVES for _, thing in lying):
        return "knife"
    where = rng.choice(sorted({place for place, _ in lying}))
    found = rng.choice(sorted(thing for place, thing in lying if place == where))
    return "knife" if found in kinds.KNIVES and rng.random() < 0.8 else found


def _chained(room: Room, held: str, rng: Random) -> str:
    """A knife cuts, anything else goes into a dish."""
    here = sorted({thing.kind for thing in room.things})
    if held in kinds.KNIVES and (cut := [kind for kind in here if kind in kinds.SLICEABLE - {"Egg"}]):
        return f"slice {a(rng.choice(cut))} and pick up a slice"
    dishes = [dish for dish in here if dish in kinds.MOVABLE_RECEPTACLES and kinds.fits(held, dish)]
    return f"find a {rng.choice(dishes)}, put the {held} in it and pick it up" if dishes else ""


def _two(room: Room, rng: Random) -> tuple[str, dict[str, Told]]:
    """Two of a kind, as a person says it."""
    here = [thing.kind for thing in room.things]
    many = sorted({kind for kind in here if kind in kinds.PICKUPABLE and here.count(kind) > 1}) or ["Book"]
    thing = rng.choice(many)
    fit = {kind for kind in here if kind in kinds.FURNITURE and kinds.room_for(kind) > 1 and kinds.fits(thing, kind)}
    target = rng.choice(sorted(fit - {"Sink", "Bathtub"}) or ["CounterTop"])
    text, told = said(Goal(_TWO, thing, target), set(here), rng)
    return text, {text: told}
