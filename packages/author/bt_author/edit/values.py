"""Sets, adds and removes fields of a node in the text; everything but the value stays as written."""

from __future__ import annotations

from bt_author.edit import brackets
from bt_author.edit.comments import comment_of
from bt_author.edit.draft import Draft, reach
from bt_author.edit.lines import Lines, Untouchable
from bt_author.edit.outline import Item, Path, is_bare
from bt_runtime.language import source
from bt_runtime.language.fixes import STEP
from bt_runtime.language.kinds.kind import COMMON_NAMES
from bt_runtime.language.source import Node, Scalar, YamlMap, nothing
from bt_runtime.types import Json

_WIDTH = 100  # a node in brackets that would become longer gets lines of its own


def written(value: str) -> Json:
    """Returns the value of this YAML; raises when it is invalid."""
    document = source.parse(value if value.strip() else "''", "value")
    if document.root is None or document.diagnostics:
        fault = document.diagnostics[0] if document.diagnostics else None
        raise Untouchable(f"this is not YAML: {fault.message if fault else value!r}", fault.help if fault else "")
    return document.root.data()


def set_field(draft: Draft, path: Path, name: str, value: str) -> Draft:
    """Sets this field to a value, given as YAML."""
    item = draft.item(path)
    data, meant = draft.data(), written(value)
    rows = value.rstrip("\n").split("\n")
    if "\n" in value.strip("\n"):  # more than brackets can hold
        draft = draft.apart(path)
        item = draft.item(path)
    inside = reach(data, item.data)
    kind = item.key.text
    bare = item.kind.field(item.kind.bare) if item.kind is not None and item.kind.bare else None
    if bare is not None and bare.name == name and is_bare(bare, item.kind, item.value):  # type: ignore[arg-type]
        inside[kind] = meant
        return draft.means(_valued(draft, item, rows), data)
    empty = isinstance(item.value, YamlMap) and not item.value.pairs
    if empty and bare is not None and bare.name == name and not isinstance(meant, dict):
        inside[kind] = meant
        return draft.means(_valued(draft, item, rows), data)
    if isinstance(item.value, YamlMap) and not (bare is not None and is_bare(bare, item.kind, item.value)):  # type: ignore[arg-type]
        old = item.value.get(name)
        inside[kind][name] = meant
        text = _added(draft, item, name, rows) if old is None else _changed(draft, item, name, rows)
        return draft.means(text, data)
    if nothing(item.value):
        if bare is not None and bare.name == name:
            inside[kind] = meant
            return draft.means(_valued(draft, item, rows), data)
        inside[kind] = {name: meant}
        return draft.means(_valued(draft, item, _pair(name, rows), below=True), data)
    if bare is None:
        raise Untouchable(f"`{kind}` takes no bare value here", "mend it in the text first")
    inside[kind] = {bare.name: inside[kind], name: meant}
    named = named_bare(draft, path)
    return named.means(_added(named, named.item(path), name, rows), data)


def _pair(name: str, rows: list[str]) -> list[str]:
    first = _parsed(rows)
    if len(rows) == 1 and (isinstance(first, Scalar) or brackets_of(rows)):
        return [f"{name}: {rows[0]}"]
    if rows[0].lstrip().startswith(("|", ">")):
        return [f"{name}: {rows[0]}", *rows[1:]]
    return [f"{name}:", *(" " * STEP + row if row.strip() else "" for row in rows)]


def _parsed(rows: list[str]) -> Node | None:
    return source.parse("\n".join(rows), "value").root


def brackets_of(rows: list[str]) -> bool:
    return rows[0].lstrip().startswith(("[", "{"))


def _valued(draft: Draft, item: Item, rows: list[str], below: bool = False) -> str:
    """Replaces the value of the kind's own key."""
    return behind(draft, item.key, item.value, rows, below)


