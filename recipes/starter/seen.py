"""What a prompt tells, read back: the system text, family, goal, opening and steps. A teacher knows no more."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from bt_runtime.agents.story import HEARD, OPENINGS, Move, StoryStep
from recipes.starter.steps import ORDER

GOAL = "Your task is to: "
_PRIMARY = "Your primary goal is to: "
_HAND = "Now the task at hand.\n"  # examples stand before it
_NOTES = "From earlier attempts at this task you know:\n"
_HOUSE = "\nYou are in the house, and there "
_ABOVE = "\nTo achieve this, you should perform "
_STEP = re.compile(r"^(Think:|Act:|Expand:|Ask:)", re.MULTILINE)
_REFUSED = re.compile(r"^(?:This plan |The plan )", re.MULTILINE)  # how an answer to an expansion begins
_SIBLINGS = re.compile(r"At this level, your sibling tasks are: (.*)\.\n")
_TOLD = "Before this, `"
_TRIED = "It was tried and failed"  # what a planner of the instruct register is told besides
_LEFT = ("a part of it needs work of its own", "The goal is then broken into parts")  # to whoever plans, by executors
Role = Literal["react", "acts", "executor", "reactree", "planner"]
_PLANNER = "# Think:"  # how the prompt of a planner of steps ends


class Seen(NamedTuple):
    """One node's prompt, taken apart."""

    system: str
    goal: str
    opening: str  # the first observation
    steps: tuple[StoryStep, ...]
    primary: str = ""  # the goal above, for a part of a plan
    siblings: str = ""
    notes: tuple[str, ...] = ()
    before: str = ""  # what was done last, where a node is told


def role(system: str) -> Role | None:
    """Whose system text this is, in either register; none that the teachers of acts and plans know."""
    if ORDER in system:
        return "planner"
    if "Act: done " not in system:
        return None
    if any(words in system for words in _LEFT):
        return "executor"
    if "\nExpand: " in system:
        return "reactree"
    return "acts" if "these: act.\n" in system or "\nThink: " not in system else "react"


def read(prompt: str) -> Seen:
    """Of a prompt that `agent_prompt` made, with or without the opening that the model is to go on from."""
    prompt = prompt.removesuffix(_PLANNER)
    hand = prompt.rfind(_HAND)
    head = hand + len(_HAND) if hand >= 0 else 0
    at = prompt.find(GOAL, head)
    if at < 0:
        raise ValueError("this prompt names no task")
    primary = prompt.find(_PRIMARY, head, at)
    above = prompt[primary:at] if primary >= 0 else ""
    system = prompt[: prompt.find("\n\n")] if "\n\n" in prompt else ""
    goal, rest = _of_several_lines(prompt[at + len(GOAL) :])
    notes: tuple[str, ...] = ()
    if rest.startswith(_NOTES):
        lines = rest[len(_NOTES) :].split("\n")
        count = next((i for i, line in enumerate(lines) if not line.startswith("- ")), len(lines))
        notes, rest = tuple(line[2:] for line in lines[:count]), "\n".join(lines[count:])
    first = _STEP.search(rest)
    opening, told = (rest[: first.start()], rest[first.start() :]) if first else (rest, "")
    seen, _, before = opening.partition(_TRIED)[0].partition(_TOLD)
    named = _SIBLINGS.search(above)
    return Seen(
        system,
        goal,
        seen.rstrip("\n"),
        steps(told),
        above[len(_PRIMARY) :].partition(_ABOVE)[0].rstrip("\n"),
        named[1] if named else "",
        notes,
        _TOLD + before.rstrip("\n") if before else "",
    )


def _of_several_lines(told: str) -> tuple[str, str]:
    """The goal, and what stands after it. People write lists: it ends where notes or the house begin."""
    ends = [at for sign in (f"\n{_NOTES}", _HOUSE) if (at := told.find(sign)) >= 0]
    first = told.find("\n")
    step = _STEP.search(told)
    end = min(ends, default=-1)
    if end < 0 or (step is not None and end > step.start()):
        end = first
    return (told[:end], told[end + 1 :]) if end >= 0 else (told, "")


def steps(told: str) -> tuple[StoryStep, ...]:
    """`written(steps)` read back; an opening that nothing follows is none."""
    starts = [found.start() for found in _STEP.finditer(told)]
    parts = [told[a:b] for a, b in pairwise([*starts, len(told)])]
    return tuple(step for part in parts if (step := _step(part)) is not None)


def _step(part: str) -> StoryStep | None:
    opening, _, rest = part.partition(":")
    move: Move = OPENINGS[f"{opening}:"]
    if not rest.strip():
        return None
    if move == "expand":
        plan = rest.removeprefix("\n")
        refused = _REFUSED.search(plan)
        cut = refused.start() if refused else len(plan)
        return StoryStep(move, plan[:cut].rstrip("\n"), plan[cut:].rstrip("\n"))
    text, _, heard = rest.partition("\n")
    heard = heard.rstrip("\n")
    return StoryStep(move, text.strip(), "" if move == "think" and heard == HEARD else heard)
