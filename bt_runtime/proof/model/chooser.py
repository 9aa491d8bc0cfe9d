"""Models of nodes that tick one child at a time: branches, guards and decorators, as `Chooser.step` does."""

from __future__ import annotations

from typing import Any

from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.node import BAD, OK, RUN, SKIP, UNKNOWN_VALUE, Faults, ModelNode, Tick
from bt_runtime.proof.model.scope import ModelScope

ELSE = {"failure": BAD, "success": OK, "skip": SKIP, "running": RUN}


class Chooser(ModelNode):
    """`choose` names a child or a status, `conclude` turns the child's result into ours, or names the next child."""

    __slots__ = ("active",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.active = scope.model.slot()  # the child that is running, from 1

    def choose(self, t: Tick) -> Any:
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        return status

    def ended(self, t: Tick) -> None:
        """Forgets what no later start reads."""

    def ask(self, t: Tick, field: str) -> int:
        if field in self.spec.values:
            return OK if self.holds(t, field) else BAD
        asked = self.children[self.spec.places.index(field)]
        return int(asked.step(t))

    def branch(self, place: str) -> Any:
        return self.children[self.spec.places.index(place)] if place in self.spec.places else None

    def step(self, t: Tick) -> int:
        s = t.s
        try:
            turn = self.choose(t)
            while not isinstance(turn, int):
                at = self.children.index(turn) + 1
                if s[self.active] and s[self.active] != at:
                    self.children[s[self.active] - 1].halt(t)
                status = turn.step(t)
                s[self.active] = at if status == RUN else 0
                turn = self.conclude(t, status)
        except Faults:
            turn = self.crash(t)
        if turn != RUN:
            if s[self.active]:
                self.children[s[self.active] - 1].halt(t)
                s[self.active] = 0
            self.ended(t)
        return self.leave(t, turn)

    def halted(self, t: Tick) -> None:
        t.s[self.active] = 0
        self.ended(t)


class If(Chooser):
    __slots__ = ("taken",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.taken = scope.model.slot()  # 1: then, 2: else

    def choose(self, t: Tick) -> Any:
        s = t.s
        if s[self.i] != RUN:
            s[self.taken] = 0
        if not s[self.taken]:
            answer = self.ask(t, "check")
            if answer == RUN:
                return RUN
            s[self.taken] = 1 if answer == OK else 2
        return self.branch("then" if s[self.taken] == 1 else "else") or BAD

    def ended(self, t: Tick) -> None:
        t.s[self.taken] = 0


class While(Chooser):
    __slots__ = ()

    def choose(self, t: Tick) -> Any:
        answer = self.ask(t, "check")
        if answer == RUN:
            return RUN
        return self.branch("do" if answer == OK else "else") or BAD


class Switch(Chooser):
    __slots__ = ()

    def choose(self, t: Tick) -> Any:
        if "on" in self.spec.values:
            found = self.value(t, "on")
            if found is UNKNOWN_VALUE:
                places = [p for p in self.spec.places if p.startswith("cases:") or p == "default"]
                at = t.choose(len(places) + 1)
                return self.branch(places[at]) if at < len(places) else BAD
            case = "null" if found is None else str(found).lower() if isinstance(found, bool) else str(found)
        else:
            answer = self.ask(t, "on")
            if answer == RUN:
                return RUN
            case = ("invalid", "running", "success", "failure")[answer]
        return self.branch(f"cases:{case}") or self.branch("default") or BAD


DO, CATCH, FINALLY = "do", "catch", "finally"
_PLACES = (DO, CATCH, FINALLY)


class Try(Chooser):
    __slots__ = ("at", "broke", "result")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        slot = scope.model.slot
        self.at, self.result, self.broke = slot(), slot(), slot()

    def step(self, t: Tick) -> int:
        before = t.crashed
        s = t.s
        try:
            if s[self.i] != RUN:
                s[self.at] = s[self.broke] = 0
                t.note("try", self.path)
            turn: Any = self.branch(_PLACES[s[self.at]])
            while not isinstance(turn, int):
                at = self.children.index(turn) + 1
                if s[self.active] and s[self.active] != at:
                    self.children[s[self.active] - 1].halt(t)
                status = turn.step(t)
                s[self.active] = at if status == RUN else 0
                if t.crashed > before and s[self.at] == 0:
                    s[self.broke] = 1
                turn = self.conclude(t, status)
        except Faults:
            turn = self.crash(t)
        if turn != RUN:
            if s[self.active]:
                self.children[s[self.active] - 1].halt(t)
                s[self.active] = 0
            self.ended(t)
        return self.leave(t, turn)

    def conclude(self, t: Tick, status: int) -> Any:
        s = t.s
        if status == RUN:
            return RUN
        if s[self.at] == 2:
            return s[self.result]
        if s[self.at] == 0 and status == BAD and self.branch(CATCH) is not None:
            broke = bool(s[self.broke]) and t.raised(self)
            if broke or self.spec.values["on"] != "exception":
                return self.caught(t)
        if self.branch(FINALLY) is not None and not (s[self.at] == 0 and status == SKIP):
            s[self.at], s[self.result] = 2, status
            return self.branch(FINALLY)
        return status

    def caught(self, t: Tick) -> Any:
        self.scope.write(t, str(self.spec.values["as"]), UNKNOWN_VALUE)
        t.urgent = True  # the entry has changed
        t.s[self.at] = 1
        return self.branch(CATCH)

    def ended(self, t: Tick) -> None:
        t.s[self.at] = t.s[self.result] = t.s[self.broke] = 0

    def halted(self, t: Tick) -> None:
        s = t.s
        s[self.active] = 0
        todo = []
        if s[self.at] == 0 and self.spec.values["on"] == "any" and self.branch(CATCH) is not None:
            todo.append(self.caught(t))
        if s[self.at] != 2 and self.branch(FINALLY) is not None:
            todo.append(self.branch(FINALLY))
        for child in todo:
            child.step(t)
            child.halt(t)
        self.ended(t)


class Recovery(Chooser):
    __slots__ = ("recovered", "recovering", "times")

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        slot = scope.model.slot
        self.recovering, self.recovered, self.times = slot(), slot(), slot()

    def choose(self, t: Tick) -> Any:
        s = t.s
        if s[self.i] != RUN:
            s[self.recovering] = s[self.recovered] = 0
            s[self.times] = self.number(t, "times")
        return self.branch("recover" if s[self.recovering] else "do")

    def conclude(self, t: Tick, status: int) -> Any:
        s = t.s
        if status == RUN:
            return RUN
        if s[self.recovering]:
            s[self.recovering] = 0
            if status != OK:
                return BAD
            if s[self.times] >= 0:
                s[self.recovered] += 1
            t.urgent = True
            return RUN
        if status != BAD or 0 <= s[self.times] <= s[self.recovered]:
            return status
        s[self.recovering] = 1
        return self.branch("recover")

    def ended(self, t: Tick) -> None:
        t.s[self.recovering] = t.s[self.recovered] = t.s[self.times] = 0


class Precondition(Chooser):
    __slots__ = ()

    def choose(self, t: Tick) -> Any:
        if t.s[self.active]:
            return self.children[0]
        answer = self.ask(t, "if")
        if answer == RUN:
            return RUN
        return self.children[0] if answer == OK else ELSE[str(self.spec.values["else"])]


class SkipUnless(Chooser):
    __slots__ = ("mark",)

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        self.mark = scope.model.mark(scope.slot(str(spec.values["updated"])))

    def choose(self, t: Tick) -> Any:
        if not t.s[self.active]:
            if not t.s[self.mark]:
                return SKIP
            t.s[self.mark] = 0
        return self.children[0]


class Guard(Chooser):
    __slots__ = ()

    def choose(self, t: Tick) -> Any:
        for field, wanted in (("when", True), ("unless", False)):
            if field in self.spec.values or field in self.spec.places:
                answer = self.ask(t, field)
                if answer == RUN:
                    return RUN
                if (answer == OK) is not wanted:
                    if t.s[self.active]:
                        self.children[t.s[self.active] - 1].halt(t)
                        t.s[self.active] = 0
                        self.assign(t, "on_halt")
                    return SKIP
        return self.children[0]

    def conclude(self, t: Tick, status: int) -> Any:
        if status == OK:
            self.assign(t, "on_success")
            self.assign(t, "on_end")
        elif status == BAD:
            self.assign(t, "on_failure")
            self.assign(t, "on_end")
        return status

    def halted(self, t: Tick) -> None:
        t.s[self.active] = 0
        try:
            self.assign(t, "on_halt")
        except Faults:
            t.crashed += 1

    def assign(self, t: Tick, field: str) -> None:
        if field in self.spec.values:
            self.scope.assign(t, self.spec.values[field])
