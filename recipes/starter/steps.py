"""A plan in steps, as a planner is asked for it: a thought, the steps, and how they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

ORDER = "Execution Order:"


def written(thought: str, steps: Sequence[str], join: Literal["AND", "OR"] = "AND") -> str:
    lines = [f"Step {number}: {step}" for number, step in enumerate(steps, 1)]
    order = f" {join} ".join(f"Step {number}" for number in range(1, len(steps) + 1))
    return "\n".join([f" {thought}", *lines, f"{ORDER} ({order})"])
