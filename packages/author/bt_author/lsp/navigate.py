"""Definition, references, rename and hover of a symbol."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bt_author.lsp import describe
from bt_author.lsp.document import Document
from bt_author.lsp.snippet import scalars
from bt_author.lsp.symbol import Symbol, symbol_at
from bt_author.lsp.workspace import Workspace
from bt_runtime.language import python_file, source
from bt_runtime.language.faults.diagnostic import BtError, Edit
from bt_runtime.language.project import disk, real
from bt_runtime.language.properties.atom import places
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.values import NAME, misnamed
from bt_runtime.types import Span

_TOP = Span(1, 1, 1, 1)


class Location(NamedTuple):
    path: Path
    span: Span


class Renaming(NamedTuple):
    edits: dict[Path, list[Edit]]
    moved: tuple[Path, Path] | None = None


def hover(workspace: Workspace, document: Document, offset: int) -> tuple[str, Span] | None:
    symbol = symbol_at(workspace, document, offset)
    said = _said(workspace, document, symbol) if symbol is not None else ""
    return (said, symbol.span) if symbol is not None and said else None


def _said(workspace: Workspace, document: Document, symbol: Symbol) -> str:
    if symbol.sort == "entry" and document.spec is not None:
        writers = [_writer(place.role, place.span, place.node) for place in document.mentions(symbol.name)
                   if place.role in ("write", "input", "blackboard")]  # fmt: skip
        return describe.entry_about(symbol.name, document.known().get(symbol.name, "any"), writers)
    if symbol.sort == "kind" and symbol.kind is not None:
        return describe.kind_about(symbol.kind)
    if symbol.sort == "field" and symbol.field is not None:
        return describe.field_about(symbol.field)
    target = workspace.document(symbol.path) if symbol.path is not None else None
    if symbol.sort == "tree" and target is not None and target.spec is not None:
        return describe.tree_about(target.spec)
    if symbol.sort == "port" and target is not None and target.spec is not None:
        ports = {**target.spec.inputs, **target.spec.outputs}
        return describe.port_about(ports[symbol.name]) if symbol.name in ports else ""
    if symbol.sort == "manifest" and target is not None and target.manifest is not None:
        skills = "\n".join(f"- `{kind.name}`: {kind.about}" for kind in target.manifest.kinds)
        return f"**{target.manifest.name}** (manifest)\n\n{skills}"
    return symbol.about


def _writer(role: str, span: Span, node: object) -> str:
    if role == "write":
        return f"`{getattr(getattr(node, 'kind', None), 'name', 'a node')}`, line {span.line}"
    return f"whoever runs or includes the tree (declared on line {span.line})"


# Definition --------------------------------------------------------------------------------------


def definition(workspace: Workspace, document: Document, offset: int) -> list[Location]:
    symbol = symbol_at(workspace, document, offset)
    if symbol is None:
        return []
    if symbol.sort == "entry" and document.spec is not None:
        named = document.mentions(symbol.name)
        declared = [p for p in named if p.role not in ("read", "write")]
        return [Location(document.path, p.span) for p in declared or [p for p in named if p.role == "write"]]
    if symbol.sort in ("tree", "manifest") and symbol.path is not None:
        return [Location(symbol.path, _TOP)]
    if symbol.sort == "port" and symbol.path is not None:
        target = workspace.document(symbol.path)
        ports = {**target.spec.inputs, **target.spec.outputs} if target is not None and target.spec else {}
        span = ports[symbol.name].span if symbol.name in ports else None
        return [Location(symbol.path, span)] if span is not None else []
    if symbol.sort == "python":
        found = python(symbol.name, document.path.parent)
        return [found] if found is not None else []
    if symbol.sort == "kind":
        return list(_skill(workspace, document, symbol))
    return []


def _skill(workspace: Workspace, document: Document, symbol: Symbol) -> Iterator[Location]:
    """Returns the entry of a skill in its manifest, and the place of its Python."""
    for path in document.named if symbol.path is None else [symbol.path]:
        target = workspace.document(path)
        key = skill_key(target, symbol.name) if target is not None else None
        if target is not None and key is not None:
            yield Location(path, key.span)
            kind = next((k for k in target.manifest.kinds if k.name == symbol.name), None) if target.manifest else None
            entry = kind.data.get("entry") if kind is not None else None
            found = python(entry.impl, Path(entry.folder)) if entry is not None else None
            if found is not None:
                yield found
            return


def skill_key(document: Document, name: str) -> Scalar | None:
    kinds = document.root.get("kinds") if isinstance(document.root, YamlMap) else None
    return next((key for key, _ in kinds if key.text == name), None) if isinstance(kinds, YamlMap) else None


def python(reference: str, folder: Path) -> Location | None:
    """Finds `path.py:Name` or `module:Name` in the source text; nothing is imported."""
    home, _, name = reference.rpartition(":")
    path = real(folder / home) if home.endswith(".py") else _module(home)
    if path is None or not path.is_file() or python_file.too_large(path):
        return None
    try:
        body = ast.parse(disk.read(path)).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return Location(path, _TOP)
    for part in name.split("."):
        found = next((each for each in body if _makes(each, part)), None)
        if found is None:
            return Location(path, _TOP)
        body = getattr(found, "body", [])
        line, column = found.lineno, found.col_offset + 1
    return Location(path, Span(line, column, line, column))


def _makes(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    return isinstance(statement, ast.Assign) and any(
        isinstance(t, ast.Name) and t.id == name for t in statement.targets
    )


def _module(name: str) -> Path | None:
    top, *below = name.split(".")
    if not re.fullmatch(r"\w+(\.\w+)*", name):
        return None
    try:
        spec = importlib.util.find_spec(top)  # of a name without a dot: looks, and imports nothing
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    homes = [Path(place).joinpath(*below) for place in spec.submodule_search_locations or ()]
    found = [path for home in homes for path in (home.with_suffix(".py"), home / "__init__.py") if path.is_file()]
    return found[0] if found else Path(spec.origin) if spec.origin and not below else None


# References ---------------------------------------------------------------------------------------


def references(workspace: Workspace, document: Document, offset: int) -> list[Location]:
    symbol = symbol_at(workspace, document, offset)
    if symbol is None:
        return []
    if symbol.sort == "entry":
        return list(dict.fromkeys(_entry_uses(workspace, document, symbol.name)))
    if symbol.sort == "port" and symbol.path is not None:
        target = workspace.document(symbol.path)
        return list(dict.fromkeys(_entry_uses(workspace, target, symbol.name))) if target is not None else []
    if symbol.sort == "tree" and symbol.path is not None:
        return [Location(other, node.span) for other, node in _includes(workspace, symbol.path)]
    if symbol.sort == "manifest" and symbol.path is not None:
        return list(_listed(workspace, symbol.path, symbol.name))
    return list(_kind_uses(workspace, symbol)) if symbol.sort == "kind" else []


def _entry_uses(workspace: Workspace, document: Document, name: str) -> Iterator[Location]:
    if document.spec is None:
        return
    yield from (Location(document.path, place.span) for place in document.mentions(name))
    yield from (Location(document.path, span) for span in in_properties(document, name)[0])
    yield from (Location(document.path, span) for span in in_policies(document, name)[0])
    if name in document.spec.inputs or name in document.spec.outputs:
        for other in list(workspace.documents.values()):
            for include in other.includes:
                given = include.node.given.get("with")
                if include.target == document.path and isinstance(given, YamlMap):
                    yield from (Location(other.path, key.span) for key, _ in given if key.text == name)


def in_properties(document: Document, name: str) -> tuple[list[Span], list[Span]]:
    """Returns the places in a file's properties that name this entry, and those that name this skill."""
    entries, skills = list[Span](), list[Span]()
    for text in scalars(document.root.get("properties")) if isinstance(document.root, YamlMap) else ():
        named, asked = places(text.text, name)
        entries += [text.part(*each) for each in named]
        skills += [text.part(*each) for each in asked]
    return entries, skills


