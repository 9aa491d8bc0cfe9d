"""An oracle's reasoning as data: what each agent node thought, did and expanded into; and its two written forms."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from bt_runtime.types import Looking, Observation, World

Control = Literal["sequence", "fallback", "parallel"]
End = Literal["success", "failure", ""]


class Step(NamedTuple):
    kind: Literal["think", "act", "expand"]
    text: str  # the thought, the sentence, or the kind of control
    observation: str = ""  # what an act brought


@dataclass(slots=True)
class Agent:
    """One agent node: its own goal and steps, and the nodes it expanded into."""

    goal: str
    opening: str  # what it was told when it began
    steps: list[Step] = field(default_factory=list)
    control: Control | None = None
    subgoals: list[str] = field(default_factory=list)
    children: list[Agent] = field(default_factory=list)  # those that were reached
    ended: End = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Agent:
        own = {**found, "steps": [Step(*step) for step in found["steps"]]}
        own["children"] = [cls.from_json(child) for child in found["children"]]
        return cls(**own)

    def walk(self) -> Iterator[Agent]:
        """This node and all below it, in the order in which they began."""
        yield self
        for child in self.children:
            yield from child.walk()


# What an oracle does next. It yields one move at a time; the driver acts it before asking on.


class Think(NamedTuple):
    text: str


class Act(NamedTuple):
    sentence: str


class Recall(NamedTuple):
    """A question to working memory, which answers without the world."""

    sentence: str
    answer: str


class Expand(NamedTuple):
    control: Control
    subgoals: tuple[str, ...]


class Enter(NamedTuple):
    goal: str


class Leave(NamedTuple):
    ended: Literal["success", "failure"]


Move = Think | Act | Recall | Expand | Enter | Leave
Moves = Generator[Move, None, bool]


def sentences(moves: Iterable[Move]) -> Iterator[str]:
    """Only what is acted in the world."""
    return (move.sentence for move in moves if isinstance(move, Act))


def trace(world: World, goal: str, moves: Moves) -> Agent:
    """Act the moves in the world (reset before) and write down the tree of agents."""
    root = Agent(goal, _look(world).text)
    stack = [root]
    try:
        while True:
            _note(world, next(moves), stack)
    except StopIteration as end:
        root.ended = "success" if end.value else "failure"
    return root


def _note(world: World, move: Move, stack: list[Agent]) -> None:
    top = stack[-1]
    if isinstance(move, Think):
        top.steps.append(Step("think", move.text))
    elif isinstance(move, Act):
        top.steps.append(Step("act", move.sentence, world.act(move.sentence).text))
    elif isinstance(move, Recall):
        top.steps.append(Step("act", move.sentence, move.answer))
    elif isinstance(move, Expand):
        top.steps.append(Step("expand", move.control))
        top.control, top.subgoals = move.control, list(move.subgoals)
    elif isinstance(move, Enter):
        child = Agent(move.goal, _look(world).text)
        top.children.append(child)
        stack.append(child)
    else:
        stack.pop().ended = move.ended


def _look(world: World) -> Observation:
    return world.look() if isinstance(world, Looking) else Observation("")


# Written forms ------------------------------------------------------------------------------------

_TOGETHER = {"sequence": "in sequence", "fallback": "using a fallback strategy", "parallel": "in parallel"}
_ENDS = {"success": "done", "failure": "failure"}


def as_react(agent: Agent) -> str:
    """One flat text: the task, then thoughts, acts and observations."""
    lines = [f"Your task is to: {agent.goal}", agent.opening]
    for step in agent.steps:
        lines += _lines(step, agent)
    return "\n".join([*lines, f"Act: {_ENDS[agent.ended]}"] if agent.ended else lines)


def as_reactree(agent: Agent, parent: Agent | None = None) -> list[str]:
    """One text for each agent node, in the order in which they began; a child is told what it is part of."""
    lines = _family(parent) if parent else []
    lines += [f"Your task is to: {agent.goal}", agent.opening]
    for step in agent.steps:
        lines += _lines(step, agent)
    if agent.ended and agent.control is None:
        lines.append(f"Act: {_ENDS[agent.ended]}")
    texts = ["\n".join(lines)]
    for child in agent.children:
        texts += as_reactree(child, agent)
    return texts


def _family(parent: Agent) -> list[str]:
    tasks = _and(parent.subgoals)
    return [
        f"Your primary goal is to: {parent.goal}",
        f"To achieve this, you should perform your sibling tasks {_TOGETHER[parent.control or 'sequence']}. "
        f"At this level, your sibling tasks are: {tasks}.",
    ]


def _and(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _lines(step: Step, agent: Agent) -> list[str]:
    if step.kind == "think":
        return [f"Think: {step.text}", "OK."]
    if step.kind == "act":
        return [f"Act: {step.text}", step.observation]
    return ["Expand:", f"- control flow: {step.text}", f"- subgoals: {', '.join(agent.subgoals)}"]
