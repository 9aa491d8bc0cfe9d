"""The goals of a run and their parts, without the nodes that implement them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.agents.agent import Agent
from bt_runtime.agents.model_node import ModelNode, goal_of
from bt_runtime.cli.color import DIM
from bt_runtime.cli.running.live import Live
from bt_runtime.cli.running.outline import OutlineRow, outline
from bt_runtime.cli.running.row_renderer import RowRenderer, clipped, columns
from bt_runtime.language.faults.format import visible
from bt_runtime.tree.nodes.parent import Composite
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree

JOINED = {"sequence": "in order:", "fallback": "the first that works:", "parallel": "all of:"}
LEAST = 32  # columns that a goal keeps beside what is said of it


class RequestedGoal(NamedTuple):
    text: str
    status: Status
    said: str  # what is being done for it, or what it came to
    children: tuple[RequestedGoal, ...] = ()


class LiveGoals(Live):
    """Shows the tree as goals instead of nodes; `goal` is that of the whole run."""

    goal = ""

    def look(self) -> None:
        """Reads the goals from the live tree."""

    def leave(self) -> None:
        pass

    def body(self, width: int, rows: int) -> list[str]:
        return [line(self.face, row, width) for row in outline(goals(self.run.parts.engine.root, self.goal), rows)]

    def progress(self) -> str:
        spent = self.run.parts.context.services.spent
        return said_often(spent.decisions if spent is not None else 0, "decision")


def said_often(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def line(face: RowRenderer, row: OutlineRow[RequestedGoal], width: int) -> str:
    indent = "  " * min(row.depth, width // 4)
    if row.node is None:
        return face.paint(clipped(f"{indent}{face.signs.more} {row.hidden} more", width), DIM)
    goal, (sign, tone) = row.node, face.sign(row.status)
    more = f" {face.signs.more}{row.hidden}" if row.hidden else ""
    free = max(0, width - len(indent) - 2 - columns(more))
    said = visible(goal.said)
    title = shortened(visible(goal.text), max(LEAST, free - columns(said) - 2), face.signs.more)
    head = clipped(f"{sign} {title}{more}", width - len(indent))
    left = width - len(indent) - columns(head) - 2
    rest = f"  {shortened(said, left, face.signs.more)}" if said and left >= min(8, columns(said)) else ""
    return f"{indent}{face.paint(head, tone)}{face.paint(rest, DIM)}"


def shortened(text: str, width: int, more: str = "…") -> str:
    """Returns the text, or its beginning with a mark when it is too long."""
    return text if columns(text) <= width else clipped(text, max(0, width - len(more))).rstrip() + more


def goals(node: Behaviour, text: str = "") -> RequestedGoal:
    """Returns the goal that this node serves, with the parts that it was split into."""
    own = list(_own(node))
    deciding = [each for each in own if isinstance(each, ModelNode)]
    parts = [each for each in own if not isinstance(each, ModelNode)]
    said = _joined(parts[0], deciding) if parts else _latest(deciding)
    return RequestedGoal(text or goal_of(node), node.status, said, tuple(_part(each) for each in parts))


def _part(node: Behaviour) -> RequestedGoal:
    if isinstance(node, Subtree):
        return goals(node)
    if isinstance(node, Composite):
        return RequestedGoal(JOINED.get(node.spec.kind.name, ""), node.status, "", tuple(map(_part, _own(node))))
    return RequestedGoal(goal_of(node), node.status, "")


def _own(node: Behaviour) -> Iterator[Behaviour]:
    """Yields the nodes that decide about this goal, and its parts, in tree order."""
    todo: list[Behaviour] = list(reversed(node.children)) if not isinstance(node, ModelNode) else [node]
    while todo:
        each = todo.pop()
        if _is_part(each):
            yield each
            continue
        if isinstance(each, ModelNode):
            yield each
        todo.extend(reversed(each.children))


def _is_part(node: Behaviour) -> bool:
    """True for a goal, an action, or a group of these within a plan, and not for nodes that a tree's author put
    around an agent."""
    if isinstance(node, Composite):
        return isinstance(node.parent, Composite) and all(map(_is_part, node.children))
    return isinstance(node, Subtree | SkillNode) and bool(goal_of(node))


def _joined(part: Behaviour, deciding: list[ModelNode]) -> str:
    """Describes how the parts combine to the whole."""
    tried = "tried, then planned, " if any(each.spec.kind.name == "plan" for each in deciding) else ""
    return tried + (JOINED.get(part.parent.spec.kind.name, "") if isinstance(part.parent, Composite) else "")


def _latest(deciding: list[ModelNode]) -> str:
    """Returns the current step; for a goal that has ended, its last action or the cause of its failure."""
    last = next((each for each in reversed(deciding) if each.status is not Status.INVALID), None)
    if last is None:
        return ""
    if last.status is Status.SUCCESS and isinstance(last, Agent):
        return next((step.text for step in reversed(last.steps) if step.move == "act"), "")
    return last.feedback_message
