"""Keys that are added to a skill of a manifest: one line is written, and all others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from bt_author.edit.lines import Lines
from bt_runtime.agents.compile.yaml_text import scalar
from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Json

_BEFORE = ("sentence", "about", "params", "outputs", "needs")  # keys that a new one of facts follows


def with_fact(text: str, skill: str, key: str, fact: str) -> str:
    """The manifest with one more sentence in the skill's `needs` or `brings`."""
    rows, node = Lines(text), _skill(text, skill)
    listed = node.get(key)
    if isinstance(listed, YamlList) and rows.in_brackets(listed):
        comma = ", " if listed.items else ""
        return _inserted(text, _last(text, listed), f"{comma}{scalar(fact)}")
    if isinstance(listed, YamlList) and listed.items:
        at = rows.last_of(listed.items[-1])
        rows.rows.insert(at + 1, f"{' ' * (listed.start.column)}- {scalar(fact)}")
        return rows.text()
    if listed is not None and not (isinstance(listed, Scalar) and listed.value is None):
        raise BtError(f"`{key}` of `{skill}` is no list", "write it as [a, b]")
    if isinstance(listed, Scalar):
        return _inserted(text, listed.start.index, f" {scalar([fact])}")
    return _keyed(text, node, rows, f"{key}: {scalar([fact])}", _BEFORE)


def with_param(text: str, skill: str, param: str, key: str, value: Json) -> str:
    """The manifest with one more key of a parameter: `place: string` becomes `place: {type: string, from: places}`."""
    rows, params = Lines(text), _skill(text, skill).get("params")
    node = params.get(param) if isinstance(params, YamlMap) else None
    written = f"{key}: {scalar(value)}"
    if isinstance(node, YamlMap):
        return _keyed(text, node, rows, written, node.keys())
    if not isinstance(node, Scalar):
        raise BtError(f"`{skill}` has no parameter `{param}`", "read the manifest anew")
    return f"{text[: node.start.index]}{{type: {node.text}, {written}}}{text[node.end.index :]}"


def _skill(text: str, skill: str) -> YamlMap:
    top = source.parse(text, "manifest").root
    kinds = top.get("kinds") if isinstance(top, YamlMap) else None
    found = kinds.get(skill) if isinstance(kinds, YamlMap) else None
    if not isinstance(found, YamlMap):
        raise BtError(f"there is no skill `{skill}` in the manifest", "read the manifest anew")
    return found


def _keyed(text: str, node: YamlMap, rows: Lines, written: str, before: Sequence[str]) -> str:
    """Adds a key behind the last of `before`."""
    if rows.in_brackets(node):
        return _inserted(text, _last(text, node), f"{', ' if node.pairs else ''}{written}")
    placed = [pair for pair in node if pair[0].text in before] or node.pairs[-1:]
    at = max(rows.last_of(value) if value.start.index > key.start.index else key.start.line for key, value in placed)
    rows.rows.insert(at + 1, f"{' ' * node.pairs[0][0].start.column}{written}")
    return rows.text()


def _last(text: str, node: Node) -> int:
    """The place behind the last item in brackets."""
    items = [value for _, value in node.pairs] if isinstance(node, YamlMap) else getattr(node, "items", [])
    own = [item for item in items if item.start.index > node.start.index]  # an alias stands for a node elsewhere
    if own and own[-1] is items[-1]:
        return int(items[-1].end.index)
    end = node.end.index - 1
    while text[end - 1].isspace() or text[end - 1] == ",":
        end -= 1
    return int(end)


def _inserted(text: str, at: int, more: str) -> str:
    return f"{text[:at]}{more}{text[at:]}"
