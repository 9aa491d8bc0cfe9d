"""Models of leaves: tests, entries, waits, subtrees, and leaves of which only the results are known."""

from __future__ import annotations

from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.proof.model.chooser import Chooser
from bt_runtime.proof.model.node import BAD, OK, RUN, SKIP, UNKNOWN, UNKNOWN_VALUE, Faults, ModelNode, Tick
from bt_runtime.proof.model.scope import ModelScope
from bt_runtime.proof.model.tick import UNSET


class Leaf(ModelNode):
    __slots__ = ()

    def step(self, t: Tick) -> int:
        try:
            status = self.update(t)
        except Faults:
            status = self.crash(t)
        return self.leave(t, status)

    def update(self, t: Tick) -> int:
        return OK


class Check(Leaf):
    __slots__ = ("mark",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        updated = spec.values.get("updated")
        self.mark = scope.model.mark(scope.slot(str(updated))) if updated is not None else 0

    def update(self, t: Tick) -> int:
        if self.mark:
            news, t.s[self.mark] = t.s[self.mark], 0
            if not news:
                return BAD
            if "expr" not in self.spec.values:
                return OK
        return OK if self.holds(t, "expr") else BAD


class Set(Leaf):
    __slots__ = ()

    def update(self, t: Tick) -> int:
        self.scope.assign(t, self.spec.values["values"])
        return OK


class Unset(Leaf):
    __slots__ = ()

    def update(self, t: Tick) -> int:
        t.write(self.scope.slot(str(self.spec.values["entry"])), UNSET)
        return OK


class Log(Leaf):
    __slots__ = ()

    def update(self, t: Tick) -> int:
        self.value(t, "text")
        return OK


class Fail(Leaf):
    __slots__ = ()

    def update(self, t: Tick) -> int:
        self.value(t, "why")
        return BAD


class Wait(ModelNode):
    __slots__ = ("clock", "mark")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.clock = scope.model.slot() if "seconds" in spec.values else 0
        updated = spec.values.get("updated")
        self.mark = scope.model.mark(scope.slot(str(updated))) if updated is not None else 0

    def step(self, t: Tick) -> int:
        try:
            if t.s[self.i] != RUN and self.clock:
                t.start(self.clock, self.number(t, "seconds"))
            status = self.update(t)
        except Faults:
            status = self.crash(t)
        if status != RUN and self.clock:
            t.stop(self.clock)
        return self.leave(t, status)

    def update(self, t: Tick) -> int:
        values = self.spec.values
        conditional = "until" in values or "updated" in values
        if conditional and (not self.mark or t.s[self.mark]) and ("until" not in values or self.holds(t, "until")):
            if self.mark:
                t.s[self.mark] = 0
            return OK
        if self.clock and t.over(self.clock):
            return BAD if conditional else OK
        if self.clock:
            t.wake(self.clock)
        return RUN

    def halted(self, t: Tick) -> None:
        if self.clock:
            t.stop(self.clock)


class Subtree(Chooser):
    """`inner`: the scope of the included tree. A tree that contains itself is expanded one tick after it was
    reached."""

    __slots__ = ("grown", "grows", "inner", "tree")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.grows = spec.subtree is None
        tree = spec.subtree or spec.again
        assert tree is not None
        self.tree: TreeSpec = tree
        self.inner = ModelScope(scope.model, tree, path, scope)
        self.inner.open = bool(spec.values.get("autoremap"))
        self.inner.shared_entries(spec.values.get("with") or {})
        self.grown = scope.model.slot() if self.grows else 0  # 1: asked for, 2: there

    def choose(self, t: Tick) -> Any:
        s = t.s
        fresh = s[self.i] != RUN
        if self.grows and not s[self.grown]:
            s[self.grown] = 1
            t.urgent = True
            return RUN
        if fresh or (self.grows and s[self.grown] == 1):
            if self.grows:
                s[self.grown] = 2
            self.enter(t)
        return self.children[0]

    def enter(self, t: Tick) -> None:
        inner, tree = self.inner, self.tree
        inner.clear(t, tree.entries)
        given = self.spec.values.get("with") or {}
        for name, port in tree.ports.items():
            if name in inner.shared:
                self.seed(t, name, port)
            elif name in given:
                inner.write(t, name, self.scope.evaluate(t, given[name]))
            elif not port.required and t.read(inner.slot(name)) == UNSET:
                inner.write(t, name, port.default)

    def seed(self, t: Tick, name: str, port: Any) -> None:
        number = t.read(self.inner.slot(name))
        if number != UNSET:
            if name in self.tree.inputs and number != UNKNOWN:
                ports.check(port, t.model.values[number])
        elif not port.required and name in self.tree.outputs:
            t.write(self.inner.slot(name), t.model.number(port.default))


class Mismatch(BaseException):
    """Raised when a steered part returns another result than required: these choices are discarded."""


class Gate(ModelNode):
    """Requires that a part returns in each tick what a story says."""

    __slots__ = ()

    def step(self, t: Tick) -> int:
        wanted = t.model.wanted.get(self.path)
        before, t.hint = t.hint, wanted or 0
        status = int(self.children[0].step(t))
        t.hint = before
        if wanted is not None and status != wanted:
            raise Mismatch
        return self.leave(t, status)


class Any_(ModelNode):
    """A part with unknown behaviour: it may return any of its results and write any of its entries at any time."""

    __slots__ = ("merged", "results", "writes")

    def __init__(
        self, spec: NodeSpec, scope: ModelScope, path: str, results: tuple[int, ...], writes: list[int]
    ) -> None:
        super().__init__(spec, scope, path)
        self.merged = 1  # neighbours that it stands for
        self.results = results
        self.writes = writes

    def step(self, t: Tick) -> int:
        status = self.results[t.choose(len(self.results))] if len(self.results) > 1 else self.results[0]
        for slot in self.writes:
            t.write(slot, UNKNOWN)
        self.unseen(t, status)
        t.note("any", self.path, status)
        return self.leave(t, status)

    def halted(self, t: Tick) -> None:
        for slot in self.writes:
            t.write(slot, UNKNOWN)


__all__ = ["SKIP", "UNKNOWN_VALUE", "Any_", "Check", "Fail", "Gate", "Leaf", "Log", "Set", "Subtree", "Unset", "Wait"]
