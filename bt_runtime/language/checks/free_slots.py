"""Finds the texts that an agent writes freely as it acts: whatever it writes, the skill is started with it."""

from __future__ import annotations

from collections.abc import Iterator

from bt_runtime.language.entry import ELSEWHERE, SkillEntry
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.spec import NodeSpec, TreeSpec


def faults(tree: TreeSpec) -> Iterator[Diagnostic]:
    """A warning for each text that an agent of the tree writes as it likes, at the first agent of the file."""
    places = (spec.span for spec in _agents(tree) if spec.file == tree.file)
    span = next(places, tree.root.span)
    for skill, slot in free_slots(tree):
        message = f"an agent writes `{slot}` of `{skill}` as it likes, and no plan fills it"
        help = "bound it in the manifest: `choices`, `from:` where its values stand, or `from: /[A-Z]+-[0-9]+/`"
        yield Diagnostic("BT054", message, tree.file, span, help=help, severity="warning")


def free_slots(tree: TreeSpec) -> Iterator[tuple[str, str]]:
    """Yields skill and parameter of each text without `choices` and without a source that an agent here may fill."""
    allowed = [spec.values.get("actions") for spec in _agents(tree)]
    for kind in tree.registry.skills() if allowed else ():
        entry = kind.data.get("entry")
        if not isinstance(entry, SkillEntry) or entry.impl in ELSEWHERE or entry.test:
            continue
        if not any(names is None or (isinstance(names, list) and kind.name in names) for names in allowed):
            continue
        slots = Sentence(entry.sentence).slots
        if any(f.required and f.name not in slots for f in kind.fields):
            continue  # no agent can say all that it takes
        for field in kind.fields:
            free = field.type in ("string", "any") and not field.writes and not field.choices
            bound = {**entry.agent_options.sources, **entry.agent_options.forms}
            if free and field.name in slots and field.name not in bound:
                yield kind.name, field.name


def _agents(tree: TreeSpec) -> Iterator[NodeSpec]:
    """Yields the nodes that act in this tree, and in the trees that it includes."""
    todo, seen = [tree], set[TreeSpec]()
    while todo:
        each = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        for spec in each.root.walk():
            if spec.subtree is not None:
                todo.append(spec.subtree)
            if spec.kind.asks and spec.kind.field("actions") is not None:
                yield spec
