"""A node for skills that answer at once, such as conditions. They are called in the tick."""

from __future__ import annotations

from py_trees.common import Status

from bt_runtime.events import SkillEnded
from bt_runtime.skills.answer import EndedAnswer, ended, tested
from bt_runtime.skills.forms import instantly
from bt_runtime.skills.skill import refuse_slow
from bt_runtime.tree.gates import Call, Gate, Gates
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.tree.nodes.interlocks import guarded
from bt_runtime.tree.nodes.skill import Form, SkillNode
from bt_runtime.types import Json


class InstantNode(SkillNode):
    CACHES = ("call", "observed_call", "behind", "slow")
    call: Call | None = None
    observed_call: Call | None = None  # the call behind the gates; listeners receive its end
    behind: Through | None = None
    slow = False  # started like other skills: a gate may hold it up, or a test plays it

    def step(self) -> Status:
        context = self.context
        try:
            call = (self.observed_call if context.observed else self.call) or self.ready()
            if self.slow:
                return super().step()
            constant = self.constant
            params = self.params() if constant is None else constant
            value = call(**params) if params else call()
            if value is True and not self.written:
                status = SUCCESS
            elif value is False:
                status = FAILURE
            else:
                status = self.judged(value)
        except BaseException as error:
            status = self.crashed(error)
        if status is self.status and not self.broke and context.visits is None:
            return status  # nothing has changed: without the call
        return self.finish(status)

    def ready(self) -> Call:
        target = self.find()
        double = hasattr(target, "poll")
        if not double:
            refuse_slow(target, self.spec.kind.name)
        self.slow = double or guarded(self.context, self.entry, target, self)
        if not self.slow:
            self.filled()
            self.behind = Through(self.context.gates, target)
        self.call, self.observed_call = target, self.gated
        return self.gated

    def form_of(self, target: object) -> Form:
        return super().form_of(target) if hasattr(target, "poll") else instantly

    def answered(self) -> EndedAnswer | None:
        """Calls the skill for an agent; None when its start may be held up."""
        self.ready()
        if self.slow:
            return None
        return self.read(self.gated(**self.params()))

    def read(self, value: object) -> EndedAnswer:
        return (tested if self.entry.test else ended)(value, self.declared)

    def gated(self, **params: Json) -> object:
        assert self.behind is not None
        value = self.behind(**params)
        if not self.entry.test and self.context.stream.wanted(SkillEnded):
            done = self.read(value)
            self.context.emit(SkillEnded(self.sentence, done.status, done.value, done.feedback))
        return value

    def judged(self, value: object) -> Status:
        done = self.read(value)
        if done.feedback:
            self.feedback_message = done.feedback
        if self.written:
            self.gave = False
            self.keep_last(done)
        return done.status


class Through:
    """Calls a skill through the gates of each moment. A gate wraps it once, at the first call after it came."""

    def __init__(self, gates: Gates, call: Call) -> None:
        self.gates, self.call = gates, call
        self.made: dict[Gate, Call] = {}

    def __call__(self, **params: Json) -> object:
        return self._called(0, params)

    def _called(self, at: int, params: dict[str, Json]) -> object:
        starts = self.gates.starts
        return self.call(**params) if at == len(starts) else self.at(starts[at])(**params)

    def at(self, gate: Gate) -> Call:
        """Returns the call as this gate wraps it."""
        if gate not in self.made:
            self.made[gate] = gate.instant(lambda **params: self._called(self._behind(gate), params))
        return self.made[gate]

    def _behind(self, gate: Gate) -> int:
        starts = self.gates.starts
        return starts.index(gate) + 1 if gate in starts else len(starts)
