"""Renames that go through all files of the project: an entry or a port, a tree with its file, a skill."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bt_author.edit.session import Session
from bt_author.lsp import navigate
from bt_author.lsp.document import Document
from bt_author.lsp.navigate import Renaming
from bt_author.lsp.snippet import scalars
from bt_runtime.language.faults.diagnostic import BtError, Edit
from bt_runtime.language.project import disk
from bt_runtime.language.source import YamlMap
from bt_runtime.language.values import NAME

_LARGEST = 400_000  # bytes of a file that is searched for a name
_MOST = 8  # places outside of trees and manifests that are told
_SEARCHED = (".py", ".md", ".toml", ".sh")


def rename_at(session: Session, path: Path, line: int, column: int, new: str) -> None:
    """Renames the entry, port or tree at a place in the text."""
    session.workspace.settle()
    document = session.document(path)
    made = navigate.rename(session.workspace, document, document.text.at(line, column), new)
    apply(session, f"rename to {new}", made)


def rename_tree(session: Session, target: Path, new: str) -> None:
    """Renames the file of a tree, its name within, and every `tree` node that includes it."""
    session.workspace.settle()
    session.buffer(target)
    made = navigate.rename_tree(session.workspace, target, new)
    there = made.moved[1] if made.moved is not None else None
    held = session.buffers.get(there) if there is not None else None
    if there is not None and (not held.gone if held is not None else session.taken(there)):
        raise BtError(f"there is a tree `{new:.40}` already", "choose another name")
    apply(session, f"rename {target.stem} to {new}", made)


def rename_skill(session: Session, path: Path, old: str, new: str) -> None:
    """Renames a skill in its manifest, in every tree that uses it, and in the properties and policies that name it."""
    workspace = session.workspace
    workspace.settle()
    named = (workspace.document(each) for each in session.document(path).named)
    home = next((each.path for each in named if each and navigate.skill_key(each, old) is not None), None)
    if home is None or not home.is_relative_to(workspace.root):
        raise BtError(f"`{old:.40}` is no skill of this project", "only skills of its own manifests are renamed")
    if not NAME.fullmatch(new):
        raise BtError(f"`{new:.40}` cannot be the name of a skill", "small letters, digits and _")
    if session.draft(path).registry.get(new) is not None:
        raise BtError(f"there is a kind of node `{new}` already", "choose another name")
    word = re.compile(rf"(?<![\w/.]){re.escape(old)}(?![\w/])")
    edits: dict[Path, list[Edit]] = {}
    for document in list(workspace.documents.values()):
        if document.path.is_relative_to(workspace.root) and word.search(document.text.source):
            found = list(_uses(session, document, home, old, new))
            if found:
                edits[document.path] = found
    apply(session, f"rename {old} to {new}", Renaming(edits))


def _uses(session: Session, document: Document, home: Path, old: str, new: str) -> Iterator[Edit]:
    if document.content == "tree" and home in document.named:
        root = session.draft(document.path).root
        for item in root.walk() if root is not None else ():
            if item.key.text == old:
                yield Edit(item.key.span, new)
    if document.path == home and (key := navigate.skill_key(document, old)) is not None:
        yield Edit(key.span, new)
    yield from (Edit(span, new) for span in navigate.in_properties(document, old)[1])
    if document.content == "project" or document.path == home or home in document.named:
        yield from (Edit(span, new) for span in navigate.in_policies(document, old)[1])
    if document.content == "skills" and isinstance(document.root, YamlMap):
        for scalar in scalars(document.root.get("kinds")):  # `look.places`, a source of parameters
            if re.fullmatch(rf"{re.escape(old)}\.\w+", scalar.text):
                yield Edit(scalar.part(0, len(old)), new)


def apply(session: Session, label: str, made: Renaming) -> None:
    """Changes all files as one step, which can be undone. Raises, and changes nothing, when the project would have
    more errors than before."""
    texts: dict[Path, str | None] = {}
    for path, edits in made.edits.items():
        session.buffer(path)
        texts[path] = edited(session.document(path), edits)
    if made.moved is not None:
        old, now = made.moved
        texts[now] = texts.get(old) or session.buffer(old).text
        texts[old] = None
    before = _errors(session)
    session.change(label, texts, made.moved)
    worse = [each for each in _errors(session) if each[1:] not in {known[1:] for known in before}]
    if len(_errors(session)) > len(before) and worse:
        session.undo()
        session.history.undone.pop()
        raise BtError(
            f"{session.name(worse[0][0])} would be at fault: {worse[0][2]}", "mend or rename that place first"
        )


def _errors(session: Session) -> list[tuple[Path, str, str]]:
    workspace = session.workspace
    workspace.settle()
    return [
        (path, fault.code, fault.message)
        for path, document in workspace.documents.items()
        if path.is_relative_to(workspace.root)
        for fault in workspace.faults(document)
        if fault.severity == "error"
    ]


def edited(document: Document, edits: Iterable[Edit]) -> str:
    """Applies edits, which do not overlap, to a file's text."""
    text, at = document.text.source, document.text.at
    spots = sorted((at(e.span.line, e.span.column), at(e.span.end_line, e.span.end_column), e.text) for e in edits)
    for start, end, new in reversed(spots):
        text = text[:start] + new + text[end:]
    return text


def mentions(root: Path, name: str) -> list[str]:
    """Lists places outside of trees and manifests that still say this name: tests, programs and pages."""
    word, found = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)".encode()), list[str]()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "_")) and f not in ("runs", "node_modules"))
        for each in sorted(names):
            file = Path(folder) / each
            if file.suffix not in _SEARCHED:
                continue
            rows = disk.read_or_nothing(file, _LARGEST).split(b"\n")
            shown = file.relative_to(root).as_posix()
            found += [f"{shown}:{number}" for number, row in enumerate(rows, 1) if word.search(row)]
            if len(found) >= _MOST:
                return found[:_MOST]
    return found
