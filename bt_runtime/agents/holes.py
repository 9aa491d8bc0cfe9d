"""What the holes of a system text are filled with: the node's moves, its world and skills, the plans it may make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.story import ACT, OPENINGS
from bt_runtime.agents.surroundings import DONE, FAILURE
from bt_runtime.llm.header import STARTER

if TYPE_CHECKING:
    from bt_runtime.agents.growing import Growing

_ENDS = (f"{ACT} {DONE}", f"{ACT} {FAILURE}")
MOST_TRIED = 8  # acts of a failed attempt that its planner is told, the latest


def holes(node: Growing, moves: Sequence[str], recall: bool) -> dict[str, Any]:
    """A model that was taught by its prompts is told what it always was."""
    known: dict[str, Any] = {"moves": list(moves), "recall": recall}
    if node.register == STARTER:
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


def tried(node: Growing) -> str:
    """What was done for this goal already, and how it failed: for whoever plans it now."""
    if node.register == STARTER or node.goal not in node.context.services.stories:
        return ""
    story, ended = node.context.services.stories[node.goal]
    acts = [line for line in story.splitlines() if line.startswith(ACT) and line not in _ENDS][-MOST_TRIED:]
    why = "" if ended == FAILURE else f" ({ended})"
    done = ["The last that was done:", *acts] if acts else ["Nothing was done."]
    return "\n".join(["", f"It was tried and failed{why}.", *done])
