"""Reads `policies:` of a head, a manifest or a project file; what is wrong with them has its line and column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bt_runtime.language.faults.diagnostic import Diagnostic, did_you_mean
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.policies.label import Labels, labels_of
from bt_runtime.language.policies.policy import START, Policy, Rule, robot
from bt_runtime.language.policies.schema import ROBOT, policies_schema
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.types import Span

CODE = "BT071"
CHECK = DocumentCheck(policies_schema(), CODE, "policies")


class PolicyReader:
    """Reads the policy of one place; its `all` is empty without one, or when it is at fault."""

    def __init__(self, node: Node | None, file: str, origin: str) -> None:
        self.file, self.origin = file, origin
        self.faults: list[Diagnostic] = [fault for _, fault in CHECK.faults(node, file)] if node is not None else []
        self.spans: dict[str, Span] = {}
        self.all = tuple(self.read(node)) if node is not None else ()

    def read(self, node: Node) -> list[Policy]:
        if isinstance(node, Scalar):
            return [robot()._replace(origin=self.origin, file=self.file)] if node.value == ROBOT else []
        if not isinstance(node, YamlMap):
            return []
        used = node.get("use")
        preset = [robot()] if isinstance(used, Scalar) and used.value == ROBOT else []
        told = _map(node, "labels")
        for part in (_pairs(told, "entries"), [(each, each) for each in _listed(node, "endorse")]):
            self.spans.update((f"={key.text}", key.span) for key, _ in part)
        for part in (_pairs(told, "skills"), *([(each, each)] for each in _listed(node, "reads"))):
            self.spans.update((f"?{key.text}", key.span) for key, _ in part)
        own = Policy(
            {key.text: self.rule(key, of) for key, of in _pairs(node, "skills")},
            _from(node.get("acts")), _from(node.get("plans")), _names(node, "reads"),
            _labels(told, "entries"), _labels(told, "skills"), _label(told, "world"), _label(told, "memory"),
            _names(node, "endorse"),
        )  # fmt: skip
        return [each._replace(origin=self.origin, file=self.file, spans=self.spans) for each in (*preset, own)]

    def rule(self, key: Scalar, of: Node) -> Rule:
        self.spans[key.text] = key.span
        if isinstance(of, YamlList):
            every = labels_of(of.data())
            return Rule(every, {}, every)
        slots = {name.text: labels_of(given.data()) for name, given in of} if isinstance(of, YamlMap) else {}
        for name, given in of if isinstance(of, YamlMap) else ():
            self.spans[f"{key.text}.{name.text}"] = given.span
        return Rule(slots.pop(START, None), slots)

    def known(self, kinds: Iterable[Kind]) -> None:
        """Reports rules for skills and slots that are not there. A name with a blank is a world's sentence."""
        skills = {kind.name: {f.name for f in kind.fields if not f.writes} for kind in kinds if kind.family == "skill"}
        for policy in self.all:
            for name in sorted(
                n for n in (*policy.gives, *policy.reads) if n.partition(".")[0] not in skills and " " not in n
            ):
                if f"?{name}" in self.spans:
                    self.unknown(
                        f"the policy names `{name}`, and there is no such skill here", name, skills, f"?{name}"
                    )
            for name, rule in policy.skills.items():
                if name not in skills and " " not in name:
                    self.unknown(f"the policy names `{name}`, and there is no such skill here", name, skills, name)
                for slot in sorted(rule.slots.keys() - skills.get(name, rule.slots.keys())):
                    self.unknown(f"`{name}` has no parameter `{slot}`", slot, skills[name], f"{name}.{slot}")

    def unknown(self, message: str, name: str, known: Iterable[str], place: str) -> None:
        names = sorted(known)
        label = did_you_mean(name, names)
        help = f"known here: {', '.join(names) or 'none'}"
        self.faults.append(Diagnostic(CODE, message, self.file, self.spans[place], label, help))


def _map(node: YamlMap | None, key: str) -> YamlMap | None:
    found = node.get(key) if node is not None else None
    return found if isinstance(found, YamlMap) else None


def _pairs(node: YamlMap | None, key: str) -> Sequence[tuple[Scalar, Node]]:
    found = _map(node, key)
    return found.pairs if found is not None else ()


def _from(node: Node | None) -> Labels | None:
    given = node.get(START) if isinstance(node, YamlMap) else None
    return labels_of(given.data()) if given is not None else None


def _label(node: YamlMap | None, key: str) -> Labels | None:
    found = node.get(key) if node is not None else None
    return labels_of(found.data()) if found is not None else None


def _labels(node: YamlMap | None, key: str) -> Mapping[str, Labels]:
    return {name.text: labels_of(of.data()) for name, of in _pairs(node, key)}


def _listed(node: YamlMap, key: str) -> list[Scalar]:
    found = node.get(key)
    return [each for each in found if isinstance(each, Scalar)] if isinstance(found, YamlList) else []


def _names(node: YamlMap, key: str) -> frozenset[str]:
    return frozenset(each.text for each in _listed(node, key))
