"""What a journal keeps of policies: the project's, so that a run that is made again from its journal is held to them.
Those of trees and manifests stand in their recorded texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.journal import parts
from bt_runtime.journal.opening import shaped
from bt_runtime.journal.recordable import Given, Recordable
from bt_runtime.language.policies.label import LABELS, Labels
from bt_runtime.language.policies.policy import Policies, Policy, Rule
from bt_runtime.types import Json, JsonValue


class PoliciesPart(parts.JournalPart):
    def kept(self, run: Recordable, given: Given) -> parts.Kept:
        own = tuple(each for each in run.tree.spec.policies if each.origin == "project")
        return parts.Kept({"policies": as_data(own)}) if own else parts.Kept()

    def check(self, head: Mapping[str, Json]) -> None:
        shaped(head, {"policies?": dict})


POLICIES = PoliciesPart()


def as_data(all: tuple[Policy, ...]) -> dict[str, JsonValue]:
    """The policies of one file as one mapping, as a project file says it."""
    whole = Policies(all)
    rules = {name: _rule(rule) for policy in all for name, rule in policy.skills.items()}
    labels: dict[str, Any] = {
        "entries": {name: _list(of) for policy in all for name, of in policy.entries.items()},
        "skills": {name: _list(of) for policy in all for name, of in policy.gives.items()},
        "world": _list(whole.world), "memory": _list(whole.memory),
    }  # fmt: skip
    found: dict[str, Any] = {
        "skills": rules, "acts": _from(whole.acts), "plans": _from(whole.plans), "reads": sorted(whole.reads),
        "labels": {key: of for key, of in labels.items() if of}, "endorse": sorted(whole.endorsed),
    }  # fmt: skip
    return {key: of for key, of in found.items() if of}


def _rule(rule: Rule) -> JsonValue:
    if rule.rest is not None:
        return _list(rule.rest)
    slots: dict[str, JsonValue] = {name: _list(of) for name, of in rule.slots.items()}
    return slots if rule.start is None else {"from": _list(rule.start), **slots}


def _from(labels: Labels | None) -> JsonValue:
    return None if labels is None else {"from": _list(labels)}


def _list(labels: Labels | None) -> list[JsonValue]:
    return [each for each in LABELS if labels is not None and each in labels]
