"""Warnings about properties of a tree's head that ask for what the tree does not have.

Those of manifests and of the project hold for many trees, and may name what this one lacks."""

from __future__ import annotations

from bt_runtime.language.checks.references import usage
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.nodes import walk
from bt_runtime.language.properties.unknown import unknown_names
from bt_runtime.language.spec import NodeSpec, TreeSpec

GROWING = ("for_all",)  # kinds beside those that ask a model: children come while the tree runs


def check_names(tree: TreeSpec, root: NodeSpec, diagnostics: Diagnostics) -> None:
    """Warns about a property that names a node, a skill or an entry which the tree does not have."""
    used = usage([*root.walk()])
    entries = {*used.asked, *used.perhaps, *(use.name for use in (*used.reads, *used.writes))}
    entries |= {name for kind in tree.registry.skills() for name in kind.data["entry"].reads}
    grows = any(spec.kind.asks or spec.kind.name in GROWING for spec in walk(tree))
    for property in tree.properties:
        if property.origin != "tree" or property.span is None:
            continue
        for fault in unknown_names(tree, property.atoms, lambda: entries, grows):
            diagnostics.warning(
                "BT070",
                f"`{property.name}` asks for what is not there: {fault.message}",
                property.file,
                property.span,
                "",
                fault.hint,
            )