def behind(draft: Draft, key: Scalar, old: Node, rows: list[str], below: bool = False) -> str:
    """Replaces the value of this key, on its line or below it."""
    text, _lines = draft.text, draft.lines
    inline = not below and len(rows) == 1 and (isinstance(_parsed(rows), Scalar) or brackets_of(rows))
    block = not below and rows[0].lstrip().startswith(("|", ">"))
    end = _end_of(draft, key, old)
    rest_end = text.find("\n", end)
    rest_end = len(text) if rest_end < 0 else rest_end
    rest = text[end:rest_end].rstrip("\r")
    beside = _beside(text, key, old)
    if inline:
        gap = " " if rows[0] else ""
        return text[: key.end.index] + ":" + gap + rows[0] + (f" {beside}" if beside else "") + text[end:]
    if rest.strip() and not rest.lstrip().startswith("#"):
        raise Untouchable("something follows this value on its line", "write it on a line of its own first")
    note = f" {beside or rest.strip()}" if beside or rest.strip() else ""
    if beside and rest.strip():
        note = f" {beside} {rest.strip()}"
    column = key.start.column + STEP
    head = text[: key.end.index] + ":" + (f" {rows[0].strip()}" if block else "") + note
    body = [" " * column + row if row.strip() else "" for row in (_block(rows[1:]) if block else rows)]
    return "\n".join([head, *body]) + text[rest_end:]


def _beside(text: str, key: Scalar, old: Node) -> str:
    """Returns the comment on the line of a key whose value stands below it."""
    if nothing(old) or old.start.line <= key.end.line:
        return ""
    line_end = text.find("\n", key.end.index)
    return comment_of(text[key.end.index : line_end])


def _block(rows: list[str]) -> list[str]:
    least = min((len(r) - len(r.lstrip()) for r in rows if r.strip()), default=0)
    return [row[least:] for row in rows]


def _end_of(draft: Draft, key: Scalar, old: Node) -> int:
    """Returns the end of the old value in the text: after its last character."""
    text, lines = draft.text, draft.lines
    if nothing(old):
        colon = text.index(":", key.end.index)
        return colon + 1
    if isinstance(old, Scalar) and not lines.is_block(old):
        return old.end.index
    if lines.in_brackets(old):
        return old.end.index
    last = lines.last_of(old)
    start = sum(len(row) + (2 if lines.windows else 1) for row in lines.rows[:last])
    return start + len(lines.rows[last].rstrip())


def _changed(draft: Draft, item: Item, name: str, rows: list[str]) -> str:
    assert isinstance(item.value, YamlMap)
    key, old = next((k, v) for k, v in item.value.pairs if k.text == name)
    if draft.lines.in_brackets(item.value) and len(rows) == 1:
        return draft.text[: old.start.index] + rows[0] + draft.text[old.end.index :]
    return behind(draft, key, old, rows)


def _added(draft: Draft, item: Item, name: str, rows: list[str]) -> str:
    """Adds the field after the node's other fields, or before its children; short fields come first."""
    text, lines, value = draft.text, draft.lines, item.value
    assert isinstance(value, YamlMap)
    if lines.in_brackets(value):
        row = lines.rows[value.end.line]
        longer = len(row) + len(name) + len(rows[0]) + 4
        if len(rows) == 1 and (longer <= _WIDTH or not value.pairs or draft.lines.in_brackets(item.node)):
            gap = ", " if value.pairs else ""
            at = value.end.index - 1
            return text[:at].rstrip(" ") + f"{gap}{name}: {rows[0]}" + text[at:]
        open_ = draft.same(brackets.without_brackets(text, draft.top, value))
        return _added(open_, open_.item(item.path), name, rows)
    column = value.pairs[0][0].start.column
    before = _before_nodes(item, value)
    made = [" " * column + row if row.strip() else "" for row in _pair(name, rows)]
    if before is None:
        after = lines.last_of(value)
        return lines.replaced(after + 1, after, made)
    first = lines.above(before.start.line, column)
    if first <= value.start.line and lines.rows[first][:column].strip():
        raise Untouchable("this node begins on its parent's line", "write it on lines of its own first")
    return lines.replaced(first, first - 1, made)


def _before_nodes(item: Item, value: YamlMap) -> Scalar | None:
    """Returns the key of the first child list, before which a field is inserted; None: append it."""
    if item.kind is None:
        return None
    nodes = {f.name for f in item.kind.node_fields}
    for key, _ in value.pairs:
        if key.text in nodes:
            return key
    return None


