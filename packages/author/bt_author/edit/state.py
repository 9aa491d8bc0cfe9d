"""The state that the page shows: a file's text, its nodes, its faults, and the kinds available there."""

from __future__ import annotations

from pathlib import Path

from bt_author.edit.draft import Draft
from bt_author.edit.outline import Item
from bt_author.edit.session import Session
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.kinds.kind import COMMON, Field, Kind
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, nothing
from bt_runtime.types import Json

_FIRST = ("goal", "file", "message", "text", "reason", "test", "condition", "seconds", "times", "prompt")
_MOST = 120  # characters of a node's line
_LONGEST = 2000  # characters of a field's value in the form


def of_file(session: Session, path: Path) -> dict[str, Json]:
    """Returns the present state of a file."""
    document, draft, held = session.document(path), session.draft(path), session.buffer(path)
    history = session.history
    nodes, at = _nodes(draft)
    opens = {
        (include.node.span.line, include.node.span.column): session.name(include.target)
        for include in document.includes
        if include.target.is_relative_to(session.workspace.root)
    }
    for node in nodes:
        node["opens"] = opens.get((node["line"], node["column"]), "")
    return {
        "path": session.name(path),
        "content": document.content,
        "text": held.text,
        "version": held.version,
        "unsaved": held.unsaved,
        "others": [session.name(p) for p, other in session.buffers.items() if other.unsaved and p != path],
        "theirs": held.theirs,
        "nodes": nodes,
        "faults": [_fault(fault, at, number) for number, fault in enumerate(session.faults(path))],
        "entries": [{"name": name, "type": type} for name, type in sorted(document.known().items())],
        "head": _head(session, draft, path),
        "undo": history.done[-1].label if history.done else "",
        "redo": history.undone[-1].label if history.undone else "",
    }


def _head(session: Session, draft: Draft, path: Path) -> dict[str, Json]:
    """Returns name, skills, ports and entries as they are written."""
    top = draft.document.root
    made: dict[str, Json] = {"tree": "", "about": "", "skills": [], "inputs": {}, "outputs": {}, "blackboard": {}}
    made["properties"] = {}
    for key, value in top.pairs if isinstance(top, YamlMap) else ():
        if key.text in ("tree", "about") and isinstance(value, Scalar):
            made[key.text] = value.text
        elif key.text == "skills" and isinstance(value, YamlList):
            made["skills"] = [item.text for item in value.items if isinstance(item, Scalar)]
        elif key.text in ("inputs", "outputs", "blackboard") and isinstance(value, YamlMap):
            made[key.text] = {name.text: _declared(draft, port) for name, port in value.pairs}
        elif key.text == "properties" and isinstance(value, YamlMap):
            made[key.text] = {name.text: written(draft, each) for name, each in value.pairs}
    tests = (session.workspace.root / "tests").glob(f"test_*{path.stem}*.py")
    made["tests"] = sorted(session.name(test) for test in tests)
    return {**made, "manifests": session.workspace.site(path).names("skills")}


def _declared(draft: Draft, port: Node) -> dict[str, Json]:
    """Returns what is declared of a port or an entry, each part as it is written: `integer` is a type alone."""
    if not isinstance(port, YamlMap):
        return {"type": written(draft, port)}
    return {key.text: written(draft, value) for key, value in port.pairs}


def _nodes(draft: Draft) -> tuple[list[dict[str, Json]], list[tuple[int, int, int]]]:
    """Returns the nodes, parents first, each with its lines, so that faults can be shown at their box."""
    root = draft.root
    if root is None:
        return [], []
    made: list[dict[str, Json]] = []
    lines: list[tuple[int, int, int]] = []
    numbers: dict[Item, int] = {}
    for number, item in enumerate(root.walk()):
        numbers[item] = number
        first, last = item.node.start.line + 1, draft.lines.last_of(item.node) + 1
        lines.append((first, last, number))
        made.append({
            "id": number, "path": list(item.path), "parent": numbers[item.parent] if item.parent is not None else None,
            "kind": item.key.text, "family": item.kind.family if item.kind is not None else "unknown",
            "name": _named(item), "gist": gist(item), "place": item.seat.field, "list": item.seat.in_list,
            "line": first, "last": last, "column": item.key.start.column + 1, "fields": fields(draft, item),
            "texts": texts(item), "maps": maps(draft, item), "guard": guard(item),
        })  # fmt: skip
    return made, lines


def _named(item: Item) -> str:
    return "" if item.name == item.key.text else item.name


def gist(item: Item) -> str:
    """Describes a node in a few words, by its most important value."""
    value, kind = item.value, item.kind
    if isinstance(value, Scalar):
        return _cut(value.text)
    if not isinstance(value, YamlMap):
        return ""
    bare = kind.bare if kind is not None else None
    for name in (bare, *_FIRST):
        found = value.get(name) if name else None
        if isinstance(found, Scalar):
            return _cut(found.text)
    below = {f.name for f in kind.node_fields} if kind is not None else set()
    quiet = below | {"name", "about", "with", "when", "unless"}  # a guard is told for itself
    told = [f"{k.text}: {v.text}" for k, v in value.pairs if isinstance(v, Scalar) and k.text not in quiet]
    return _cut(", ".join(told))


