"""A gate before the steps of one node, for a debugger: all other nodes keep their plain call.

A node that is gated has a `step` attribute of its own, so the tick pays nothing for nodes without a gate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

Step = Callable[..., Status]
StepGate = Callable[..., Status]  # called with the step that it stands before, and what that is given


class _Steps:
    """Replaces the `step` of a gated node."""

    def __init__(self, node: Behaviour) -> None:
        self.node = node
        self.own: Step | None = vars(node).get("step")  # a foreign node has one already
        self.gates: tuple[StepGate, ...] = ()

    def __call__(self, *given: Any) -> Status:
        cls: Any = type(self.node)
        step: Step = self.own if self.own is not None else partial(cls.step, self.node)
        for gate in reversed(self.gates):
            step = partial(gate, step)
        return step(*given)


def gate_steps(node: Behaviour, gate: StepGate) -> Callable[[], None]:
    """Puts a gate before each step of the node, inside those that are there. Returns a function that removes it."""
    own = vars(node)
    found = own.get("step")
    steps = found if isinstance(found, _Steps) else _Steps(node)
    if steps is not found:
        own["step"] = steps
        if getattr(node, "resumes", False):
            own["resumes"] = False  # the tick must not pass the node by on the way to its running child
    steps.gates = (*steps.gates, gate)

    def remove() -> None:
        steps.gates = tuple(each for each in steps.gates if each is not gate)
        if steps.gates or own.get("step") is not steps:
            return
        if steps.own is not None:
            own["step"] = steps.own
        else:
            del own["step"]
            own.pop("resumes", None)

    return remove
