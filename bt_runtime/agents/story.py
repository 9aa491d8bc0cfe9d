"""What one agent node has thought, done and seen: values, and the form in which prompts and experiences tell it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Move = Literal["think", "act", "expand", "ask"]
THINK, ACT, EXPAND, ASK = "Think:", "Act:", "Expand:", "Ask:"  # how a step begins
OPENINGS: dict[str, Move] = {THINK: "think", ACT: "act", EXPAND: "expand", ASK: "ask"}
SILENT = "(nothing is shown)"  # heard where what came of it is kept from the prompt
HEARD = "OK."  # what a thought is answered with

_HOW = {"sequence": "in sequence", "fallback": "using a fallback strategy", "parallel": "in parallel"}


class Step(NamedTuple):
    move: Move
    text: str  # the thought, the sentence, the question, or the expansion's YAML
    observation: str = ""  # what came back

    def written(self) -> str:
        if self.move == "think":
            return f"{THINK} {self.text}\n{HEARD}"
        if self.move == "expand":
            return f"{EXPAND}\n{self.text.rstrip()}" + (f"\n{self.observation}" if self.observation else "")
        opening = ACT if self.move == "act" else ASK
        return f"{opening} {self.text}" + (f"\n{self.observation}" if self.observation else "")

    def turn(self) -> tuple[str, str]:
        """The same as what was said, and what was heard."""
        if self.move == "think":
            return f"{THINK} {self.text}", HEARD
        said = self._replace(observation="").written()
        return said, self.observation.strip() or SILENT


class Family(NamedTuple):
    """What an agent is a part of: the goal above, its siblings' goals, and how they are joined."""

    goal: str
    siblings: tuple[str, ...]
    how: str

    def written(self) -> str:
        return (
            f"Your primary goal is to: {self.goal}\n"
            f"To achieve this, you should perform your sibling tasks {_HOW.get(self.how, 'in sequence')}. "
            f"At this level, your sibling tasks are: {_and(self.siblings)}.\n"
        )


def opening(goal: str, observation: str, family: Family | None = None, notes: Sequence[str] = ()) -> str:
    """What stands before the first step."""
    lines = [f"{family.written() if family else ''}Your task is to: {goal}"]
    if notes:
        lines.append("From earlier attempts at this task you know:")
        lines += [f"- {_one_line(note)}" for note in notes]
    if observation:
        lines.append(observation)
    return "\n".join(lines) + "\n"


def written(steps: Sequence[Step]) -> str:
    """The steps as text, each ended by a line break."""
    return "".join(f"{step.written()}\n" for step in steps)


def left_out(count: int) -> str:
    """What stands in the place of the oldest steps when a story is too long for its model."""
    return f"({count} earlier step{'s' * (count > 1)} left out)\n" if count else ""


def _and(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    if len(parts) == 2:
        return f"{parts[0]}, and {parts[1]}"
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
