"""Completion of the YAML that is typed in a node's place, by the code of the language server."""

from __future__ import annotations

from pathlib import Path

from bt_author.lsp.complete import complete
from bt_author.lsp.document import Document
from bt_author.lsp.text import Position, Text
from bt_author.lsp.workspace import Workspace
from bt_runtime.language.spec import TreeSpec
from bt_runtime.types import Json

MOST = 200
STEP = 2


def completed(tree: TreeSpec, text: str, line: int, character: int) -> list[Json]:
    """Returns what may stand at this place. The text is read as the root of the tree that the node belongs to, so that
    its kinds and its entries are offered."""
    head = tree.text.partition("\nroot:")[0] if "\nroot:" in tree.text else f"version: 1\ntree: {tree.name}"
    rows = "\n".join(" " * STEP + row for row in text.split("\n"))
    whole = Text(f"{head}\nroot:\n{rows}")
    path = tree.folder / (Path(tree.file).name or "tree.yaml")
    document = Document(path, "tree", whole)
    document.spec = document.good = tree
    offset = whole.offset(Position(head.count("\n") + 2 + line, character + STEP))
    workspace = Workspace(tree.folder, lambda folder: (), lambda path: "tree")
    found = complete(workspace, document, offset)[:MOST]
    return [{"label": item.label, "insert": item.insert, "detail": item.detail} for item in found]