def in_policies(document: Document, name: str) -> tuple[list[Span], list[Span]]:
    """Returns the places in a file's policies that name this entry, and those that name this skill."""
    policies = document.root.get("policies") if isinstance(document.root, YamlMap) else None
    labels = policies.get("labels") if isinstance(policies, YamlMap) else None
    endorsed = _names(policies, "endorse")
    entries = [*_names(labels, "entries"), *endorsed]
    skills = [*_names(policies, "skills"), *_names(labels, "skills"), *_names(policies, "reads"), *endorsed]
    return (
        [each.span for each in entries if each.text == name],
        [each.part(0, len(name)) for each in skills if each.text.partition(".")[0] == name],
    )


def _names(node: Node | None, key: str) -> list[Scalar]:
    """Returns the names below a key: those of a list, or the keys of a mapping."""
    found = node.get(key) if isinstance(node, YamlMap) else None
    names = [k for k, _ in found] if isinstance(found, YamlMap) else found if isinstance(found, YamlList) else []
    return [each for each in names if isinstance(each, Scalar)]


def _includes(workspace: Workspace, target: Path) -> Iterator[tuple[Path, Node]]:
    for document in workspace.documents.values():
        for include in document.includes:
            if include.target == target and "file" in include.node.given:
                yield document.path, include.node.given["file"]


