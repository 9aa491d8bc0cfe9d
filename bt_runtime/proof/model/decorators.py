"""Models of decorators: repetition, changed results, and time."""

from __future__ import annotations

from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.chooser import ELSE, Chooser
from bt_runtime.proof.model.leaves import Any_
from bt_runtime.proof.model.node import BAD, OK, RUN, SKIP, UNKNOWN_VALUE, ModelNode, Tick
from bt_runtime.proof.model.scope import ModelScope


class Counted(Chooser):
    """retry and repeat."""

    __slots__ = ("again", "count", "times")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.again = BAD if spec.kind.name == "retry" else OK
        self.count, self.times = scope.model.slot(), scope.model.slot()

    def choose(self, t: Tick) -> Any:
        s = t.s
        if s[self.i] != RUN:
            s[self.count], times = 0, self.value(t, "times")
            if times is UNKNOWN_VALUE:
                times = -2  # any number: each round may be the last
            elif times < -1:
                raise BtError(
                    "`times` takes a whole number from 1, or -1 for ever", "what is computed for it must give one"
                )
            s[self.times] = times
            if times == 0 or (times == -2 and t.choose(2)):
                return self.again
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        if status != self.again:
            return status
        s = t.s
        if s[self.times] >= 0:
            s[self.count] += 1
            if s[self.times] <= s[self.count]:
                return status
        elif s[self.times] == -2 and t.choose(2):
            return status
        next_round(self, t)
        return RUN

    def ended(self, t: Tick) -> None:
        t.s[self.count] = t.s[self.times] = 0


def next_round(node: Chooser, t: Tick) -> None:
    """Schedules the next tick: at once, or when the child wakes."""
    clocks = _idle(node.children[0], t)
    if clocks:
        for clock in clocks:
            t.wake(clock)
    elif not _open(node.children[0]):
        t.urgent = True


def _idle(node: ModelNode, t: Tick) -> list[int]:
    """Returns the clocks before which a node started now would do nothing; none when it acts at once."""
    if isinstance(node, Rate):
        return [node.clock] if not t.s[node.active] and t.s[node.clock] else []
    found = [_idle(child, t) for child in node.children]
    return [clock for each in found for clock in each] if found and all(found) else []


def _open(node: ModelNode) -> bool:
    """True when the node has a part of which only results are known: the time of its next tick is then unknown."""
    return isinstance(node, Any_) or any(map(_open, node.children))


class UntilFailure(Chooser):
    __slots__ = ()

    def conclude(self, t: Tick, status: int) -> Any:
        if status == BAD:
            return OK
        if status == OK:
            next_round(self, t)
            return RUN
        return status


class ForEach(Chooser):
    """`items` numbers the remaining items of a given list; for an entry, it holds the remaining list."""

    __slots__ = ("due", "items", "passed")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        slot = scope.model.slot
        self.items, self.due, self.passed = slot(), slot(), slot()

    def choose(self, t: Tick) -> Any:
        s, values = t.s, self.spec.values
        if s[self.i] != RUN:
            s[self.passed], s[self.due] = 0, 1
            found = [] if "from" in values else self.value(t, "in")
            s[self.items] = 0 if found is UNKNOWN_VALUE else t.model.number(tuple(found))
            if not self.left(t):
                return ELSE[str(values["empty"])]
        if s[self.due]:
            if not self.left(t):
                return self.verdict(t)
            item = self.pop(t)
            s[self.due] = 0
            self.scope.write(t, str(values["as"]), item)
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        s = t.s
        if status not in (OK, SKIP):
            return status
        s[self.passed] = s[self.passed] or int(status == OK)
        if not self.left(t):
            return self.verdict(t)
        s[self.due] = 1
        next_round(self, t)
        return RUN

    def verdict(self, t: Tick) -> int:
        return OK if t.s[self.passed] else SKIP

    def left(self, t: Tick) -> bool:
        found = self.listed(t)
        return bool(t.choose(2)) if found is None else bool(found)

    def listed(self, t: Tick) -> Any:
        """Returns the remaining items; None when only a run knows them."""
        source = self.spec.values.get("from")
        if source is None:
            return t.model.values[t.s[self.items]] if t.s[self.items] else None
        found = t.read(self.scope.slot(str(source)))
        value = t.model.values[found] if found > 2 else None if found else ()
        if value is not None and not isinstance(value, list | tuple):
            raise BtError("`from` takes an entry with a list", "name an entry that holds one")
        return value

    def pop(self, t: Tick) -> Any:
        source, found = self.spec.values.get("from"), self.listed(t)
        if found is None:
            return UNKNOWN_VALUE
        first, *rest = found
        if source is None:
            t.s[self.items] = t.model.number(tuple(rest))
        else:
            self.scope.write(t, str(source), rest)
        return first

    def ended(self, t: Tick) -> None:
        t.s[self.items] = t.s[self.due] = t.s[self.passed] = 0


