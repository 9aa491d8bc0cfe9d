"""A policy as data: rules for skills and plans, and the sources of what comes from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bt_runtime.language.policies.label import AUTHOR, LABELS, MEMORY, MODEL, OPERATOR, WORLD, Labels
from bt_runtime.types import Span

START = "from"  # the key of a rule for who starts the skill
EVERY = frozenset(LABELS)


class Rule(NamedTuple):
    """The labels that a skill's start and its slots may have."""

    start: Labels | None = None  # sources that may decide to start it; None: any
    slots: Mapping[str, Labels] = {}
    rest: Labels | None = None  # sources for parameters that are not named

    def of(self, slot: str) -> Labels | None:
        return self.slots.get(slot, self.rest)


class Policy(NamedTuple):
    """The policy of one place. Several hold together: a value has to pass them all."""

    skills: Mapping[str, Rule] = {}  # rules by a skill's name or a world's sentence
    acts: Labels | None = None
    plans: Labels | None = None
    reads: frozenset[str] = frozenset()
    entries: Mapping[str, Labels] = {}
    gives: Mapping[str, Labels] = {}  # skill → the labels of what it gives
    world: Labels | None = None
    memory: Labels | None = None
    endorse: frozenset[str] = frozenset()
    origin: str = "tree"  # `tree`, a manifest, or the project
    file: str = ""
    spans: Mapping[str, Span] = {}  # places of the rules, by skill


NOT_OUTSIDE = frozenset((OPERATOR, AUTHOR, WORLD, MEMORY, MODEL))


def robot() -> Policy:
    """The default policies of a robot: nothing that was made of outside text acts or plans."""
    return Policy(acts=NOT_OUTSIDE, plans=NOT_OUTSIDE)


class Policies(NamedTuple):
    """All policies of a run together."""

    all: tuple[Policy, ...]

    def rules(self, name: str) -> list[Rule]:
        """The rules of all policies for this skill or sentence."""
        return [policy.skills[name] for policy in self.all if name in policy.skills]

    @property
    def named(self) -> list[str]:
        return [*dict.fromkeys(name for policy in self.all for name in policy.skills)]

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(name for policy in self.all for name in policy.reads)

    @property
    def acts(self) -> Labels | None:
        return meet(policy.acts for policy in self.all)

    @property
    def plans(self) -> Labels | None:
        return meet(policy.plans for policy in self.all)

    @property
    def endorsed(self) -> frozenset[str]:
        return frozenset(name for policy in self.all for name in policy.endorse)

    def entry(self, name: str) -> Labels | None:
        """The declared labels of an entry that programs write."""
        return join(policy.entries.get(name) for policy in self.all)

    def gives(self, skill: str, output: str = "") -> Labels | None:
        """The declared labels of what a skill gives: of one output, or of all together. None: none are declared."""
        if output:
            own = join(policy.gives.get(f"{skill}.{output}") for policy in self.all)
            whole = join(policy.gives.get(skill) for policy in self.all)
            return own if own is not None else whole
        parts = [of for policy in self.all for name, of in policy.gives.items() if name.partition(".")[0] == skill]
        return join(parts)

    def parted(self, skill: str) -> bool:
        """True when only single outputs of the skill have declared labels."""
        return not any(skill in policy.gives for policy in self.all)

    @property
    def world(self) -> Labels | None:
        return join(policy.world for policy in self.all)

    @property
    def memory(self) -> Labels | None:
        return join(policy.memory for policy in self.all)


def meet(rules: Iterable[Labels | None]) -> Labels | None:
    """What passes all the rules; None without any."""
    given = [rule for rule in rules if rule is not None]
    return EVERY.intersection(*given) if given else None


def join(labels: Iterable[Labels | None]) -> Labels | None:
    """All labels together; None when none are declared."""
    given = [each for each in labels if each is not None]
    return frozenset().union(*given) if given else None