def _listed(workspace: Workspace, target: Path, name: str) -> Iterator[Location]:
    for document in workspace.documents.values():
        skills = (
            document.root.get("skills") if document.content == "tree" and isinstance(document.root, YamlMap) else None
        )
        if isinstance(skills, YamlList) and target in document.named:
            yield from (Location(document.path, i.span) for i in skills if isinstance(i, Scalar) and i.text == name)


def _kind_uses(workspace: Workspace, symbol: Symbol) -> Iterator[Location]:
    for document in workspace.documents.values():
        if document.spec is not None and (symbol.path is None or symbol.path in document.named):
            yield from (
                Location(document.path, n.span) for n in document.spec.root.walk() if n.kind.name == symbol.name
            )
        elif document.path == symbol.path and (key := skill_key(document, symbol.name)) is not None:
            yield Location(document.path, key.span)


# Renaming ------------------------------------------------------------------------------------------


def renamable(workspace: Workspace, document: Document, offset: int) -> Symbol | None:
    symbol = symbol_at(workspace, document, offset)
    return symbol if symbol is not None and symbol.sort in ("entry", "port", "tree") else None


def rename(workspace: Workspace, document: Document, offset: int, new: str) -> Renaming:
    symbol = renamable(workspace, document, offset)
    if symbol is None:
        raise BtError("this cannot be renamed here", "entries, ports and the names of trees can")
    if symbol.sort == "tree" and symbol.path is not None:
        return rename_tree(workspace, symbol.path, new)
    if misnamed(new):
        raise BtError(f"`{new:.40}` cannot be the name of an entry", misnamed(new).rpartition(": ")[2])
    home = document if symbol.sort == "entry" else workspace.document(symbol.path) if symbol.path is not None else None
    if home is None or home.spec is None:
        raise BtError("the tree is at fault", "mend it first: what cannot be read cannot be renamed safely")
    if new in home.known():
        raise BtError(f"`{new}` is an entry of this tree already", "choose another name, or rename that one first")
    edits: dict[Path, list[Edit]] = {}
    for found in references(workspace, document, offset):
        edits.setdefault(found.path, []).append(Edit(found.span, new))
    return Renaming(edits)


def rename_tree(workspace: Workspace, target: Path, new: str) -> Renaming:
    stem = new.removesuffix(target.suffix)
    read = source.parse(stem).root
    if not re.fullmatch(r"[\w-]+", stem) or not isinstance(read, Scalar) or not isinstance(read.value, str):
        raise BtError(f"`{new:.40}` cannot be the name of a tree", "letters, digits, _ and -; no number, no true")
    moved = target.with_name(f"{stem}{target.suffix}")
    if moved.exists():
        raise BtError(f"there is a {moved.name} already", "choose another name")
    if not target.is_relative_to(workspace.root):
        raise BtError("this tree does not belong to the project", "copy it into trees/ to have one of your own")
    edits: dict[Path, list[Edit]] = {}
    for path, node in _includes(workspace, target):
        if isinstance(node, Scalar):
            at = node.text.rfind(target.stem)
            edits.setdefault(path, []).append(Edit(node.part(at, at + len(target.stem)), stem))
    document = workspace.document(target)
    name = document.root.get("tree") if document is not None and isinstance(document.root, YamlMap) else None
    if isinstance(name, Scalar) and name.text == target.stem and NAME.fullmatch(stem):
        edits.setdefault(target, []).append(Edit(name.span, stem))
    return Renaming(edits, (target, moved))
