"""AutoPlan's texts as pure functions: summary, flaw and revision of an attempt, and a new plan.

Training data comes from these functions too, so that it cannot drift from run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.story import OPENINGS
from bt_runtime.types import Grammar, Json

LESSON, SUMMARY, FLAW, REVISION = "lesson", "summary", "flaw", "revision"
CUES = {LESSON: "Next time:", SUMMARY: "Summary:", FLAW: "Flaw:", REVISION: "Revision:"}  # first words of each part
NONE = "(none yet)"
NEW_PLAN = "New plan:\n"
_STEP = re.compile(r"^\d+\.\s+(\S.*)$")


def attempt(story: str, ended: str, goal: str = "") -> str:
    """Describes an attempt for the reflecting node."""
    if story:
        return f"{story}\nThis attempt ended: {ended}.\n"
    return f"The task was: {goal}\nIt failed: {ended}.\n"


def judged(experience: Mapping[str, Any]) -> str:
    """The world's verdict on the attempt."""
    if not experience.get("total"):
        return ""
    if experience.get("reached"):
        return "The goal was reached.\n"
    told = "".join(f"{each}\n" for each in experience.get("revealed", ()))
    return f"The goal was not reached: {experience['met']} of {experience['total']} parts.\n{told}"


def reflection(system: str, guide: str, told: str, said: Mapping[str, str] | None = None) -> Prompt:
    """The reflection's prompt. `said`: the parts written so far; a cue asks for the next one."""
    before = "".join(f"{CUES[part]} {text}\n" for part, text in (said or {}).items())
    return Prompt(system, "", f"The plan was:\n{guide.strip() or NONE}\n{told}", before)


def rewriting(system: str, goal: str, guide: str, reflections: Sequence[Mapping[str, Json]]) -> Prompt:
    """Returns the prompt for a new plan: the old plan, then all reflections of a batch."""
    told = "".join(_told(each) for each in reflections)
    asked = f"The tasks: {goal}\nThe plan was:\n{guide.strip() or NONE}\n\n{told}"
    return Prompt(system, "", asked, NEW_PLAN)


def _told(each: Mapping[str, Json]) -> str:
    reached = {True: "reached", False: "not reached"}.get(each.get("reached"), "")  # type: ignore[arg-type]
    parts = "".join(f"{CUES[part]} {each[part]}\n" for part in CUES if each.get(part))
    return f"Task: {each.get('goal', '')}\n" + (f"The goal was {reached}.\n" if reached else "") + f"{parts}\n"


def cut(story: str, line: int) -> str:
    """Shows at most `line` characters of each line, 0 for all, because long lists of objects would displace the
    steps."""
    task, *told = story.split("\n")
    return "\n".join([task, *(_cut(text, line) for text in told)]) if line else story


def countable(story: str) -> list[str]:
    """Returns what `shortened` counts."""
    head, lines = _pieces(story)
    return [*dict.fromkeys((story, head, *lines))]


def shortened(story: str, budget: int, count: Callable[[str], int]) -> str:
    """Shortens the story to `budget` tokens: keeps its beginning (the task) and its end; 0 leaves it whole."""
    if not budget or count(story) <= budget:
        return story
    head, lines = _pieces(story)
    head = head if head and count(head) < budget // 2 else ""
    left = budget - count(head) if head else budget
    kept: list[str] = []
    for text in reversed(lines):
        left -= count(text) + 1
        if left < 0:
            break
        kept.insert(0, text)
    return "\n".join([*([head] if head else []), "…", *kept]) + "\n"


def _pieces(story: str) -> tuple[str, list[str]]:
    """Returns the task and the lines after it."""
    head, *rest = story.split("\nThink: ")
    return (head, "\nThink: ".join(rest).splitlines()) if rest else ("", story.splitlines())


def _cut(text: str, most: int) -> str:
    """Shortens an observation; the model's own text stays whole."""
    return text if len(text) <= most or text.startswith(tuple(OPENINGS)) else f"{text[: most - 1].rstrip()}…"


# Constrained decoding ------------------------------------------------------------------------


def line_grammar(limit: int) -> Grammar:
    """Returns the grammar of one non-empty line with a maximum length."""
    return Grammar("regex", rf" [^\s][^\n\r]{{0,{max(0, limit - 1)}}}\n")


def plan_grammar(steps: int, limit: int) -> Grammar:
    """A numbered list of at most so many steps, ended by an empty line."""
    text = ""
    for number in range(steps, 0, -1):
        line = rf"{number}\. [^\s][^\n\r]{{0,{max(0, limit - 1)}}}\n"
        text = f"({line}{text})?" if number > 1 else f"{line}{text}"
    return Grammar("regex", rf"{text}\n")


def numbered(text: str, whole: bool = True) -> str:
    """Renumbers the steps of a plan; drops the last one of a text that was cut off (not `whole`)."""
    lines = [line.strip() for line in text.strip().splitlines()]
    steps = [found[1] for line in (lines if whole else lines[:-1]) if (found := _STEP.match(line))]
    return "\n".join(f"{n}. {step}" for n, step in enumerate(dict.fromkeys(steps), 1))
