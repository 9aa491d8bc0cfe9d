"""Planners that are installed: whoever makes the plans of a node instead of its model, or mends what its model wrote.

`by: backchaining` names an entry point of the group `bt_runtime.planners`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bt_runtime.agents.kinds.checks import MODEL
from bt_runtime.language.project import plugins
from bt_runtime.tree.node import Node

BACKCHAINING = "backchaining"  # ours
WANTED = "an object with `mends`, `plan` and `reached`"

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec


class Made(NamedTuple):
    """A plan: the YAML to graft, its actions as people read them, one a line, and how many there are."""

    text: str
    told: str
    steps: int


class Planner(Protocol):
    mends: bool  # the model writes a plan first, and the planner mends it

    def plan(self, node: Any, goal: str, proposed: str = "") -> Made:
        """Makes the plan for facts from the present state on; `node` is the one that grows. Raises BtError where there
        is none."""

    def reached(self, node: Any, goal: str) -> bool:
        """True when the facts of the goal hold now."""


class Telling(Protocol):
    """What our own planner tells besides."""

    def examples(self, node: Any, count: int) -> list[Any]:
        """Worked examples of the node's skills, at most so many: each has `acts`, `story()` and `expansion()`."""

    def meanings(self, node: Any) -> list[list[str]]:
        """For each part of the node's goal the facts that it may mean."""


def planner_of(node: Node) -> Planner | None:
    """The planner that the node names; None where its model writes its plans."""
    name = str(node.spec.values.get("by", MODEL))
    return None if name == MODEL else named(name)


def does_without(spec: NodeSpec) -> bool:
    """True for a `plan` whose planner asks no model."""
    by = str(spec.values.get("by", MODEL))
    return spec.kind.name == "plan" and by != MODEL and not named(by).mends


@lru_cache(maxsize=16)
def named(name: str) -> Planner:
    def fits(found: object) -> bool:
        return all(hasattr(found, part) for part in ("mends", "plan", "reached"))

    planner: Planner = plugins.load(plugins.named(name, "planners", MODEL), WANTED, fits)
    return planner


def telling() -> Telling:
    found: Any = named(BACKCHAINING)
    told: Telling = found
    return told
