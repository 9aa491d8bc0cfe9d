"""Gestures on nodes: add, delete, move, copy, wrap, unwrap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_author.edit import brackets, values
from bt_author.edit.comments import placed
from bt_author.edit.draft import Draft, reach
from bt_author.edit.lines import Lines, Region, Untouchable, dashed, region, shifted, taken
from bt_author.edit.outline import FieldSlot, Item, Path, slots
from bt_runtime.language import source
from bt_runtime.language.fixes import STEP, sample
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.source import Scalar, YamlList, YamlMap, nothing


def copied(draft: Draft, path: Path) -> str:
    """Returns a node's text with its comments, for the clipboard."""
    _item, where, draft = placed_apart(draft, path)
    return "\n".join(taken(draft.lines, where)) + "\n"


def placed_apart(draft: Draft, path: Path) -> tuple[Item, Region, Draft]:
    """Puts the node on lines of its own; returns it in the new draft, with its lines."""
    draft = draft.apart(path)
    item = draft.item(path)
    return item, region(draft.lines, item.node, item.seat.in_list), draft


def node_of(rows: str | Sequence[str]) -> tuple[list[str], Any]:
    """Parses the rows of a node to insert; returns them with its data."""
    text = rows if isinstance(rows, str) else "\n".join(rows)
    document = source.parse(text, "node")
    root = document.root
    if root is None or document.diagnostics or not isinstance(root, YamlMap) or len(root.pairs) != 1:
        raise Untouchable("what is to be put in is not one node", "a node is `kind: ...`")
    made = text.strip("\n").split("\n")
    if root.start.column:
        made = [row[min(root.start.column, len(row) - len(row.lstrip(" "))) :] for row in made]
    return made, root.data()


def insert(draft: Draft, parent: Path, index: int, node: str, place: str = "") -> Draft:
    """Inserts a node among another one's children; `place` names the field when several take nodes."""
    rows, meant = node_of(node)
    draft = draft.apart(parent)
    item = draft.item(parent)
    slot = _slot(item, place)
    if slot.field.type == "cases":
        raise Untouchable("a case needs its value", f"wrap or set `{slot.field.name}` in the text")
    if slot.field.type != "nodes":
        if slot.value is not None and not _stands_in(slot):
            raise Untouchable(
                f"`{slot.field.name}` of `{item.key.text}` is taken", "wrap what stands there, or swap it"
            )
        return _only(draft, parent, slot.field, rows)
    if isinstance(slot.value, YamlList) and slot.value.items:
        return _among(draft, item, slot, index, rows, meant)
    return _first(draft, parent, item, slot, rows, meant)


def _slot(item: Item, place: str) -> FieldSlot:
    found = list(slots(item))
    name = place.partition(":")[0]
    wanted = [s for s in found if s.field.name == name] if name else [s for s in found if s.field.type == "nodes"]
    empty = [s for s in found if s.field.type == "node" and (s.value is None or _stands_in(s))]
    wanted = wanted or ([] if name else empty)
    if not wanted:
        raise Untouchable(f"`{item.key.text}` takes no node there", "put it beside, or wrap it in a control node")
    return wanted[0]


def _stands_in(slot: FieldSlot) -> bool:
    """True for the `succeed: {}` that a new decorator comes with: the first node that is put there takes its place."""
    return slot.value is not None and slot.value.data() == {"succeed": {}}


def _only(draft: Draft, parent: Path, field: Field, rows: list[str]) -> Draft:
    return values.set_field(draft, parent, field.name, "\n".join(rows))


def _among(draft: Draft, item: Item, slot: FieldSlot, index: int, rows: list[str], meant: Any) -> Draft:
    assert isinstance(slot.value, YamlList)
    if draft.lines.in_brackets(slot.value):
        path = item.path
        draft = draft.same(brackets.without_brackets(draft.text, draft.top, slot.value))
        item = draft.item(path)
        slot = _slot(item, slot.field.name)
    listed = slot.value
    assert isinstance(listed, YamlList)
    count = len(listed.items)
    index = max(0, min(index, count))
    near = region(draft.lines, listed.items[min(index, count - 1)], True)
    data = draft.data()
    reach(data, _way(item, slot)).insert(index, meant)
    at = near.first if index < count else near.last + 1
    if index < count and draft.lines.rows[near.first][: near.dash].strip():
        raise Untouchable("this list begins on the line of its parent", "write it on lines of its own first")
    return draft.means(draft.lines.replaced(at, at - 1, dashed(rows, near.dash)), data)


def _way(item: Item, slot: FieldSlot) -> tuple[str | int, ...]:
    way = (*item.data, item.key.text)
    return way if slot.bare else (*way, slot.field.name)


