"""Loads nodes for a graft: a text that goes into a tree which is there, whose kinds and ports it may use."""

from __future__ import annotations

from bt_runtime.language import source
from bt_runtime.language.checks import semantic
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.language.reader import NodeReader
from bt_runtime.language.spec import NodeSpec, TreeSpec


def load_fragment(
    loader: Loader, text: str | bytes, tree: TreeSpec, name: str, kinds: tuple[Kind, ...] = ()
) -> NodeSpec:  # fmt: skip
    """Returns the checked nodes. Raises Faults."""
    registry = tree.registry.with_kinds(kinds)
    document = source.parse(text, name, loader.limits)
    loader.home = tree.folder
    loader.diagnostics.sources[name] = document.text
    loader.diagnostics.add(*document.diagnostics)
    if document.root is not None:
        whole = TreeSpec(tree.name, name, document.text, tree.folder, registry)
        whole.inputs, whole.outputs, whole.entries = tree.inputs, tree.outputs, tree.entries
        root = NodeReader(name, registry, loader.diagnostics, loader.caps.depth).read(document.root)
        if root is not None:
            whole.root = root
            loader.foreign(whole)
            loader.subtrees(whole)
            semantic.check_nodes(whole, loader.diagnostics)
            return loader.checked(whole).sound().root
    return loader.checked(None).sound().root
