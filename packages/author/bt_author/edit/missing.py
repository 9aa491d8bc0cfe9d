"""A skill that a tree names and nobody has made: its manifest and a stub, shown as a diff before they are written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from bt_author.edit import header
from bt_author.edit.draft import Draft
from bt_author.edit.outline import Path as NodePath
from bt_author.edit.session import Session
from bt_author.new_skill import new_skill
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import COMMON_NAMES
from bt_runtime.language.project import disk
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, nothing


class MissingSkill(NamedTuple):
    files: Mapping[Path, str]  # new ones
    tree: Draft  # the tree with the manifest among its skills

    def diff(self, session: Session, path: Path) -> str:
        """Returns all changes as a unified diff."""
        made = [_diff("/dev/null", session.name(file), "", text) for file, text in self.files.items()]
        name, before = session.name(path), session.buffer(path).text
        return "".join([*made, _diff(name, name, before, self.tree.text)])


def missing_skill(session: Session, path: Path, node: NodePath) -> MissingSkill:
    """Drafts the skill that this node names, with a parameter for each field that is written."""
    draft, root = session.draft(path), session.workspace.home(path.parent)
    item = draft.item(node)
    if item.kind is not None:
        raise BtError(f"`{item.key.text}` is a kind of node already", "choose a node of no kind")
    if root is None:
        raise BtError("there is no project here", "start one: btr init")
    name = item.key.text
    files = new_skill(root, name, _params(item.value))
    taken = next((file for file in files if os.path.lexists(file)), None)
    if taken is not None:
        raise BtError(f"{session.name(taken)} is there already", "list it under the tree's skills, or rename the node")
    top = draft.top
    listed = top.get("skills") if isinstance(top, YamlMap) else None
    names = [each.text for each in listed.items if isinstance(each, Scalar)] if isinstance(listed, YamlList) else []
    return MissingSkill(files, header.set_skills(draft, [*names, name]))


def make(session: Session, path: Path, made: MissingSkill) -> None:
    """Writes the manifest and the stub, and changes the tree's text, which is saved later."""
    for file, text in made.files.items():
        disk.folder(file.parent)
        disk.write(file, text.encode())
    session.workspace.changed_on_disk(made.files)
    session.apply(path, "new skill", lambda draft: made.tree)


def _params(value: Node) -> dict[str, str]:
    """Returns the types of the fields that are written; an expression may have any."""
    if not isinstance(value, YamlMap):
        return {} if nothing(value) else {"value": _type(value)}
    return {key.text: _type(inner) for key, inner in value.pairs if key.text not in COMMON_NAMES}


def _type(node: Node) -> str:
    if not isinstance(node, Scalar):
        return "list" if isinstance(node, YamlList) else "object"
    if "{" in node.text:
        return "any"
    types = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return types.get(type(node.value), "any")


def _diff(old: str, new: str, before: str, after: str) -> str:
    rows = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new)
    return "".join(row if row.endswith("\n") else f"{row}\n" for row in rows)
