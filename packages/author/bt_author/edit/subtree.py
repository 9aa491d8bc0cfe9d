"""Moves a branch to a tree of its own, with ports for the entries it reads and writes; and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bt_author.edit.draft import Draft
from bt_author.edit.lines import Lines, Untouchable, region, shifted, taken
from bt_author.edit.moves import placed_apart, put
from bt_author.edit.outline import Item, Path
from bt_author.lsp.entries import EntryPlace, EntryPlaces
from bt_runtime.language.fixes import STEP
from bt_runtime.language.source import Scalar, YamlMap
from bt_runtime.language.spec import Port
from bt_runtime.types import Json


@dataclass(frozen=True)
class Extracted:
    """The changed tree, and the text of the new one."""

    rest: Draft
    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def extract(draft: Draft, path: Path, name: str, entries: EntryPlaces) -> Extracted:
    """Moves the branch to a tree called `name`; a `tree` node replaces it."""
    item = draft.item(path)
    inside, outside = _sides(draft, item, entries)
    used = {place.name for place in outside}
    given = {place.name for place in inside}
    outputs = tuple(dict.fromkeys(p.name for p in inside if p.role == "write" and p.name in used))
    known = used | set(entries.tree.ports)
    inputs = tuple(n for n in dict.fromkeys(p.name for p in inside) if n in known and n in given and n not in outputs)
    item, where, draft = placed_apart(draft, path)
    rows = taken(draft.lines, where)
    ports = {port: f"{{{port}}}" for port in (*inputs, *outputs)}
    node: Json = {"tree": {"file": name, "with": ports} if ports else name}
    rest = put(draft, item, where, [_including(name, ports)], [node])
    return Extracted(rest, _tree(draft, name, inputs, outputs, entries, rows), inputs, outputs)


def _sides(draft: Draft, item: Item, entries: EntryPlaces) -> tuple[list[EntryPlace], list[EntryPlace]]:
    first, last = item.node.start.line + 1, draft.lines.last_of(item.node) + 1
    start = (first, item.node.start.column + 1)
    end = (last, item.node.end.column + 1) if draft.lines.in_brackets(item.node) else (last + 1, 0)
    inside: list[EntryPlace] = []
    outside: list[EntryPlace] = []
    for place in entries.places:
        within = start <= (place.span.line, place.span.column) < end
        (inside if within else outside).append(place)
    return inside, outside


def _including(name: str, ports: Mapping[str, str]) -> list[str]:
    if not ports:
        return [f"tree: {name}"]
    return ["tree:", f"  file: {name}", "  with:", *(f'    {port}: "{value}"' for port, value in ports.items())]


def _tree(
    draft: Draft, name: str, inputs: Iterable[str], outputs: Iterable[str], entries: EntryPlaces, rows: list[str]
) -> str:
    made = ["version: 1", f"tree: {name.rpartition('/')[2]}", *_skills(draft)]
    for label, names in (("inputs", tuple(inputs)), ("outputs", tuple(outputs))):
        if names:
            made += [f"{label}:", *(f"  {n}: {_port(n, entries)}" for n in names)]
    return "\n".join([*made, "root:", *shifted(rows, STEP)]) + "\n"


def _skills(draft: Draft) -> list[str]:
    """Returns the manifests that the tree lists, as they are written."""
    top = draft.top
    if isinstance(top, YamlMap):
        for key, value in top.pairs:
            if key.text == "skills":
                return draft.lines.rows[key.start.line : draft.lines.last_of(value) + 1]
    return []


def _port(name: str, entries: EntryPlaces) -> str:
    known: Port | None = entries.tree.ports.get(name)
    if known is None:
        return entries.types.get(name, "any")
    said = [f"type: {known.type}"]
    said += [f"choices: [{', '.join(str(c) for c in known.choices)}]"] if known.choices else []
    said += [f"minimum: {known.minimum:g}"] if known.minimum is not None else []
    said += [f"maximum: {known.maximum:g}"] if known.maximum is not None else []
    return str(known.type) if len(said) == 1 else f"{{{', '.join(said)}}}"


def inline(draft: Draft, path: Path, other: Draft, mine: EntryPlaces, theirs: EntryPlaces) -> Draft:
    """Replaces this `tree` node by the nodes of the tree that it names; its ports become entries of this tree."""
    item = draft.item(path)
    if item.key.text != "tree":
        raise Untouchable(f"`{item.key.text}` stands for no other tree", "choose a `tree` node")
    given = _given(item)
    renamed: dict[str, str] = {}
    for port in (*theirs.tree.inputs.values(), *theirs.tree.outputs.values()):
        if port.name not in given:
            if theirs.named(port.name):
                raise Untouchable(f"`{port.name}` of that tree is not given here", "give it an entry, then inline")
            continue
        renamed[port.name] = given[port.name]
    if theirs.tree.entries:
        first = next(iter(theirs.tree.entries))
        raise Untouchable(f"that tree has an entry `{first}` of its own", "declare it here first, then make it a port")
    for name in {place.name for place in theirs.places} - set(renamed):
        if name in mine.types:
            raise Untouchable(f"both trees have an entry `{name}`", "rename one of them first")
    inner = Draft(_renamed(other, renamed, theirs).text, other.registry).apart(())
    root = inner.item(())
    rows = taken(inner.lines, region(inner.lines, root.node, False))
    item, where, draft = placed_apart(draft, path)
    lead = [draft.lines.rows[n].strip() for n in range(where.first, where.begins)]
    return put(draft, item, where, [[*lead, *rows]], [root.node.data()])


def _given(item: Item) -> dict[str, str]:
    """Maps each port to the entry passed to it."""
    value = item.value
    if isinstance(value, Scalar):
        return {}
    if isinstance(value, YamlMap):
        extra = [k.text for k, _ in value.pairs if k.text not in ("file", "with", "name", "about")]
        if extra:
            raise Untouchable(f"this node has `{extra[0]}`, which would be lost", "wrap it first, and set it there")
        given = value.get("with")
        found: dict[str, str] = {}
        for key, inner in given.pairs if isinstance(given, YamlMap) else ():
            text = inner.text.strip() if isinstance(inner, Scalar) else ""
            name = text[1:-1].strip() if text.startswith("{") and text.endswith("}") else ""
            if not name.isidentifier():
                raise Untouchable(f"`{key.text}` is given a value, and not an entry", "write it to an entry first")
            found[key.text] = name
        return found
    return {}


def _renamed(draft: Draft, names: Mapping[str, str], entries: EntryPlaces) -> Draft:
    """Returns the text with these entries renamed."""
    edits = []
    for old, new in names.items():
        if old != new:
            edits += [(p.span, new) for p in entries.named(old) if p.role in ("read", "write")]
    lines = Lines(draft.text)
    for span, new in sorted(edits, reverse=True):
        row = lines.rows[span.line - 1]
        lines.rows[span.line - 1] = row[: span.column - 1] + new + row[span.end_column - 1 :]
    return Draft(lines.text(), draft.registry)
