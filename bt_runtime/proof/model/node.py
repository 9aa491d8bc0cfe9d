"""The base class of the model's nodes: each has its kind's rules from `tree/nodes/`, on numbered slots."""

from __future__ import annotations

from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.scope import ModelScope
from bt_runtime.proof.model.tick import BAD, OK, RUN, SKIP, UNKNOWN, UNKNOWN_VALUE, Tick


class ModelNode:
    """`i`: the slot of its status. A node that no property asks about stores only whether it is running."""

    __slots__ = ("children", "i", "path", "scope", "shown", "spec")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        self.spec = spec
        self.scope = scope
        self.path = path
        self.children: list[Any] = []
        self.shown = False  # does anybody ask for its status, or for one below
        self.i = scope.model.slot()

    def step(self, t: Tick) -> int:
        raise NotImplementedError

    def halted(self, t: Tick) -> None:
        """Handles a halt, after the children, like `terminate`."""

    def leave(self, t: Tick, status: int) -> int:
        t.s[self.i] = status if self.shown or status == RUN else SKIP
        return status

    def halt(self, t: Tick) -> None:
        if t.s[self.i] == RUN:
            for child in self.children:
                child.halt(t)
            self.halted(t)
            t.s[self.i] = SKIP

    def reset(self, t: Tick) -> None:
        """Forgets the results that are shown here and below."""
        if self.shown and t.s[self.i] != SKIP:
            t.s[self.i] = SKIP
            for child in self.children:
                child.reset(t)

    def clear(self, t: Tick, start: int) -> None:
        if self.shown:
            for child in self.children[start:]:
                child.reset(t)

    def value(self, t: Tick, field: str) -> Any:
        """Returns the field's present value; UNKNOWN when only a run knows it. Raises as the engine's node does."""
        return self.scope.value(t, self.spec, field)

    def number(self, t: Tick, field: str) -> Any:
        """Returns a number; an unknown one is reported, because the model cannot continue with it."""
        found = self.value(t, field)
        if found is UNKNOWN_VALUE:
            t.model.doubt(f"`{field}` of {self.path} is computed from what only a run knows")
            return 1
        return found

    def holds(self, t: Tick, field: str) -> bool:
        """Returns the result of a test; for an unknown one, both results are tried."""
        found = self.value(t, field)
        if found is UNKNOWN_VALUE:
            return bool(t.choose(2))
        return bool(found)

    def unseen(self, t: Tick, status: int) -> None:
        """Where only the result of a part is known: a failure may come from a node that broke, if a `try` asks."""
        if status == BAD and t.model.breaks and t.choose(2):
            self.crash(t)

    def crash(self, t: Tick) -> int:
        t.crashed += 1
        t.note("crash", self.path)
        return BAD


Faults = (BtError, ArithmeticError, LookupError, TypeError, ValueError)  # what breaks a node
__all__ = ["BAD", "OK", "RUN", "SKIP", "UNKNOWN", "UNKNOWN_VALUE", "Faults", "ModelNode", "Tick"]