def guard(item: Item) -> str:
    """What has to hold for a node, in the words of its box; a guard that is a node by its kind."""
    value = item.value
    found = [(name, value.get(name)) for name in ("when", "unless")] if isinstance(value, YamlMap) else []
    told = [f"{name} {_asked(each)}" for name, each in found if each is not None]
    return _cut(", ".join(told))


def _asked(value: Node) -> str:
    if isinstance(value, Scalar):
        return value.text
    return value.pairs[0][0].text if isinstance(value, YamlMap) and value.pairs else "…"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"


def fields(draft: Draft, item: Item) -> dict[str, Json]:
    """Returns the fields in the text as they are written, without nodes."""
    kind, value = item.kind, item.value
    bare = kind.bare if kind is not None else None
    names = {f.name: f for f in (*(kind.fields if kind is not None else ()), *COMMON)}
    if not isinstance(value, YamlMap):
        known = names.get(bare) if bare else None
        plain = known is not None and not nothing(value) and known.type not in ("node", "nodes", "cases")
        return {bare: written(draft, value)} if plain and bare else {}
    if bare is not None and names[bare].type == "assignments" and value.get(bare) is None:
        return {bare: written(draft, value)}
    only = value.pairs[0][0].text if len(value.pairs) == 1 else ""
    if bare is not None and names[bare].type == "node" and only and only not in names:
        return {}
    found: dict[str, Json] = {}
    for key, inner in value.pairs:
        field = names.get(key.text)
        if field is None or field.type not in ("node", "nodes", "cases"):
            found[key.text] = written(draft, inner)
    return found


def texts(item: Item) -> dict[str, str]:
    """Returns the fields that hold one text or number, without quotes."""
    value, kind = item.value, item.kind
    if isinstance(value, Scalar):
        return {kind.bare: value.text[:_LONGEST]} if kind is not None and kind.bare and not nothing(value) else {}
    pairs = value.pairs if isinstance(value, YamlMap) else ()
    return {key.text: inner.text[:_LONGEST] for key, inner in pairs if isinstance(inner, Scalar)}


def maps(draft: Draft, item: Item) -> dict[str, dict[str, str]]:
    """The fields that hold a mapping of entries or ports to values, each value as it is written."""
    value, kind = item.value, item.kind
    bare = kind.field(kind.bare) if kind is not None and kind.bare else None
    if not isinstance(value, YamlMap):
        return {}
    if bare is not None and bare.type == "assignments" and value.get(bare.name) is None:
        return {bare.name: {key.text: written(draft, inner) for key, inner in value.pairs}}
    return {
        key.text: {name.text: written(draft, each) for name, each in inner.pairs}
        for key, inner in value.pairs
        if isinstance(inner, YamlMap)
    }


def written(draft: Draft, node: Node) -> str:
    """Returns a value as it is written, without indentation."""
    lines = draft.lines
    if isinstance(node, Scalar) and not lines.is_block(node):
        return draft.text[node.start.index : node.end.index][:_LONGEST]
    if lines.in_brackets(node):
        return draft.text[node.start.index : node.end.index][:_LONGEST]
    rows = lines.rows[node.start.line : lines.last_of(node) + 1]
    rows[0] = rows[0][node.start.column :]
    column = node.start.column
    return "\n".join([rows[0], *(row[min(column, len(row) - len(row.lstrip(" "))) :] for row in rows[1:])])[:_LONGEST]


def _fault(fault: Diagnostic, lines: list[tuple[int, int, int]], number: int) -> Json:
    span = fault.span
    line = span.line if span is not None else 1
    inner = [(last - first, node) for first, last, node in lines if first <= line <= last]
    return {
        "n": number, "code": fault.code, "severity": fault.severity, "message": fault.message, "help": fault.help,
        "line": line, "column": span.column if span is not None else 1,
        "end_line": span.end_line if span is not None else line,
        "end_column": span.end_column if span is not None else 1,
        "node": min(inner)[1] if inner else None, "fixes": [fix.title for fix in fault.fixes],
    }  # fmt: skip


def of_kind(kind: Kind) -> dict[str, Json]:
    """Describes a kind for the palette and the form."""
    return {
        "name": kind.name, "family": kind.family, "sign": kind.sign, "about": kind.about, "bare": kind.bare or "",
        "holds": [f.name for f in kind.node_fields], "several": any(f.type == "nodes" for f in kind.node_fields),
        "fields": [_field(f) for f in kind.fields if f.type not in ("node", "nodes", "cases")],
    }  # fmt: skip


def common() -> list[Json]:
    return [_field(f) for f in COMMON]


def _field(field: Field) -> Json:
    return {
        "name": field.name, "type": field.type, "about": field.about, "required": field.required,
        "default": "" if field.default is None else _shown(field.default),
        "choices": [_shown(c) for c in field.choices],
        "minimum": field.minimum, "maximum": field.maximum, "asks": field.asks, "writes": field.writes,
    }  # fmt: skip


def _shown(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)