def _first(draft: Draft, parent: Path, item: Item, slot: FieldSlot, rows: list[str], meant: Any) -> Draft:
    """Inserts the first node of a list that is empty or missing."""
    data = draft.data()
    inside = reach(data, item.data)
    made = dashed(rows, 0)
    bare = item.kind is not None and item.kind.bare == slot.field.name
    if (
        slot.bare
        or (nothing(item.value) and bare)
        or (isinstance(item.value, YamlMap) and not item.value.pairs and bare)
    ):
        inside[item.key.text] = [meant]
        return draft.means(values.behind(draft, item.key, item.value, made, below=True), data)
    if slot.value is not None:
        assert isinstance(item.value, YamlMap)
        inside[item.key.text][slot.field.name] = [meant]
        key, old = next((k, v) for k, v in item.value.pairs if k.text == slot.field.name)
        return draft.means(values.behind(draft, key, old, made, below=True), data)
    return values.set_field(draft, parent, slot.field.name, "\n".join(made))


def delete(draft: Draft, path: Path) -> Draft:
    """Returns the tree without this node. When the last child is deleted, an empty list remains."""
    item, where, draft = placed_apart(draft, path)
    if item.parent is None:
        raise Untouchable("a tree needs its first node", "swap it for another kind, or delete the file")
    data = draft.data()
    slot = _slot_of(item)
    if item.seat.in_list:
        del reach(data, item.data[:-1])[item.data[-1]]
        assert isinstance(item.seat.holder, YamlList)
        if len(item.seat.holder.items) > 1:
            return draft.means(draft.lines.replaced(where.first, where.last, ()), data)
        return draft.means(_emptied(draft.lines, where, _key_of(item)), data)
    if slot.field.type == "cases" or not slot.bare:
        name = item.seat.field.partition(":")[2] or slot.field.name
        return _without_pair(draft, item, name)
    raise Untouchable(f"`{item.parent.key.text}` needs this node", "delete the node above, or swap this one")


def _slot_of(item: Item) -> FieldSlot:
    assert item.parent is not None
    return _slot(item.parent, item.seat.field)


def _key_of(item: Item) -> Scalar:
    """Returns the key of the list that holds this node."""
    parent = item.parent
    assert parent is not None
    slot = _slot_of(item)
    if slot.bare:
        return parent.key
    assert isinstance(parent.value, YamlMap)
    return next(key for key, _ in parent.value.pairs if key.text == slot.field.name)


def _emptied(lines: Lines, where: Region, key: Scalar) -> str:
    """Returns the text with the list emptied of its only node."""
    made = Lines(lines.text())
    del made.rows[where.first : where.last + 1]
    row = made.rows[key.end.line]
    colon = row.index(":", key.end.column) + 1
    made.rows[key.end.line] = f"{row[:colon]} []{row[colon:]}"
    return made.text()


def _without_pair(draft: Draft, item: Item, name: str) -> Draft:
    holder = item.seat.holder
    assert isinstance(holder, YamlMap)
    if len(holder.pairs) == 1:
        raise Untouchable(f"`{item.parent.key.text if item.parent else ''}` needs this node", "delete the node above")
    data = draft.data()
    del reach(data, item.data[:-1])[item.data[-1]]
    key, last = holder.pairs[item.seat.number][0], region(draft.lines, item.node, False).last
    first = draft.lines.above(key.start.line, key.start.column)
    if draft.lines.rows[key.start.line][: key.start.column].strip():
        raise Untouchable("this field stands on the line of its node", "move it in the text first")
    return draft.means(draft.lines.replaced(first, last, ()), data)


def put(
    draft: Draft, item: Item, where: Region, pieces: Sequence[list[str]], meant: Sequence[Any], count: int = 1
) -> Draft:
    """Puts other nodes, their rows and their data, in the place of this node, and of `count` in all with those after
    it."""
    data = draft.data()
    if item.seat.in_list:
        at = item.data[-1]
        assert isinstance(at, int)
        reach(data, item.data[:-1])[at : at + count] = meant
        made = [row for piece in pieces for row in dashed(piece, where.dash)]
    else:
        reach(data, item.data[:-1])[item.data[-1]] = meant[0]
        made = shifted(pieces[0], where.column)
    return draft.means(draft.lines.replaced(where.first, where.last, made), data)


def move(draft: Draft, path: Path, parent: Path, index: int, place: str = "") -> Draft:
    """Moves a node with its comments. `index` counts the children before the move."""
    if parent[: len(path)] == path:
        raise Untouchable("a node cannot be moved into itself", "choose another place")
    item = draft.item(path)
    if item.parent is None:
        raise Untouchable("a tree needs its first node", "copy it instead")
    node = copied(draft, path)
    same = item.parent.path == parent and (not place or place == item.seat.field)
    if same and item.seat.in_list and index in (item.seat.number, item.seat.number + 1):
        return draft
    field = _slot(draft.item(parent), place).field.name
    made = insert(draft, parent, index, node, place)
    return delete(made, _original(made, path, parent, index, field))


