"""What is certain of a tree's flow before it runs: a slot that is only ever filled from sources that a rule excludes.

An entry's labels here are those that every writer of it has. Where a writer is not known, or somebody outside may
write, nothing is certain, and the run decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bt_runtime.language.checks.promised import entries_of
from bt_runtime.language.checks.references import usage
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import did_you_mean
from bt_runtime.language.policies.label import AUTHOR, LABELS, MODEL, NOTHING, OUTSIDE, Labels, said
from bt_runtime.language.policies.policy import Policies
from bt_runtime.language.policies.within import expressions_in
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.language.values import is_entry
from bt_runtime.types import Json

CODE = "BT072"
EVERY = frozenset(LABELS)
Found = dict[str, Labels]  # entry → labels that it certainly has


def check(tree: TreeSpec, diagnostics: Diagnostics) -> None:
    """Reports each slot of a skill that every run would refuse."""
    policies = Policies(tree.policies)
    nodes = [*tree.root.walk()]
    _misspelt(tree, nodes, diagnostics)
    known = _certain(tree, nodes, policies)
    for node in nodes:
        for rule in policies.rules(node.kind.name) if node.kind.family == "skill" else ():
            for slot, value in node.values.items():
                allowed = rule.of(slot)
                field = node.kind.field(slot)
                if allowed is None or field is None or field.writes:
                    continue
                excluded = _value(value, known) - allowed
                if excluded:
                    span = node.given[slot].span if slot in node.given else node.span
                    message = f"`{slot}` of `{node.kind.name}` is made from {said(excluded)}, which the policy excludes"
                    diagnostics.error(CODE, message, node.file, span, help=f"it may be made from {said(allowed)}")


def _misspelt(tree: TreeSpec, nodes: list[NodeSpec], diagnostics: Diagnostics) -> None:
    """Warns about a label of the head, or an endorsement, whose entry the tree does not have: it holds for nothing."""
    used = usage(nodes)
    if used.opaque or any(node.kind.includes for node in nodes):
        return  # an included tree may have it
    entries = entries_of(tree, used)
    skills = {kind.name for kind in tree.registry.skills()}
    for policy in tree.policies:
        for name in sorted({*(policy.entries.keys() - entries), *(policy.endorse - entries - skills)}):
            span = policy.spans.get(f"={name}")
            if policy.origin == "tree" and span is not None and " " not in name:  # a blank: a world's sentence
                message = f"the policy names `{name}`, and no entry is named so"
                known = f"entries: {', '.join(sorted(entries)) or 'none'}"
                diagnostics.warning("BT071", message, tree.file, span, did_you_mean(name, entries), known)


def _certain(tree: TreeSpec, nodes: list[NodeSpec], policies: Policies) -> Found:
    """Finds the greatest labels that hold: all at first, then less and less until nothing changes."""
    if any(node.kind.foreign or node.values.get("autoremap") for node in nodes):
        return {}
    open: set[str] = set(tree.ports) | {name for node in nodes for name in _lent(node)}
    known: Found = {}
    for node in nodes:
        known.update((name, EVERY) for name, _ in _written(node, known, policies))
    for name in open:
        declared = policies.entry(name) if name in tree.entries else None
        known[name] = declared if declared is not None and name not in _names(nodes, known, policies) else NOTHING
    while True:
        new = dict(known)
        for name in known.keys() - open:
            made = [of for node in nodes for each, of in _written(node, known, policies) if each == name]
            new[name] = EVERY.intersection(*made)
        if new == known:
            return known
        known = new


def _names(nodes: list[NodeSpec], known: Found, policies: Policies) -> set[str]:
    return {name for node in nodes for name, _ in _written(node, known, policies)}


def _lent(node: NodeSpec) -> Iterator[str]:
    """Yields the entries that an included tree may write."""
    if node.kind.includes:
        for value in (node.values.get("with") or {}).values():
            yield from _read_names(value)


def _written(node: NodeSpec, known: Found, policies: Policies) -> Iterator[tuple[str, Labels]]:
    """Yields what a node may write, with the labels that this certainly has."""
    for field in node.kind.fields:
        value = node.values.get(field.name)
        if field.type == "assignments" and isinstance(value, Mapping):
            yield from ((name, _value(of, known)) for name, of in value.items())
        elif field.type == "outputs" and isinstance(value, Mapping):
            yield from ((name, _answer(node, name, known, policies)) for name in value)
        elif field.writes and value is not None:
            name = value if isinstance(value, str) else str(getattr(value, "text", "")).strip()
            yield name, _given(node, field.name, known, policies) if node.kind.family == "skill" else NOTHING
    for field_name in ("on_success", "on_failure", "on_end", "on_halt"):
        for name in node.values.get(field_name) or ():
            yield name, NOTHING


def _answer(node: NodeSpec, name: str, known: Found, policies: Policies) -> Labels:
    return NOTHING if name in policies.endorsed else _read(node.values.get("prompt"), known) | {MODEL}


def _given(node: NodeSpec, output: str, known: Found, policies: Policies) -> Labels:
    if node.kind.name in policies.endorsed:
        return NOTHING
    declared = policies.gives(node.kind.name, output)
    usual = frozenset((OUTSIDE,)) if node.kind.data["entry"].impl.startswith("mcp/") else NOTHING
    slots = [_read(node.values[f.name], known) for f in node.kind.fields if not f.writes and f.name in node.values]
    return (declared if declared is not None else usual).union(*slots)


def _value(value: Json, known: Found) -> Labels:
    return _read(value, known) | (NOTHING if is_entry(value) else {AUTHOR})


def _read(value: Json, known: Found) -> Labels:
    return NOTHING.union(*(known.get(name, NOTHING) for name in _read_names(value)))


def _read_names(value: Json) -> Iterator[str]:
    for each in expressions_in(value):
        yield from each.names
