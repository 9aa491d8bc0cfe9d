"""A teacher that judges what was done in a room, of ALFWorld or of ALFRED's tasks: what `verify` asks there.

Its thought goes through what the goal takes, in order: what was taken, what was done to it, where it was put. Each part
is followed by the thing of which a deed says so, or by `none`; what has none is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bt_envs.alfworld.game import kind_of as alfworld_kind
from recipes.starter.alfworld.goal import wanted as read_goal
from recipes.starter.thor import names
from recipes.starter.thor.wish import TREATED, Told

DEED = re.compile(r"^- ([a-z][^:\n]*): (.*)$", re.MULTILINE)
_NAME = r"[A-Za-z]+ \(?\d+\)?"
_TAKEN = re.compile(rf"(?:take|pick up) ({_NAME})(?: from {_NAME})?")
_PUT = re.compile(rf"(?:put|move|put down) ({_NAME})(?: (?:in/on|to) ({_NAME}))?")
_WENT = re.compile(rf"go to ({_NAME})")
_DONE = re.compile(rf"(clean|heat|cool) ({_NAME}) with {_NAME}")
_ON = re.compile(rf"(?:use|turn on) ({_NAME})")
_CUT = re.compile(rf"slice ({_NAME})")
_HOLDS = re.compile(r"(?<=\.) I am holding \w+ \(\d+\) now\.?")
_LIST = "What was done, in this order:\n"
_ALFWORLD = "You are in the middle of a room."
_RINSED, _WARM, _COLD, _TAP = "SinkBasin", "Microwave", "Fridge", "Faucet"
_LEFT_OUT = 0.35  # of the attempts that ended otherwise did all but one deed
MISSING, NOTHING = "Missing: ", "Nothing is missing."


class Wish(NamedTuple):
    """What a goal takes, in the world's own kinds."""

    thing: str
    place: str = ""
    how: str = ""  # clean, heat, cool
    lamp: str = ""
    dish: str = ""  # in which the thing is put first
    amount: int = 1
    sliced: bool = False


class Done(NamedTuple):
    """What the deeds say, in their order."""

    held: str
    at: dict[str, str]  # thing → where it was put last
    treated: set[tuple[str, str]]
    lit: dict[str, str]  # lamp → what was held then
    cut: list[str]
    taken: list[str]


def wish_of(goal: str, prompt: str, told: Mapping[str, Any]) -> Wish | None:
    """What a goal in a room means: ALFWorld's words say it, a person's sentence only where somebody knows."""
    known = told.get(goal)
    if isinstance(known, Told):
        wanted = known.goal
        how = TREATED.get(wanted.type, ("", ""))[0]
        amount = 2 if wanted.type.startswith("pick_two") else 1
        return Wish(wanted.object, wanted.parent, how, wanted.toggle, wanted.movable, amount, wanted.sliced)
    read = read_goal(goal) if _ALFWORLD in prompt else None
    if read is None:
        return None
    if read.how == "look":
        return Wish(read.thing, lamp=read.place)
    two = read.how == "two"
    return Wish(read.thing, read.place, "" if two else read.how, amount=2 if two else 1)


def thought(wish: Wish, prompt: str) -> str:
    done = _done(_deeds(prompt))
    parts = [*_parts(wish, done)]
    lacking = [part for part, found in parts if "none" in found]
    said = [f"{part}: {', '.join(found)}." for part, found in parts]
    return " ".join([*said, f"{MISSING}{', '.join(lacking)}." if lacking else NOTHING])


