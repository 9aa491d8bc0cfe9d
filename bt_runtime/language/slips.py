"""What people write where something else is meant, and how it is written. Asked only where something is wrong."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from bt_runtime.language.kinds.kind import COMMON_NAMES, NODE_TYPES, Kind, Registry
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap

SHORT = 60  # characters of what was written that a hint repeats
_WORD = r"[A-Za-z_]\w*"  # compiled where it is needed: nothing here is, for what is sound
_JOINED = r"([A-Za-z_]\w*)(?::| +)(?!:)\s*(\S.*)"  # `log "abc"`, `log:abc`


def nothing(node: Node) -> bool:
    """`key` with no value at all."""
    return isinstance(node, Scalar) and node.value is None and node.plain and not node.text


def hole(node: Node) -> str:
    """The text between the braces, when a text with a hole was written without quotes: `{room}`."""
    if not isinstance(node, YamlMap) or len(node.pairs) != 1:
        return ""
    key, value = node.pairs[0]
    return key.text if key.plain and nothing(value) and len(key.text) <= SHORT else ""


def after_comma(name: Scalar, value: Node) -> str:
    """`{about: one, two}`: what stands behind the comma is read as a key."""
    return "a comma ends the value before it: quote that" if nothing(value) and name.plain else ""


def joined(text: str, kinds: Container[str]) -> str:
    """`log "abc"` and `log:abc`, which are plain texts."""
    found = re.fullmatch(_JOINED, text, re.DOTALL)
    if found is None or found[1] not in kinds or len(text) > SHORT:
        return ""
    return f"a colon and a space: `{found[1]}: {found[2]}`"


def inward(kind: Kind, first: Scalar, value: Node, name: Scalar, field: Node) -> str:
    """`log: a` and below it `when: x`, which belongs into the node."""
    if name.text not in COMMON_NAMES and kind.field(name.text) is None:
        return ""
    if nothing(value):
        return f"indent `{name.text}` further than `{first.text}`"
    bare = kind.bare if isinstance(value, Scalar) else None
    if bare is None or not isinstance(value, Scalar) or not isinstance(field, Scalar):
        return f"`{name.text}` belongs into the mapping below `{first.text}`"
    written = f"{first.text}: {{{bare}: {_again(value)}, {name.text}: {_again(field)}}}"
    return f"write `{written}`" if len(written) <= 2 * SHORT else f"`{name.text}` belongs below `{first.text}`"


def _again(value: Scalar) -> str:
    """As it may stand in braces."""
    if isinstance(value.value, str) and (not value.plain or set(value.text) & set(",[]{}:#\"'")):
        return '"' + value.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return value.text


def kind_as_field(kind: Kind, name: str, registry: Registry) -> str:
    """`timeout: {seconds: 3, sequence: […]}`: the field that the node belongs below."""
    if name not in registry:
        return ""
    return next((f.name for f in kind.fields if f.type in NODE_TYPES and f.required), "")


def nodes_inside(value: Node, registry: Container[str]) -> list[Node]:
    """What looks like nodes below a kind that is not known: the outermost ones."""
    found: list[Node] = []
    todo = [value]
    while todo:
        node = todo.pop()
        if _is_node(node, registry):
            found.append(node)
        elif isinstance(node, YamlList) and any(_is_node(item, registry) for item in node):
            found.extend(node.items)  # where one is a node, all are meant to be
        elif not isinstance(node, Scalar):
            todo.extend(reversed(_inner(node)))
    return found


def _is_node(node: Node, registry: Container[str]) -> bool:
    return isinstance(node, YamlMap) and len(node.pairs) == 1 and node.pairs[0][0].text in registry


def words(node: Node, apart: Sequence[Node] = ()) -> set[str]:
    """Every word of what could not be read, but for these nodes in it: it may name entries."""
    found: set[str] = set()
    read = {id(each) for each in apart}
    todo = [node]
    while todo:
        each = todo.pop()
        if id(each) in read:
            continue
        if isinstance(each, Scalar):
            found.update(re.findall(_WORD, each.text))
            continue
        if isinstance(each, YamlMap):
            found.update(word for key, _ in each for word in re.findall(_WORD, key.text))
        todo.extend(_inner(each))
    return found


def _inner(node: YamlMap | YamlList) -> list[Node]:
    return node.items if isinstance(node, YamlList) else [value for _, value in node]
