"""The node `holds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.agents.actions import known_skills
from bt_runtime.agents.backchain.brought import brought_in
from bt_runtime.agents.facts import Facts
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, SUCCESS, Node

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


class Holds(Node):
    STATE, CACHES = ("brought",), ("told",)
    looks_outside = True  # the world decides, of which a proof knows nothing

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.brought = brought_in(context)
        self.told: Facts | None = None

    def setup(self, **kwargs: Any) -> None:
        """Learns the tree's skills before the first of them is done."""
        super().setup(**kwargs)
        self.brought.know(known_skills(self))  # type: ignore[arg-type]

    def update(self) -> Status:
        if self.told is None:
            kinds = known_skills(self)  # type: ignore[arg-type]
            self.brought.know(kinds)
            self.told = Facts(self, kinds)
        fact = str(self.value("fact"))
        self.told.forget()
        known = self.told.holds(fact, {})
        if known is None:
            known = self.brought.holds(fact)
        if known is None:
            known = bool(self.value("otherwise"))
            self.feedback_message = "nothing can tell"
        else:
            self.feedback_message = ""
        return SUCCESS if known else FAILURE
