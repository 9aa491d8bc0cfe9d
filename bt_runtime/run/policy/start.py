"""One start of a skill, with the labels of the decision and of each slot, held to the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.language.entry import REPEAT
from bt_runtime.language.policies.label import Labels, said
from bt_runtime.language.policies.policy import Policies
from bt_runtime.language.sentence import Sentence

if TYPE_CHECKING:
    from bt_runtime.language.entry import SkillEntry


class Start(NamedTuple):
    """`slots`: the labels of each value; `agent` reads what the skill answers."""

    name: str  # the skill's; "" for a world's sentence that no manifest names
    entry: SkillEntry | None
    sentence: str
    control: Labels  # labels of the decision to start it
    slots: Mapping[str, Labels]
    agent: ModelNode | None = None

    def refusal(self, policies: Policies) -> str:
        """Returns which rule forbids the start, in words; "" when none does."""
        for name in policies.named:
            if not self.meant(name):
                continue
            for rule in policies.rules(name):
                if rule.start is not None and not self.control <= rule.start:
                    return _words(f"`{self.shown}` was decided", self.control, rule.start)
                for slot, labels in self.slots.items():
                    allowed = rule.of(slot)
                    if allowed is not None and not labels <= allowed:
                        return _words(f"`{slot}` of `{self.shown}` was made", labels, allowed)
        acts = policies.acts
        if acts is not None and not self.reads(policies):
            for what, labels in (("decided", self.control), *((f"given `{n}`", of) for n, of in self.slots.items())):
                if not labels <= acts:
                    return _words(f"`{self.shown}` was {what}", labels, acts)
        return ""

    @property
    def shown(self) -> str:
        return self.name or self.sentence

    def meant(self, rule: str) -> bool:
        """True when a rule of this name is about this start."""
        if rule in (self.name, self.sentence):
            return True
        return " " in rule and bool(self.sentence) and Sentence(rule).parse(self.sentence) is not None

    def reads(self, policies: Policies) -> bool:
        """True for a skill that only reads, so that it may be started by anybody."""
        if self.entry is not None and (self.entry.test or self.entry.on_resume == REPEAT):
            return True
        return any(self.meant(each) for each in policies.reads)


def _words(what: str, labels: Labels, allowed: Labels) -> str:
    return f"{what} from {said(labels - allowed)}, and only {said(allowed)} may"
