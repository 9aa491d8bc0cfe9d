"""Fills the holes of a system text: the node's moves, its world and skills, the plans it may make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.services import agent_services
from bt_runtime.agents.story import ACT, OPENINGS
from bt_runtime.agents.surroundings import DONE, FAILURE

if TYPE_CHECKING:
    from bt_runtime.agents.growing import PlanGrowing

_ENDS = (f"{ACT} {DONE}", f"{ACT} {FAILURE}")
MOST_TRIED = 8  # acts of a failed attempt that its planner is told, the latest


def holes(node: PlanGrowing, moves: Sequence[str], recall: bool) -> dict[str, Any]:
    """The text for each hole. A model that was trained on fixed prompts gets the fixed text."""
    judged = bool(node.spec.values.get("finish") == "judge")
    known: dict[str, Any] = {"moves": list(moves), "recall": recall, "judged": judged}
    if not node.register.manual:
        return {**known, "world": "", "skills": "", "openings": "", "plan": "", "width": 0}
    manual = node.manual()
    width = {"width": node.budget.width}
    offered = [opening for opening, move in OPENINGS.items() if move in moves or opening == ACT]
    return {
        **known, **width,
        "world": "\n".join(map(str, manual.get("rules", ()))),
        "skills": "\n".join(f"- {line}" for line in node.actions.patterns(manual.get("skills", ()))),
        "openings": ", ".join(offered),
        "plan": node.instructions("yaml", {**width, "acts": node.plans_acts()}).strip(),
    }  # fmt: skip


def tried(node: PlanGrowing) -> str:
    """The failed attempts at this goal and their causes, for the node that plans it now."""
    if not node.register.tried or node.goal not in agent_services(node.context).stories:
        return ""
    story, ended = agent_services(node.context).stories[node.goal]
    acts = [line for line in story.splitlines() if line.startswith(ACT) and line not in _ENDS][-MOST_TRIED:]
    why = "" if ended == FAILURE else f" ({ended})"
    done = ["The last that was done:", *acts] if acts else ["Nothing was done."]
    return "\n".join(["", f"It was tried and failed{why}.", *done])
