"""A node for skills that answer at once, such as conditions. They are called in the tick."""

from __future__ import annotations

from py_trees.common import Status

from bt_runtime.events import SkillEnded
from bt_runtime.skills.activity import ended
from bt_runtime.skills.skill import refuse_slow
from bt_runtime.tree.gates import Call
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.tree.nodes.permit import limited
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.types import Json


class InstantNode(SkillNode):
    call: Call | None = None
    scripted = False  # a test's stand-in may take its time

    def step(self) -> Status:
        try:
            call = self.call or self.ready()
            if self.scripted:
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
        except Exception as error:
            status = self.crash(error)
        # from here on as `Node.finish`, in place: a call more is a fifth of a tick of this node
        context = self.context
        if self.broke:
            self.after_crash()
        if status is not self.status:
            self.status = status
            if context.changes is not None:
                context.changes.append((self, status))
        if context.visits is not None:
            context.visits.append(self)
        return status

    def ready(self) -> Call:
        target = self.find()
        checked = self.context.services.policy is not None and not self.entry.test
        self.scripted = hasattr(target, "poll") or limited(self.entry) or checked
        if not self.scripted:
            refuse_slow(target, self.spec.kind.name)
            self.params()
            self.feedback_message = self.sentence
            target = self.context.gates.instant(target)
            if not self.entry.test and self.context.stream.wanted(SkillEnded):
                target = self.telling(target)
        self.call = target
        return self.call

    def telling(self, inner: Call) -> Call:
        def call(**params: Json) -> object:
            value = inner(**params)
            done = ended(value)
            self.context.emit(SkillEnded(self.sentence, done.status, done.value, done.feedback))
            return value

        return call

    def judged(self, value: object) -> Status:
        if self.entry.test and not isinstance(value, Status):
            if value is None:
                raise TypeError("a condition answers true or false, and this one has returned nothing")
            if not self.written:
                return SUCCESS if value else FAILURE
        done = ended(value)
        if done.feedback:
            self.feedback_message = done.feedback
        if self.written:
            self.gave = False
            self.keep_last(done)
        return done.status
