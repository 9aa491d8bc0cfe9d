"""Models of control nodes: in order, reactive, parallel, and those of mobile robots."""

from __future__ import annotations

from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.node import BAD, OK, RUN, SKIP, Faults, ModelNode, Tick
from bt_runtime.proof.model.scope import ModelScope


class InOrder(ModelNode):
    """sequence, fallback, sequence_with_memory."""

    __slots__ = ("at", "keeps", "onward", "passed", "yields")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.onward = BAD if spec.kind.name == "fallback" else OK
        self.keeps = spec.kind.name == "sequence_with_memory"
        self.yields = bool(spec.values.get("yield"))
        self.at, self.passed = scope.model.slot(), scope.model.slot()

    def step(self, t: Tick) -> int:
        s = t.s
        first = s[self.at]
        if s[self.i] != RUN and not (self.keeps and first):
            first = s[self.passed] = 0
        children, onward = self.children, self.onward
        for at in range(first, len(children)):
            status = children[at].step(t)
            if status == onward:
                s[self.passed] = 1
                if self.yields and at + 1 < len(children):
                    self.clear(t, at + 1)
                    s[self.at] = at + 1
                    t.urgent = True
                    return self.leave(t, RUN)
            elif status != SKIP:
                self.clear(t, at + 1)
                s[self.at] = at if status == RUN or self.keeps else 0
                if status != RUN and not self.keeps:
                    s[self.passed] = 0
                return self.leave(t, status)
        s[self.at] = 0
        passed, s[self.passed] = s[self.passed], 0
        if not children:
            return self.leave(t, onward)
        return self.leave(t, onward if passed else SKIP)

    def halted(self, t: Tick) -> None:
        t.s[self.at] = 0
        t.s[self.passed] = 0


class Reactive(ModelNode):
    __slots__ = ("onward", "runner")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.onward = OK if spec.kind.name == "reactive_sequence" else BAD
        self.runner = scope.model.slot()  # the child that was running, from 1

    def step(self, t: Tick) -> int:
        passed = False
        for at, child in enumerate(self.children):
            status = child.step(t)
            if status == self.onward:
                passed = True
            elif status != SKIP:
                self.turn_to(t, at + 1 if status == RUN else 0, at)
                return self.leave(t, status)
        self.turn_to(t, 0, len(self.children) - 1)
        return self.leave(t, self.onward if passed or not self.children else SKIP)

    def turn_to(self, t: Tick, runner: int, at: int) -> None:
        before, t.s[self.runner] = t.s[self.runner], runner
        if before and before != runner:
            self.children[before - 1].halt(t)
        self.clear(t, at + 1)

    def halted(self, t: Tick) -> None:
        t.s[self.runner] = 0


class Parallel(ModelNode):
    __slots__ = ("failure", "in_turn", "results", "success", "to_the_end")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        slot = scope.model.slot
        self.in_turn = spec.values.get("order") == "in_turn"
        self.to_the_end = self.in_turn or bool(spec.values.get("wait_all"))
        self.success, self.failure = slot(), slot()
        self.results = [slot() for _ in spec.children]  # 0: none yet, else the status and 1

    def step(self, t: Tick) -> int:
        s = t.s
        try:
            if s[self.i] != RUN:
                self.clear(t, 0)
                self.forget(t)
                s[self.success], s[self.failure] = self.number(t, "success"), self.number(t, "failure")
            status = self.tick_children(t)
        except Faults:
            status = self.crash(t)
        if status != RUN:
            for child in self.children:
                child.halt(t)
            self.forget(t)
        return self.leave(t, status)

    def forget(self, t: Tick) -> None:
        for slot in (*self.results, self.success, self.failure):
            t.s[slot] = 0

    def tick_children(self, t: Tick) -> int:
        s, results, total = t.s, self.results, len(self.children)
        ended = [s[slot] - 1 for slot in results if s[slot]]
        good, bad, skipped = ended.count(OK), ended.count(BAD), ended.count(SKIP)
        need, most = self.limits(t, total)
        for child, slot in zip(self.children, results, strict=True):
            if s[slot]:
                continue
            status = child.step(t)
            if status == RUN:
                if self.in_turn:
                    return RUN
            elif status == SKIP:
                skipped += 1
                if self.in_turn:
                    s[slot] = status + 1
            else:
                s[slot] = status + 1
                good, bad = good + (status == OK), bad + (status == BAD)
                if not self.to_the_end and (good >= need or bad >= most):
                    return OK if good >= need else BAD
        return self.verdict(t, good, bad, total - skipped)

    def verdict(self, t: Tick, good: int, bad: int, total: int) -> int:
        if not total:
            return SKIP if self.children else OK
        if self.to_the_end and good + bad < total:
            return RUN
        need, most = self.limits(t, total)
        if good >= need:
            return OK
        return BAD if self.to_the_end or bad >= most else RUN

    def limits(self, t: Tick, total: int) -> tuple[int, int]:
        need = _threshold(t.s[self.success], total)
        return need, min(_threshold(t.s[self.failure], total), total - need + 1)

    def halted(self, t: Tick) -> None:
        self.forget(t)


def _threshold(count: int, total: int) -> int:
    return max(0, min(total, count if count >= 0 else total + 1 + count))


class Pipeline(ModelNode):
    __slots__ = ("reached",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.reached = scope.model.slot()

    def step(self, t: Tick) -> int:
        s = t.s
        if s[self.i] != RUN:
            s[self.reached] = 0
            self.clear(t, 0)
        last, at = SKIP, -1
        for at, child in enumerate(self.children):
            status = child.step(t)
            if status != SKIP:
                last = status
            if status == BAD or (status == RUN and at >= s[self.reached]):
                break
        s[self.reached] = max(s[self.reached], at)
        if not self.children:
            last = OK
        if last != RUN:
            for child in self.children:
                child.halt(t)
            s[self.reached] = 0
        return self.leave(t, last)

    def halted(self, t: Tick) -> None:
        t.s[self.reached] = 0


class RoundRobin(ModelNode):
    __slots__ = ("at", "failed", "tried")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        slot = scope.model.slot
        self.at, self.failed, self.tried = slot(), slot(), slot()

    def step(self, t: Tick) -> int:
        s, total = t.s, len(self.children)
        if s[self.i] != RUN:
            s[self.tried] = s[self.failed] = 0
            self.clear(t, 0)
        while s[self.tried] < total:
            s[self.at] %= total
            status = self.children[s[self.at]].step(t)
            if status == RUN:
                return self.leave(t, RUN)
            s[self.at] += 1
            s[self.tried] += 1
            if status == OK:
                s[self.at] %= total
                s[self.tried] = s[self.failed] = 0
                return self.leave(t, OK)
            s[self.failed] = s[self.failed] or int(status == BAD)
        failed, s[self.at], s[self.tried], s[self.failed] = s[self.failed], 0, 0, 0
        return self.leave(t, BAD if failed or not total else SKIP)

    def halted(self, t: Tick) -> None:
        t.s[self.at] = t.s[self.tried] = t.s[self.failed] = 0
