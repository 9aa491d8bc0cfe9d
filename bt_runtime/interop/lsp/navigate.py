"""Where a thing is made, where it is used, what else changes when it is renamed, and what an editor says of it."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bt_runtime.faults.diagnostic import BtError, Edit
from bt_runtime.interop.lsp import describe
from bt_runtime.interop.lsp.entries import places
from bt_runtime.interop.lsp.thing import Thing, thing_at
from bt_runtime.interop.lsp.unit import Unit
from bt_runtime.interop.lsp.workspace import Workspace
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.values import NAME
from bt_runtime.types import Span

_TOP = Span(1, 1, 1, 1)
_LARGEST_PYTHON = 1_000_000  # bytes of a file in which a function is looked for


class Location(NamedTuple):
    path: Path
    span: Span


class Renaming(NamedTuple):
    edits: dict[Path, list[Edit]]
    moved: tuple[Path, Path] | None = None


def hover(workspace: Workspace, unit: Unit, offset: int) -> tuple[str, Span] | None:
    thing = thing_at(workspace, unit, offset)
    said = _said(workspace, unit, thing) if thing is not None else ""
    return (said, thing.span) if thing is not None and said else None


def _said(workspace: Workspace, unit: Unit, thing: Thing) -> str:
    if thing.sort == "entry" and unit.spec is not None:
        writers = [_writer(place.role, place.span, place.node) for place in places(unit.spec)
                   if place.name == thing.name and place.role in ("write", "input", "blackboard")]  # fmt: skip
        return describe.entry_about(thing.name, unit.known().get(thing.name, "any"), writers)
    if thing.sort == "kind" and thing.kind is not None:
        return describe.kind_about(thing.kind)
    if thing.sort == "field" and thing.field is not None:
        return describe.field_about(thing.field)
    target = workspace.unit(thing.path) if thing.path is not None else None
    if thing.sort == "tree" and target is not None and target.spec is not None:
        return describe.tree_about(target.spec)
    if thing.sort == "port" and target is not None and target.spec is not None:
        ports = {**target.spec.inputs, **target.spec.outputs}
        return describe.port_about(ports[thing.name]) if thing.name in ports else ""
    if thing.sort == "manifest" and target is not None and target.manifest is not None:
        skills = "\n".join(f"- `{kind.name}`: {kind.about}" for kind in target.manifest.kinds)
        return f"**{target.manifest.name}** (manifest)\n\n{skills}"
    return thing.about


def _writer(role: str, span: Span, node: object) -> str:
    if role == "write":
        return f"`{getattr(getattr(node, 'kind', None), 'name', 'a node')}`, line {span.line}"
    return f"whoever runs or includes the tree (declared on line {span.line})"


# Definition --------------------------------------------------------------------------------------


def definition(workspace: Workspace, unit: Unit, offset: int) -> list[Location]:
    thing = thing_at(workspace, unit, offset)
    if thing is None:
        return []
    if thing.sort == "entry" and unit.spec is not None:
        named = [place for place in places(unit.spec) if place.name == thing.name]
        declared = [p for p in named if p.role not in ("read", "write")]
        return [Location(unit.path, p.span) for p in declared or [p for p in named if p.role == "write"]]
    if thing.sort in ("tree", "manifest") and thing.path is not None:
        return [Location(thing.path, _TOP)]
    if thing.sort == "port" and thing.path is not None:
        target = workspace.unit(thing.path)
        ports = {**target.spec.inputs, **target.spec.outputs} if target is not None and target.spec else {}
        span = ports[thing.name].span if thing.name in ports else None
        return [Location(thing.path, span)] if span is not None else []
    if thing.sort == "python":
        found = python(thing.name, unit.path.parent)
        return [found] if found is not None else []
    if thing.sort == "kind":
        return list(_skill(workspace, unit, thing))
    return []


def _skill(workspace: Workspace, unit: Unit, thing: Thing) -> Iterator[Location]:
    """The entry of a manifest, and the Python that does it."""
    for path in unit.named if thing.path is None else [thing.path]:
        target = workspace.unit(path)
        key = _skill_key(target, thing.name) if target is not None else None
        if target is not None and key is not None:
            yield Location(path, key.span)
            kind = next((k for k in target.manifest.kinds if k.name == thing.name), None) if target.manifest else None
            entry = kind.data.get("entry") if kind is not None else None
            found = python(entry.impl, Path(entry.folder)) if entry is not None else None
            if found is not None:
                yield found
            return


def _skill_key(unit: Unit, name: str) -> Scalar | None:
    kinds = unit.root.get("kinds") if isinstance(unit.root, YamlMap) else None
    return next((key for key, _ in kinds if key.text == name), None) if isinstance(kinds, YamlMap) else None


def python(reference: str, folder: Path) -> Location | None:
    """`path.py:Name` or `module:Name`, found in the text: nothing is imported."""
    home, _, name = reference.rpartition(":")
    path = (folder / home).resolve() if home.endswith(".py") else _module(home)
    if path is None or not path.is_file() or path.stat().st_size > _LARGEST_PYTHON:
        return None
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError):
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


def references(workspace: Workspace, unit: Unit, offset: int) -> list[Location]:
    thing = thing_at(workspace, unit, offset)
    if thing is None:
        return []
    if thing.sort == "entry":
        return list(dict.fromkeys(_entry_uses(workspace, unit, thing.name)))
    if thing.sort == "port" and thing.path is not None:
        target = workspace.unit(thing.path)
        return list(dict.fromkeys(_entry_uses(workspace, target, thing.name))) if target is not None else []
    if thing.sort == "tree" and thing.path is not None:
        return [Location(other, node.span) for other, node in _includes(workspace, thing.path)]
    if thing.sort == "manifest" and thing.path is not None:
        return list(_listed(workspace, thing.path, thing.name))
    return list(_kind_uses(workspace, thing)) if thing.sort == "kind" else []


def _entry_uses(workspace: Workspace, unit: Unit, name: str) -> Iterator[Location]:
    if unit.spec is None:
        return
    yield from (Location(unit.path, place.span) for place in places(unit.spec) if place.name == name)
    if name in unit.spec.inputs or name in unit.spec.outputs:
        for other in list(workspace.units.values()):
            for include in other.includes:
                given = include.node.given.get("with")
                if include.target == unit.path and isinstance(given, YamlMap):
                    yield from (Location(other.path, key.span) for key, _ in given if key.text == name)


def _includes(workspace: Workspace, target: Path) -> Iterator[tuple[Path, Node]]:
    for unit in workspace.units.values():
        for include in unit.includes:
            if include.target == target and "file" in include.node.given:
                yield unit.path, include.node.given["file"]


def _listed(workspace: Workspace, target: Path, name: str) -> Iterator[Location]:
    for unit in workspace.units.values():
        skills = unit.root.get("skills") if unit.content == "tree" and isinstance(unit.root, YamlMap) else None
        if isinstance(skills, YamlList) and target in unit.named:
            yield from (Location(unit.path, i.span) for i in skills if isinstance(i, Scalar) and i.text == name)


def _kind_uses(workspace: Workspace, thing: Thing) -> Iterator[Location]:
    for unit in workspace.units.values():
        if unit.spec is not None and (thing.path is None or thing.path in unit.named):
            yield from (Location(unit.path, n.span) for n in unit.spec.root.walk() if n.kind.name == thing.name)
        elif unit.path == thing.path and (key := _skill_key(unit, thing.name)) is not None:
            yield Location(unit.path, key.span)


# Renaming ------------------------------------------------------------------------------------------


def renamable(workspace: Workspace, unit: Unit, offset: int) -> Thing | None:
    thing = thing_at(workspace, unit, offset)
    return thing if thing is not None and thing.sort in ("entry", "port", "tree") else None


def rename(workspace: Workspace, unit: Unit, offset: int, new: str) -> Renaming:
    thing = renamable(workspace, unit, offset)
    if thing is None:
        raise BtError("this cannot be renamed here", "entries, ports and the names of trees can")
    if thing.sort == "tree" and thing.path is not None:
        return _rename_tree(workspace, thing.path, new)
    if not NAME.fullmatch(new):
        raise BtError(f"`{new:.40}` cannot be the name of an entry", "letters, digits and _")
    home = unit if thing.sort == "entry" else workspace.unit(thing.path) if thing.path is not None else None
    if home is None or home.spec is None:
        raise BtError("the tree is at fault", "mend it first: what cannot be read cannot be renamed safely")
    if new in home.known():
        raise BtError(f"`{new}` is an entry of this tree already", "choose another name, or rename that one first")
    edits: dict[Path, list[Edit]] = {}
    for found in references(workspace, unit, offset):
        edits.setdefault(found.path, []).append(Edit(found.span, new))
    return Renaming(edits)


def _rename_tree(workspace: Workspace, target: Path, new: str) -> Renaming:
    stem = new.removesuffix(target.suffix)
    moved = target.with_name(f"{stem}{target.suffix}")
    if not re.fullmatch(r"[\w-]+", stem):
        raise BtError(f"`{new:.40}` cannot be the name of a tree", "letters, digits, _ and -")
    if moved.exists():
        raise BtError(f"there is a {moved.name} already", "choose another name")
    if not target.is_relative_to(workspace.root):
        raise BtError("this tree does not belong to the project", "copy it into trees/ to have one of your own")
    edits: dict[Path, list[Edit]] = {}
    for path, node in _includes(workspace, target):
        if isinstance(node, Scalar):
            at = node.text.rfind(target.stem)
            edits.setdefault(path, []).append(Edit(node.part(at, at + len(target.stem)), stem))
    unit = workspace.unit(target)
    name = unit.root.get("tree") if unit is not None and isinstance(unit.root, YamlMap) else None
    if isinstance(name, Scalar) and name.text == target.stem and NAME.fullmatch(stem):
        edits.setdefault(target, []).append(Edit(name.span, stem))
    return Renaming(edits, (target, moved))
