"""Models of skills: each start ends as its contract allows, with any of its outputs. Agents may do anything allowed."""

from __future__ import annotations

from itertools import product
from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.properties.atom import Watch
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.contract import contract_of
from bt_runtime.proof.model.node import BAD, OK, RUN, SKIP, UNKNOWN, UNKNOWN_VALUE, Faults, ModelNode, Tick
from bt_runtime.proof.model.scope import ModelScope

BREAKS = -1  # the result of a skill that raises


class Skill(ModelNode):
    __slots__ = ("contract", "entry", "first", "holds_it", "instant", "name", "number_", "outputs", "results",
                 "taken", "watches")  # fmt: skip

    def __init__(self, spec: NodeSpec, scope: ModelScope, path: str) -> None:
        super().__init__(spec, scope, path)
        model = scope.model
        self.entry = spec.kind.data["entry"]
        self.name = spec.kind.name
        self.instant = bool(self.entry.instant)
        self.taken = [f for f in spec.kind.fields if not f.writes and f.name in spec.values]
        wired = [f for f in spec.kind.fields if f.writes and f.name in spec.values]
        slots = [scope.slot(spec.values[f.name].text.strip()) for f in wired]
        self.outputs = [(f, slot) for f, slot in zip(wired, slots, strict=True)]
        goods: list[tuple[int, Any]] = [(OK, ())]
        if wired:
            domains = [model.domain(field, slot) for field, slot in self.outputs]
            goods = [(OK, made) for made in product(*domains)]
        self.results: list[tuple[int, Any]] = [*([] if self.instant else [(RUN, ())]), *goods, (BAD, ())]
        if model.breaks:
            self.results.append((BREAKS, ()))
        self.holds_it = model.slot() if self.entry.uses else 0
        limited = self.entry.agent_options.at_most is not None
        self.number_ = model.count(self.entry.impl, self.entry.sentence) if limited else 0
        self.first = {s: next((i for i, r in enumerate(self.results) if r[0] == s), 0) for s in (RUN, OK, BAD)}
        self.contract = contract_of(spec, scope)
        self.watches: list[tuple[Watch, int]] = []  # those with a condition, and the slot of the last start's answer

    def watch(self, watch: Watch) -> int:
        """Returns the slot that marks whether the last start matches an atom."""
        slot = self.scope.model.slot()
        self.watches.append((watch, slot))
        return slot

    def step(self, t: Tick) -> int:
        s = t.s
        try:
            fresh = s[self.i] != RUN
            if fresh or (self.holds_it and not s[self.holds_it]):
                if self.holds_it and not self.free(t):
                    return self.leave(t, RUN)
                if not self.begin(t):
                    return self.leave(t, BAD)
            status = self.poll(t)
        except Faults:
            status = self.crash(t)
        if status != RUN:
            self.release(t)
        return self.leave(t, status)

    def release(self, t: Tick) -> None:
        if self.holds_it:
            t.s[self.holds_it] = 0
        if self.contract is not None:
            t.s[self.contract.met] = 0

    def free(self, t: Tick) -> bool:
        held = t.model.holders
        return not any(t.s[slot] and set(names) & set(self.entry.uses) for slot, names in held if slot != self.holds_it)

    def begin(self, t: Tick) -> bool:
        given = {f.name: self.value(t, f.name) for f in self.taken}
        for field in self.taken:
            if given[field.name] is not UNKNOWN_VALUE:
                ports.check_range(field, given[field.name])
        for watch, slot in self.watches:
            t.s[slot] = self.fitting(t, watch, given)
        if self.number_:
            if t.s[self.number_] >= self.entry.agent_options.at_most:
                return False
            t.s[self.number_] += 1
        if self.holds_it:
            t.s[self.holds_it] = 1
        if self.contract is not None:
            self.contract.begin(t)
        t.fresh.add(self.i)
        t.note("begin", self.name, self.path)
        return True

    def fitting(self, t: Tick, watch: Watch, given: dict[str, Any]) -> int:
        assert watch.given is not None
        if any(given.get(name) is UNKNOWN_VALUE for name in watch.given.names):
            return t.choose(2)
        try:
            return int(bool(watch.given.evaluate(given)))
        except ExpressionError:
            return 0

    def poll(self, t: Tick) -> int:
        results = self.results
        status, values = results[t.pick(self)]
        if status == BREAKS:
            t.note("poll", self.name, self.path, BREAKS, {})
            return self.crash(t)
        if status == OK:
            for (_, slot), value in zip(self.outputs, values, strict=True):
                t.write(slot, value)
            if self.contract is not None:
                self.contract.succeed(t)
        if t.events is not None:
            given = (
                {f.name: t.model.values[v] for (f, _), v in zip(self.outputs, values, strict=True) if v != UNKNOWN}
                if values
                else {}
            )
            t.note("poll", self.name, self.path, status, given)
        return status

    def halted(self, t: Tick) -> None:
        self.release(t)
        t.note("cancel", self.name, self.path)


class Agent(ModelNode):
    """A node that decides in the run what it does: in each tick it may have any of its skills running, write any of
    its entries, and end in any way. So may a node of which there is no model. `asked` are the skills that some property
    asks about; `why` says why anything may happen here."""

    __slots__ = ("asked", "doing", "results", "why", "writes")

    def __init__(
        self,
        spec: NodeSpec,
        scope: ModelScope,
        path: str,
        results: tuple[int, ...],
        asked: tuple[str, ...],
        writes: list[int],
        why: str,
    ) -> None:
        super().__init__(spec, scope, path)
        self.results, self.asked, self.writes, self.why = results, asked, writes, why
        self.doing = {name: scope.model.slot() for name in asked}

    def step(self, t: Tick) -> int:
        status = self.results[t.choose(len(self.results))] if len(self.results) > 1 else self.results[0]
        self.unseen(t, status)
        for slot in self.doing.values():
            t.s[slot] = (RUN if status == RUN else SKIP) if t.choose(2) else SKIP
        for slot in self.writes:
            t.write(slot, UNKNOWN)
        t.note("agent", self.path, status, [name for name, slot in self.doing.items() if t.s[slot]], self.why)
        return self.leave(t, status)

    def halted(self, t: Tick) -> None:
        for slot in self.doing.values():
            t.s[slot] = SKIP
        for slot in self.writes:
            t.write(slot, UNKNOWN)


__all__ = ["BREAKS", "Agent", "Skill"]