def _original(made: Draft, path: Path, parent: Path, index: int, field: str) -> Path:
    """Returns the place of a node after its copy was inserted: one further if the copy stands before it."""
    depth = len(parent)
    if path[:depth] != parent:
        return path
    inside = [n for n, c in enumerate(made.item(parent).children) if c.seat.field.partition(":")[0] == field]
    copy = inside[max(0, min(index, len(inside) - 1))]
    return path if path[depth] < copy else (*path[:depth], path[depth] + 1, *path[depth + 1 :])


def wrap(draft: Draft, path: Path, kind: Kind, count: int = 1) -> Draft:
    """Puts this node, and `count` in all with those after it, into a new node of this kind."""
    several = next((f for f in kind.node_fields if f.type == "nodes"), None)
    single = next((f for f in kind.node_fields if f.type == "node"), None)
    into = several or single
    if into is None or any(f.required and f.type == "cases" for f in kind.fields):
        raise Untouchable(f"`{kind.name}` takes no nodes", "choose a control node or a decorator")
    if several is None and count != 1:
        raise Untouchable(f"`{kind.name}` takes one node", "wrap them in a sequence first")
    item, where, draft = placed_apart(draft, path)
    regions, inner = [where], [item.node.data()]
    for number in range(1, count):
        beside = draft.item((*path[:-1], path[-1] + number))
        regions.append(region(draft.lines, beside.node, True))
        inner.append(beside.node.data())
    pieces = [taken(draft.lines, each) for each in regions]
    rows, meant = _around(kind, into, pieces, inner)
    return put(draft, item, where._replace(last=regions[-1].last), [rows], [meant], count)


def _around(kind: Kind, into: Field, pieces: list[list[str]], inner: list[Any]) -> tuple[list[str], Any]:
    needed = {f.name: sample(f) for f in kind.fields if f.required and f is not into}
    meant: dict[str, Any] = {name: values.written(text) for name, text in needed.items()}
    body: list[str] = []
    for piece in pieces:
        body += dashed(piece, 0) if into.type == "nodes" else piece
    within: Any = inner if into.type == "nodes" else inner[0]
    if not needed and kind.bare == into.name:
        return [f"{kind.name}:", *shifted(body, STEP)], {kind.name: within}
    fields = [f"{name}: {text}" for name, text in needed.items()]
    rows = [f"{kind.name}:", *shifted([*fields, f"{into.name}:", *shifted(body, STEP)], STEP)]
    return rows, {kind.name: {**meant, into.name: within}}


def unwrap(draft: Draft, path: Path) -> Draft:
    """Replaces this node by the nodes within it; its own fields are removed."""
    item, where, draft = placed_apart(draft, path)
    below = [c for c in item.children if c.seat.field.partition(":")[0] in _holding(item)]
    if not below:
        raise Untouchable("there is no node within", "delete it instead")
    if any(isinstance(s.value, YamlList) and len(s.value.items) != sum(c.seat.holder is s.value for c in below)
           for s in slots(item)):  # fmt: skip
        raise Untouchable("something within is no node", "mend it first")
    if len(below) != 1 and not item.seat.in_list:
        raise Untouchable("only one node may stand here", "delete the others within first")
    for child in below:
        draft = draft.apart(child.path)
    item, where, draft = placed_apart(draft, path)
    below = [c for c in item.children if c.seat.field.partition(":")[0] in _holding(item)]
    regions = [region(draft.lines, c.node, c.seat.in_list) for c in below]
    pieces = [taken(draft.lines, each) for each in regions]
    pieces[0] = [*orphans(draft, where, regions), *pieces[0]]
    return put(draft, item, where, pieces, [c.node.data() for c in below])


def _holding(item: Item) -> set[str]:
    return {f.name for f in item.kind.node_fields} if item.kind is not None else set()


def orphans(draft: Draft, where: Region, regions: list[Region]) -> list[str]:
    """Keeps comments of a removed node: they move above the first remaining one."""
    inside = {n for each in regions for n in range(each.first, each.last + 1)}
    starts = [0]
    for row in draft.text.split("\n"):
        starts.append(starts[-1] + len(row) + 1)
    out = []
    for offset, text in placed(draft.text, draft.top):
        number = next(n for n in range(len(starts) - 1) if starts[n] <= offset < starts[n + 1])
        if where.first <= number <= where.last and number not in inside:
            out.append(text)
    return out
