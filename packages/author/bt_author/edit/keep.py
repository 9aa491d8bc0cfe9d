"""Keeps in the file what was tried in a run: a node's edited YAML, and a value as an entry's default."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bt_author.edit import brackets, header, values
from bt_author.edit.draft import Draft
from bt_author.edit.lines import Lines, Untouchable
from bt_author.edit.moves import node_of, placed_apart, put
from bt_author.edit.outline import Item
from bt_runtime.language import source
from bt_runtime.language.ports import type_name
from bt_runtime.language.source import YamlMap
from bt_runtime.types import Json

_BARE = re.compile(r"(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z_][\w-]*", re.IGNORECASE)


def kept(draft: Draft, given: Mapping[str, Any]) -> Draft:
    """Keeps a node's YAML (`kind`, `yaml`) at a line and column, or a value (as JSON) as the default of an `entry`."""
    if "entry" in given:
        return set_default(draft, str(given["entry"]), json.loads(given["value"]))
    return replace_node(draft, int(given["line"]), int(given["column"]), str(given["kind"]), str(given["yaml"]))


def item_at(draft: Draft, line: int, column: int) -> Item:
    """Returns the node at this place of the text, or the innermost one around the line."""
    items = [*draft.root.walk()] if draft.root is not None else []
    exact = next((i for i in items if (i.key.start.line + 1, i.key.start.column + 1) == (line, column)), None)
    around = [i for i in items if i.node.start.line < line <= draft.lines.last_of(i.node) + 1]
    if exact is None and not around:
        raise Untouchable(f"no node stands in line {line} any more", "look at the text as it is now")
    return exact or around[-1]


def replace_node(draft: Draft, line: int, column: int, kind: str, text: str) -> Draft:
    """Puts this YAML in the place of the node that begins there, which must be of this kind still. Comments above and
    below the node stay."""
    found = item_at(draft, line, column)
    if found.key.text != kind:
        raise Untouchable(
            f"the file has changed: `{found.key.text}` stands in line {line}, not `{kind}`", "edit it there"
        )
    rows, meant = node_of(_without_braces(text))
    item, where, draft = placed_apart(draft, found.path)
    lead = [draft.lines.rows[n].strip() for n in range(where.first, where.begins)]
    return put(draft, item, where._replace(last=draft.lines.last_of(item.node)), [[*lead, *rows]], [meant])


def _without_braces(text: str) -> str:
    """Returns a node that was cut out of brackets as lines of its own."""
    root, lines = source.parse(text, "node").root, Lines(text)
    if isinstance(root, YamlMap) and lines.in_brackets(root):
        return "\n".join(brackets.opened(text, lines, root, 0))
    return text


def set_default(draft: Draft, name: str, value: Json) -> Draft:
    """Makes this the default of an input or an entry; one that is not declared becomes an entry."""
    top, said = draft.top, _yaml(value)
    for section in ("inputs", "blackboard"):
        declared = top.get(section) if isinstance(top, YamlMap) else None
        port = declared.get(name) if isinstance(declared, YamlMap) else None
        if port is None:
            continue
        if not isinstance(port, YamlMap):
            return header.set_port(draft, section, name, f"{{type: {port.data()}, default: {said}}}")
        data = draft.data()
        data[section][name]["default"] = value
        old, key = port.get("default"), next((k for k, _ in port.pairs if k.text == "default"), None)
        if old is not None and key is not None:
            if draft.lines.in_brackets(port):
                return draft.means(draft.text[: old.start.index] + said + draft.text[old.end.index :], data)
            return draft.means(values.behind(draft, key, old, [said]), data)
        if draft.lines.in_brackets(port):
            end = port.end.index - 1
            return draft.means(f"{draft.text[:end].rstrip()}, default: {said}{draft.text[end:]}", data)
        last = draft.lines.last_of(port)
        row = f"{' ' * port.start.column}default: {said}"
        return draft.means(draft.lines.replaced(last + 1, last, [row]), data)
    return header.set_port(draft, "blackboard", name, f"{{type: {type_name(value)}, default: {said}}}")


def _yaml(value: Json) -> str:
    """Returns a value as YAML of one line; a plain word is written without quotes."""
    if isinstance(value, str) and _BARE.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