def named_bare(draft: Draft, path: Path) -> Draft:
    """Rewrites `log: hello` as `log: {message: hello}` on several lines, so that more fields can be added."""
    draft = draft.apart(path)
    item = draft.item(path)
    kind, value, text, lines = item.kind, item.value, draft.text, draft.lines
    bare = kind.field(kind.bare) if kind is not None and kind.bare else None
    if bare is None or kind is None or nothing(value) or not is_bare(bare, kind, value):
        return draft
    data = draft.data()
    inside = reach(data, item.data)
    inside[item.key.text] = {bare.name: inside[item.key.text]}
    column = item.key.start.column + STEP
    if value.start.line == item.key.end.line:  # `log: hello`
        start = item.key.end.index
        made = text[:start] + ":\n" + " " * column + f"{bare.name}: " + text[value.start.index :]
        if (lines.is_block(value) if isinstance(value, Scalar) else False) or value.end.line > value.start.line:
            made = _deeper(lines, item, value, f"{bare.name}: ")
        return draft.means(made, data)
    first, last = item.key.start.line + 1, lines.last_of(value)
    rows = [" " * STEP + row if row.strip() else row for row in lines.rows[first : last + 1]]
    return draft.means(lines.replaced(first, last, [" " * column + f"{bare.name}:", *rows]), data)


def _deeper(lines: Lines, item: Item, value: Node, label: str) -> str:
    """Indents a value of several lines that begins on the line of its key."""
    number, column = item.key.end.line, item.key.start.column + STEP
    row, last = lines.rows[number], lines.last_of(value)
    first = [row[: item.key.end.column] + ":", " " * column + label + row[value.start.column :]]
    below = [" " * STEP + r if r.strip() else r for r in lines.rows[number + 1 : last + 1]]
    return lines.replaced(number, last, [*first, *below])


def rename_field(draft: Draft, path: Path, name: str, other: str) -> Draft:
    """Renames a key and keeps its value."""
    item = draft.item(path)
    assert isinstance(item.value, YamlMap)
    key = next((k for k, _ in item.value.pairs if k.text == name), None)
    if key is None:
        return draft
    data = draft.data()
    inside = reach(data, item.data)
    kind = item.key.text
    inside[kind] = {other if k == name else k: v for k, v in inside[kind].items()}
    return draft.means(draft.text[: key.start.index] + other + draft.text[key.end.index :], data)


def remove_field(draft: Draft, path: Path, name: str) -> Draft:
    """Removes this field, and the comments beside its value."""
    item = draft.item(path)
    if not isinstance(item.value, YamlMap) or item.value.get(name) is None:
        raise Untouchable(f"there is no `{name}` here", "")
    if name not in COMMON_NAMES and item.kind is not None:
        known = item.kind.field(name)
        if known is not None and known.type in ("node", "nodes", "cases"):
            raise Untouchable(f"nodes stand in `{name}`", "delete or unwrap the nodes")
    data = draft.data()
    del reach(data, item.data)[item.key.text][name]
    if len(item.value.pairs) == 1:
        reach(data, item.data)[item.key.text] = {}
        return draft.means(_valued(draft, item, ["{}"]), data)
    number = next(i for i, (k, _) in enumerate(item.value.pairs) if k.text == name)
    key, value = item.value.pairs[number]
    text, lines = draft.text, draft.lines
    if lines.in_brackets(item.value):
        start, end = key.start.index, value.end.index if not nothing(value) else key.end.index + 1
        if number + 1 < len(item.value.pairs):
            end = item.value.pairs[number + 1][0].start.index
        else:
            before = item.value.pairs[number - 1][1]
            start = before.end.index if not nothing(before) else start
        return draft.means(text[:start] + text[end:], data)
    first, last = key.start.line, max(lines.last_of(value), key.end.line)
    if lines.rows[first][: key.start.column].strip():  # the key shares its line with the dash
        raise Untouchable("this field stands on the line of its node", "move it in the text first")
    notes = [_beside(text, key, value), comment_of(lines.rows[last], _end_column(lines, value, last))]
    kept = [" " * key.start.column + note for note in dict.fromkeys(notes) if note]
    return draft.means(lines.replaced(first, last, kept), data)


def _end_column(lines: Lines, value: Node, last: int) -> int:
    """Returns the column where a value ends on its last line; the line's end when the value has lines of its own."""
    single = isinstance(value, Scalar) and not lines.is_block(value)
    if (single or lines.in_brackets(value)) and value.end.line == last:
        return value.end.column
    return len(lines.rows[last])
