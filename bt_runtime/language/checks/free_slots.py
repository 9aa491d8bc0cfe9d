"""Finds the texts that an agent writes freely as it acts: whatever it writes, the skill is started with it."""

from __future__ import annotations

from collections.abc import Iterator

from bt_runtime.language.entry import ELSEWHERE, Entry
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.spec import NodeSpec, TreeSpec


def free_slots(tree: TreeSpec) -> Iterator[tuple[str, str]]:
    """Yields skill and parameter of each text without `choices` and without a source that an agent here may fill."""
    allowed = [spec.values.get("actions") for spec in _agents(tree)]
    for kind in tree.registry.skills() if allowed else ():
        entry = kind.data.get("entry")
        if not isinstance(entry, Entry) or entry.impl in ELSEWHERE or entry.test:
            continue
        if not any(names is None or (isinstance(names, list) and kind.name in names) for names in allowed):
            continue
        slots = Sentence(entry.sentence).slots
        for field in kind.fields:
            free = field.type in ("string", "any") and not field.writes and not field.choices
            if free and field.name in slots and field.name not in entry.agent_options.sources:
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
