"""Worked examples for a prompt, made of stored experiences, in the moves and plan form of the node."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bt_runtime.agents.plan_text import Group, Part, PlannedGoal, Unreadable, goals, read_plan
from bt_runtime.agents.story import ACT, EXPAND, OPENINGS, THINK, StoryStep
from bt_runtime.agents.surroundings import DONE, FAILURE, RECALL
from bt_runtime.language import project
from bt_runtime.language.project import disk
from bt_runtime.llm.decoding.plan_grammar import bare
from bt_runtime.types import Introduced

_FAMILY = ("Your primary goal is to:", "To achieve this, you should perform your sibling tasks")
_REFUSED = "Could not"
_ENDS = (f"{ACT} {DONE}", f"{ACT} {FAILURE}")


class ExampleShape(NamedTuple):
    """The abilities of the node that an example is for."""

    moves: tuple[str, ...]
    form: str = ""  # form of plans, for a node that only plans
    recall: bool = False
    shown: bool = True  # observations of successful acts are shown


def fitted(text: str, shape: ExampleShape) -> str | None:
    """Rewrites an experience with the node's moves and plan form; None when that is impossible."""
    head, blocks = _parted(text)
    plans = [block for block in blocks if block.startswith(EXPAND)]
    try:
        if shape.form:
            return _planned(head, blocks, plans[-1], shape.form) if plans else None
        if plans and "expand" not in shape.moves:
            return None
        told = [_dialect(block) if block in plans else block for block in blocks]
    except Unreadable:
        return None
    kept = [block for block in (_kept(each, shape) for each in told) if block]
    return "\n".join([head, *kept]) if kept else None


def steps_of(text: str) -> tuple[str, tuple[StoryStep, ...]]:
    """An experience as the text before its first step, and its steps."""
    head, blocks = _parted(text)
    steps = list[StoryStep]()
    for block in blocks:
        opening = next(opening for opening in OPENINGS if block.startswith(opening))
        said, _, heard = block.removeprefix(opening).lstrip("\n").partition("\n")
        if opening == EXPAND:  # a plan has several lines
            said, heard = block.removeprefix(opening).strip("\n"), ""
        steps.append(StoryStep(OPENINGS[opening], said.strip(), heard))
    return head, tuple(steps)


def shipped(name: str, shape: ExampleShape, count: int) -> list[str]:
    """At most `count` shipped examples that fit the node: one suffices when it shows a thought before an act."""
    stories = _stories(name)
    whole = [text for text in (_whole(task, shape) for task in _tasks(stories)) if text]
    if shape.form or "expand" in shape.moves:
        fit = [(story, text) for story in stories if (text := fitted(story["text"], shape))]
        plans = [text for story, text in fit if story["end"] == "expand"][:1]
        acts = [text for story, text in fit if story["end"] == "success" and ACT in text][:1]
        return (plans if shape.form else [*plans, *acts])[:count]
    return sorted(whole, key=len)[: count if "think" not in shape.moves else min(count, 1)]


def read_ahead(world: object) -> None:
    """Reads a world's manual and examples ahead of time, so that no tick does."""
    if isinstance(world, Introduced):
        _stories(str(world.manual().get("examples", "")))


@lru_cache(maxsize=16)
def _read(path: Path) -> tuple[dict[str, str], ...]:
    return tuple(json.loads(line) for line in disk.read_text(path).splitlines() if line.strip())


def _stories(name: str) -> Sequence[dict[str, str]]:
    path = project.find("memory", name, ".jsonl") if name else None
    return _read(path) if path is not None else ()


def _tasks(stories: Sequence[dict[str, str]]) -> list[list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for story in stories:
        found.setdefault(story["task"], []).append(story)
    return list(found.values())


def _whole(task: Sequence[dict[str, str]], shape: ExampleShape) -> str | None:
    """The actions of all agents of a task, told as those of one agent."""
    parts = sorted(task, key=lambda story: [int(n) for n in story["place"].split("/") if n.isdigit()])
    head = _parted(parts[0]["text"])[0]
    blocks = [block for story in parts for block in _parted(story["text"])[1]]
    acts = [kept for block in blocks if (kept := _kept(block, shape)) and not kept.startswith((EXPAND, *_ENDS))]
    return "\n".join([head, *acts, _ENDS[0]]) if any(block.startswith(ACT) for block in acts) else None


def _parted(text: str) -> tuple[str, list[str]]:
    """Splits an experience into the text before its first step, without the family, and the steps."""
    head: list[str] = []
    blocks: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(tuple(OPENINGS)):
            blocks.append(line)
        elif blocks:
            blocks[-1] += f"\n{line}"
        elif not line.startswith(_FAMILY):
            head.append(line)
    return "\n".join(head), blocks


def _kept(block: str, shape: ExampleShape) -> str:
    """Rewrites a step for this node; None for a step that the node cannot make."""
    move = next(OPENINGS[opening] for opening in OPENINGS if block.startswith(opening))
    if move not in shape.moves and not block.startswith(_ENDS):
        return ""
    if block.startswith(f"{ACT} {RECALL}") and not shape.recall:
        return ""
    if not shape.shown and f"\n{_REFUSED}" in block:  # whoever does not see the answer would learn to do it
        return ""
    return block if shape.shown or move in ("think", "expand") else block.partition("\n")[0]


# Plans, from one form into another -----------------------------------------------------------------


def _dialect(block: str) -> str:
    return f"{EXPAND}\n{in_form(read_plan(block), 'dialect')}"


def _planned(head: str, blocks: Sequence[str], plan: str, form: str) -> str:
    if form != "steps":
        return f"{head}\n{EXPAND}\n{in_form(read_plan(plan), form)}"
    thoughts = [block.partition("\n")[0].removeprefix(THINK) for block in blocks if block.startswith(THINK)]
    return f"{head}\n# Think:{thoughts[-1] if thoughts else ''}\n{in_form(read_plan(plan), form)}"


def in_form(plan: Group, form: str) -> str:
    """A plan of the tree language, as numbered steps or as lists."""
    if form == "dialect":
        return "\n".join(_lines(plan))
    if form == "lists":
        return f"- control flow: {plan.control}\n- subgoals: {', '.join(goals(plan))}"
    said = list(goals(plan))
    steps = [f"Step {number}: {goal}" for number, goal in enumerate(said, 1)]
    return "\n".join([*steps, f"Execution Order: ({_order(plan, iter(range(1, len(said) + 1)))})"])


def _lines(part: Part) -> list[str]:
    if isinstance(part, Group):
        inner = [line for each in part.parts for line in _item(_lines(each))]
        return [f"{part.control}:", *inner]
    return [bare(part.text)] if isinstance(part, PlannedGoal) else [f"act: {bare(next(goals(part), ''))}"]


def _item(lines: Sequence[str]) -> list[str]:
    return [f"{'- ' if at == 0 else '  '}{line}" for at, line in enumerate(lines)]


def _order(part: Part, numbers: Iterator[int]) -> str:
    if not isinstance(part, Group):
        return f"Step {next(numbers)}"
    inner = [f"({_order(each, numbers)})" if isinstance(each, Group) else _order(each, numbers) for each in part.parts]
    return (" OR " if part.control == "fallback" else " AND ").join(inner)
