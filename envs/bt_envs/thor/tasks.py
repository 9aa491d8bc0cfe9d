"""Makes tasks in our rooms by seed: shuffled objects, one of ALFRED's seven types, several phrasings."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bt_envs.alfred import kinds, trials
from bt_envs.alfred.room import Room, RoomThing, place
from bt_envs.thor.episode import Episode
from bt_envs.thor.goals import TYPES, Goal, from_alfred
from bt_envs.thor.stage import SceneStage
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import Split
from bt_runtime.types import Task

EVAL_SHARE = 4  # one goal of four is kept for evaluation
MOVES = 0.6  # of the things that can be carried, how many lie somewhere else than the room's file says
SLICED = 0.25
TRIES = 400
WASHABLE = kinds.FOOD | kinds.DISHES | kinds.CUTLERY | {"Cloth", "DishSponge", "SoapBar"}
HEATABLE = (kinds.FOOD | {"Mug", "Cup", "Plate"}) - {"Lettuce"}
COOLABLE = kinds.FOOD | kinds.DISHES | {"WineBottle"}
LAMPS = ("DeskLamp", "FloorLamp")

SAYINGS: Mapping[str, Sequence[str]] = {
    "pick_and_place_simple": ("put a {o} on the {p}", "move one {o} to the {p}", "the {p} is where a {o} should be"),
    "pick_two_obj_and_place": ("put two {o}s on the {p}", "bring a pair of {o}s to the {p}", "the {p} needs two {o}s"),
    "look_at_obj_in_light": ("look at a {o} under the {t}", "hold a {o} in the light of the {t}"),
    "pick_clean_then_place_in_recep": ("put a clean {o} on the {p}", "rinse a {o}, then put it on the {p}"),
    "pick_heat_then_place_in_recep": ("put a hot {o} on the {p}", "warm a {o} up and leave it on the {p}"),
    "pick_cool_then_place_in_recep": ("put a cold {o} on the {p}", "chill a {o} and bring it to the {p}"),
    "pick_and_place_with_movable_recep": ("put a {m} with a {o} in it on the {p}", "a {o} in a {m} goes to the {p}"),
}
INSIDE = kinds.CLOSED_HIDES | {"SinkBasin", "BathtubBasin", "GarbageCan"}


def generate(
    rooms: Mapping[str, Room], seed: int, count: int, split: Split = "train", types: Sequence[str] | None = None
) -> list[Task]:
    """Generates tasks, equal for equal arguments. A goal in a room belongs to one split only."""
    wanted = list(types or TYPES)
    return [_task(rooms, split, seed, index, wanted[index % len(wanted)]) for index in range(count)]


def _task(rooms: Mapping[str, Room], split: Split, seed: int, index: int, type_: str) -> Task:
    dice = random.Random(f"{split}:{seed}:{index}:{type_}")
    stage = Episode(SceneStage(), "full")
    for _ in range(TRIES):
        room = rooms[dice.choice(sorted(rooms))]
        where = shuffle(room, dice)
        goals = [g for g in _goals(place(room, where), type_, dice.random() < SLICED) if _split(room, g) == split]
        if not goals:
            continue
        goal = dice.choice(goals)
        stage.reset({"room": place(room, where).to_json(), "kind": room.scene, "goal": goal.to_json()})
        met, total = stage.verdict()
        if met < total:
            data = {"room": room.name, "where": where, "goal": goal.to_json()}
            return Task(f"thor-{split}-{seed}-{index}", type_, say(goal, dice), data)
    raise BtError(
        f"no {split} task of kind {type_} was found in {len(rooms)} room(s)", "ask for other kinds, or more rooms"
    )


def _split(room: Room, goal: Goal) -> Split:
    return "eval" if zlib.crc32(f"{room.name}:{goal}".encode()) % EVAL_SHARE == 0 else "train"


def of_trial(row: trials.Row, data: Path, sentence: int = 0) -> Task:
    """Converts one of ALFRED's recorded tasks; it contains its whole room, so that it can be set up anywhere.

    Several people have said each task in their own words: each of `sentences` is a task with a name of its own."""
    plan = [step["planner_action"] for step in row["high_pddl"]]
    return Task(
        row["task_id"] if sentence == 0 else f"{row['task_id']}-{sentence + 1}",
        row["task_type"],
        trials.sentences(row)[sentence],
        {
            "room": trials.room_of(row, trials.layouts(data)).to_json(),
            "goal": from_alfred(row["task_type"], row["pddl_params"]).to_json(),
            "scene": row["scene"],
            "plan": plan,
        },
    )


def shuffle(room: Room, dice: random.Random) -> dict[str, str]:
    """Chooses new places for some of the carriable things."""
    furniture = [t for t in room.things if t.kind in kinds.FURNITURE]
    count = {f.id: sum(t.parent == f.id for t in room.things) for f in furniture}
    where: dict[str, str] = {}
    for thing in room.things:
        if not kinds.kind(thing.kind).pickupable or dice.random() > MOVES:
            continue
        fit = [f for f in furniture if kinds.fits(thing.kind, f.kind) and count[f.id] < kinds.room_for(f.kind)]
        if fit:
            chosen = dice.choice(fit)
            count[chosen.id] += 1
            where[thing.id] = chosen.id
    return where


def _goals(room: Room, type_: str, sliced: bool) -> Iterator[Goal]:
    """Yields every goal of this type that can be reached in this room."""
    present = sorted({t.kind for t in room.things})
    things = [k for k in present if kinds.kind(k).pickupable]
    if sliced and type_ != "look_at_obj_in_light":
        things = [k for k in things if kinds.kind(k).sliceable and k != "Egg"] if kinds.KNIVES & set(present) else []
    if type_ == "look_at_obj_in_light":
        yield from (Goal(type_, k, toggle=lamp) for k in things for lamp in LAMPS if lamp in present)
        return
    needs = NEEDS.get(type_)
    if needs is not None:
        things = [k for k in things if k in needs[1]] if needs[0] <= set(present) else []
    for kind in things:
        carried = kinds.slice_of(kind) if sliced else kind
        if type_ == "pick_two_obj_and_place" and not sliced and _count(room, kind) < 2:
            continue
        if type_ == "pick_and_place_with_movable_recep":
            for dish in (d for d in present if d in kinds.MOVABLE_RECEPTACLES and kinds.fits(carried, d)):
                parents = _parents(room, dish, 1)
                yield from (Goal(type_, kind, parent, movable=dish, sliced=sliced) for parent in parents)
            continue
        parents = _parents(room, carried, 2 if type_ == "pick_two_obj_and_place" else 1)
        yield from (Goal(type_, kind, parent, sliced=sliced) for parent in parents)


NEEDS = {
    "pick_clean_then_place_in_recep": ({"SinkBasin", "Faucet"}, WASHABLE),
    "pick_heat_then_place_in_recep": ({"Microwave"}, HEATABLE),
    "pick_cool_then_place_in_recep": ({"Fridge"}, COOLABLE),
}


def _count(room: Room, kind: str) -> int:
    return sum(t.kind == kind for t in room.things)


def _parents(room: Room, carried: str, spaces: int) -> list[str]:
    """Returns the kinds of furniture of which one piece can hold this many of these things."""

    def free(piece: RoomThing) -> bool:
        return kinds.room_for(piece.kind) - sum(t.parent == piece.id for t in room.things) >= spaces

    pieces = [t for t in room.things if t.kind in kinds.FURNITURE and kinds.fits(carried, t.kind) and free(t)]
    return sorted({p.kind for p in pieces} - {"Sink", "Bathtub"})


def say(goal: Goal, dice: random.Random) -> str:
    """Words the instruction as a person would."""
    words = {
        "o": ("slice of " if goal.sliced else "") + kinds.to_words(goal.object),
        "p": kinds.to_words(goal.parent),
        "t": kinds.to_words(goal.toggle),
        "m": kinds.to_words(goal.movable),
    }
    text = dice.choice(SAYINGS[goal.type])
    if goal.parent in INSIDE:
        text = text.replace("on the {p}", "in the {p}")
    text = text.replace("{o}s", _plural(goal))
    text = text.format(**words)
    for vowel in "aeio":
        text = text.replace(f" a {vowel}", f" an {vowel}")
    return text if not text.startswith("a ") or text[2] not in "aeio" else f"an {text[2:]}"


def _plural(goal: Goal) -> str:
    name = kinds.to_words(goal.object)
    if goal.sliced:
        return f"slices of {name}"
    if name.endswith(("knife", "shelf")):
        return name.removesuffix("fe").removesuffix("f") + "ves"
    if name.endswith(("o", "ch", "sh", "x", "s")):
        return f"{name}es"
    return f"{name}s"