class Invert(Chooser):
    __slots__ = ()

    def conclude(self, t: Tick, status: int) -> Any:
        return BAD if status == OK else OK if status == BAD else status


class Force(Chooser):
    __slots__ = ()

    def conclude(self, t: Tick, status: int) -> Any:
        if status in (OK, BAD):
            return OK if self.spec.values["status"] == "success" else BAD
        return status


class Once(Chooser):
    __slots__ = ("result",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.result = scope.model.slot()

    def choose(self, t: Tick) -> Any:
        if not t.s[self.result]:
            return self.children[0]
        return t.s[self.result] if self.spec.values["then"] == "result" else SKIP

    def conclude(self, t: Tick, status: int) -> Any:
        if status in (OK, BAD):
            t.s[self.result] = status
        return status


class Pass(Chooser):
    """A decorator that only ticks its child, such as `episode`."""

    __slots__ = ()


class Grown(Chooser):
    """A node that has grown its child, and runs as long as the child does. `ends`: what it returns when that succeeds,
    and when it fails; RUN: it goes on with another part, which is left out."""

    __slots__ = ("ends",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.ends = tuple(spec.values.get("ends") or (OK, BAD))

    def conclude(self, t: Tick, status: int) -> Any:
        return {OK: self.ends[0], BAD: self.ends[1]}.get(status, status)


class Replaced(ModelNode):
    """The second child has taken the place of the first, which was halted."""

    __slots__ = ()

    def step(self, t: Tick) -> int:
        return self.leave(t, int(self.children[1].step(t)))


class Timeout(Chooser):
    __slots__ = ("clock",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.clock = scope.model.slot()

    def choose(self, t: Tick) -> Any:
        if t.s[self.i] != RUN:
            t.start(self.clock, self.number(t, "seconds"))
        elif t.over(self.clock):
            return BAD
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        if status == RUN:
            if t.s[self.clock]:
                t.wake(self.clock)
            else:
                t.urgent = True
        return status

    def ended(self, t: Tick) -> None:
        t.stop(self.clock)


class Delay(Chooser):
    __slots__ = ("clock",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.clock = scope.model.slot()

    def choose(self, t: Tick) -> Any:
        if t.s[self.i] != RUN:
            t.start(self.clock, self.number(t, "seconds"))
        if not t.s[self.active] and not t.over(self.clock):
            t.wake(self.clock)
            return RUN
        return self.children[0]

    def ended(self, t: Tick) -> None:
        t.stop(self.clock)


class Rate(Chooser):
    __slots__ = ("clock", "last")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.clock, self.last = scope.model.slot(), scope.model.slot()

    def choose(self, t: Tick) -> Any:
        s = t.s
        if not s[self.active]:
            if not t.over(self.clock):
                t.wake(self.clock)
                between = ELSE.get(str(self.spec.values["else"]))
                return s[self.last] if between is None else between
            t.start(self.clock, 1.0 / self.number(t, "hz"))
            s[self.last] = RUN
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        t.s[self.last] = status
        return status
