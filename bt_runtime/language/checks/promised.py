"""Warnings about properties of a tree's head that ask for what the tree does not have.

Those of manifests and of the project hold for many trees, and may name what this one lacks."""

from __future__ import annotations

from bt_runtime.language.checks.references import Usage
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.nodes import walk
from bt_runtime.language.properties.unknown import unknown_names
from bt_runtime.language.spec import TreeSpec

GROWING = ("for_all",)  # kinds beside those that ask a model: children come while the tree runs


def entries_of(tree: TreeSpec, used: Usage) -> set[str]:
    """Returns the names of a tree's entries: those that it declares, that its nodes use and that skills may read."""
    named = {*tree.ports, *used.asked, *used.perhaps, *(use.name for use in (*used.reads, *used.writes))}
    skills = (kind.data["entry"] for kind in tree.registry.skills() if "entry" in kind.data)
    return named.union(*(entry.reads for entry in skills))


def check_names(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Warns about a property that names a node, a skill or an entry which the tree does not have."""
    grows = any(spec.kind.asks or spec.kind.name in GROWING for spec in walk(tree))
    for property in tree.properties:
        if property.origin != "tree" or property.span is None:
            continue
        for fault in unknown_names(tree, property.atoms, lambda: entries_of(tree, used), grows):
            diagnostics.warning(
                "BT070",
                f"`{property.name}` asks for what is not there: {fault.message}",
                property.file,
                property.span,
                "",
                fault.hint,
            )