def _parts(wish: Wish, done: Done) -> Iterator[tuple[str, list[str]]]:
    """Each part of a goal, and the things of which it holds."""
    if wish.sliced:
        yield f"slice {wish.thing}", _some([each for each in done.cut if _is(each, wish.thing)])
    ours = [each for each in done.taken if _is(each, wish.thing)]
    there = [each for each in ours if wish.place and _is(done.at.get(each, ""), wish.dish or wish.place)]
    if wish.how:
        ready = [each for each in ours if (wish.how, each) in done.treated]
        there = [each for each in there if each in ready]
        yield f"take {wish.thing}", _some((there or ready or ours[-1:])[:1])
        yield f"{wish.how} {wish.thing}", _some((there or ready)[:1])
    else:
        first = [*there, *(each for each in ours if each not in there)]
        yield f"take {wish.thing}", _some(first[: wish.amount], wish.amount)
    if wish.lamp:
        lit = [lamp for lamp, held in done.lit.items() if _is(lamp, wish.lamp) and _is(held, wish.thing)]
        yield f"turn on {wish.lamp}", _some(lit[:1])
    elif wish.dish:
        yield f"put in {wish.dish}", _some(there[:1])
        dishes = [done.at[each] for each in there]
        yield f"put on {wish.place}", _some([dish for dish in dishes if _is(done.at.get(dish, ""), wish.place)][:1])
    else:
        yield f"put on {wish.place}", _some(there[: wish.amount], wish.amount)


def _some(found: Sequence[str], count: int = 1) -> list[str]:
    return [*found, *["none"] * (count - len(found))]


def _is(name: str, kind: str) -> bool:
    if not name:
        return False
    return names.is_a(name, kind) if "(" in name else alfworld_kind(name) == kind


def _deeds(prompt: str) -> list[str]:
    return [sentence for sentence, _ in DEED.findall(prompt.partition(_LIST)[2])]


def _done(deeds: Sequence[str]) -> Done:
    done, here, held = Done("", {}, set(), {}, [], []), "", ""
    for deed in deeds:
        if found := _WENT.fullmatch(deed):
            here = found[1]
        elif found := _TAKEN.fullmatch(deed):
            held = found[1]
            if _is(done.at.pop(held, ""), _COLD):
                done.treated.add(("cool", held))
            done.taken.append(held)
        elif found := _PUT.fullmatch(deed):
            done.at[found[1]], held = found[2] or here, ""
        elif deed.startswith("drop "):
            held = ""
        elif found := _DONE.fullmatch(deed):
            done.treated.add((found[1], found[2]))
        elif found := _ON.fullmatch(deed):
            done.lit[found[1]] = held
            tool, how = (_RINSED, "clean") if found[1].startswith(_TAP) else (_WARM, "heat")
            if found[1].startswith((_TAP, _WARM)):
                done.treated.update((how, each) for each, at in done.at.items() if at.startswith(tool))
        elif found := _CUT.fullmatch(deed):
            done.cut.append(found[1])
    return done._replace(held=held, taken=list(dict.fromkeys(done.taken)))


# judgements that are made up ---------------------------------------------------------------------


def ended_early(prompt: str, rng: Random) -> str:
    """The same prompt, had the attempt ended before one of the deeds that count, or had it left one out."""
    head, _, rest = prompt.partition(_LIST)
    lines, deeds = rest.split("\n"), _deeds(prompt)
    counts = [at for at, deed in enumerate(deeds) if any(shape.fullmatch(deed) for shape in (_PUT, _DONE, _ON, _TAKEN))]
    if not counts:
        return ""
    at = rng.choice(counts)
    kept = lines[:at]
    treats = [n for n in counts if _DONE.fullmatch(deeds[n]) or _ON.fullmatch(deeds[n])]
    if treats and rng.random() < _LEFT_OUT:
        at = rng.choice(treats)
        kept = [*lines[:at], *lines[at + 1 : len(deeds)]]
    return f"{head}{_LIST}" + "\n".join([*kept, *_seen_now(lines[len(deeds) :], kept)])


def _seen_now(lines: Sequence[str], deeds: Sequence[str]) -> list[str]:
    """What is seen at the end, had only these deeds been done: what is held then, and what came of the last deed."""
    told = [found for line in deeds if (found := DEED.fullmatch(line))]
    held = _done([deed[1] for deed in told]).held
    carried = next((at for at, line in enumerate(lines) if line.startswith("You are ") and "carrying" in line), -1)
    if carried >= 0:  # ALFWorld's
        carries = f"You are carrying: a {held}." if held else "You are not carrying anything."
        return [*lines[:carried], carries, told[-1][2] if told else lines[carried + 1], *lines[carried + 2 :]]
    holds = f" I am holding {held} now." if held else ""
    return [_HOLDS.sub("", lines[0]).rstrip() + holds, *lines[1:]]
