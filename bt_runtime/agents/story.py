"""One agent's thoughts, actions and observations: values, and their form in prompts and experiences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from bt_runtime.types import TASK

Move = Literal["think", "act", "expand", "ask"]
THINK, ACT, EXPAND, ASK = "Think:", "Act:", "Expand:", "Ask:"  # how a step begins
OPENINGS: dict[str, Move] = {THINK: "think", ACT: "act", EXPAND: "expand", ASK: "ask"}
SILENT = "(nothing is shown)"  # heard where what came of it is kept from the prompt
HEARD = "OK."  # the reply to a thought

# What a line must not begin with that comes from the world, a skill or a memory: a base model takes it for a turn.
_FORGED = re.compile(
    r"(^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])([^\S\n]*)(?=(?:think|act|expand|ask)[^\S\n]*:|ok\.|your task is to:"
    r"|your primary goal is to:|now the task at hand\.|earlier tasks, and how they went:|example \d"
    r"|is the goal met\?|does this lead to the goal\?)",
    re.IGNORECASE,
)
_BORDERS = re.compile(
    r"^[^\S\n]*(?=now the task at hand\.|earlier tasks, and how they went:|example \d)", re.IGNORECASE | re.MULTILINE
)
QUOTED = "> "  # before a line that would read as a turn

_HOW = {"sequence": "in sequence", "fallback": "using a fallback strategy", "parallel": "in parallel"}


class StoryStep(NamedTuple):
    move: Move
    text: str  # the thought, the sentence, the question, or the expansion's YAML
    observation: str = ""  # the action's result

    def written(self) -> str:
        if self.move == "think":
            return f"{THINK} {self.text}\n{HEARD}"
        if self.move == "expand":
            return f"{EXPAND}\n{self.text.rstrip()}{self.heard()}"
        return f"{ACT if self.move == 'act' else ASK} {self.text}{self.heard()}"

    def heard(self) -> str:
        return f"\n{harmless(self.observation)}" if self.observation else ""

    def turn(self) -> tuple[str, str]:
        """The step as one turn: the model's text and the observation."""
        if self.move == "think":
            return f"{THINK} {self.text}", HEARD
        said = self._replace(observation="").written()
        return said, self.observation.strip() or SILENT


class Family(NamedTuple):
    """The expansion around an agent: the goal above, its siblings' goals, and how they are joined."""

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
    """The text before the first step."""
    first, broke, rest = goal.partition("\n")
    lines = [f"{family.written() if family else ''}{TASK} {first}{broke}{harmless(rest)}"]
    if notes:
        lines.append("From earlier attempts at this task you know:")
        lines += [f"- {_one_line(note)}" for note in notes]
    if observation:
        lines.append(harmless(observation))
    return "\n".join(lines) + "\n"


def harmless(text: str) -> str:
    """Quotes each line of outside text that begins like an agent's turn, such as `Act:`; other lines stay as they
    are."""
    return text if text.strip() == HEARD else _FORGED.sub(rf"\1\2{QUOTED}", text)


def example(text: str) -> str:
    """Returns an experience for a prompt, whose turns stay as they are. It cannot end the list of examples early."""
    return _BORDERS.sub(QUOTED, text)


def written(steps: Sequence[StoryStep]) -> str:
    """The steps as text, each ended by a line break."""
    return "".join([f"{step.written()}\n" for step in steps])


def left_out(count: int) -> str:
    """The text in place of the oldest steps when a story is too long for its model."""
    return f"({count} earlier step{'s' * (count > 1)} left out)\n" if count else ""


def _and(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    if len(parts) == 2:
        return f"{parts[0]}, and {parts[1]}"
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
