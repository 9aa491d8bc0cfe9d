"""Recognises frequent mistakes and suggests the correct form; used only after a fault."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Sequence

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.expression import compile
from bt_runtime.language.faults.diagnostic import BtError, Edit, Fix
from bt_runtime.language.fixes import quoted
from bt_runtime.language.kinds.kind import COMMON_NAMES, NODE_TYPES, Kind, Registry
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, nothing

SHORT = 60  # characters of what was written that a hint repeats
_WORD = r"[A-Za-z_]\w*"  # compiled where it is needed: nothing here is, for what is sound
_JOINED = r"([A-Za-z_]\w*)(?::| *=(?!=)| +)(?![:=])\s*(\S.*)"  # `log "abc"`, `log:abc`, `log = abc`


BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}  # booleans of YAML 1.1, texts since 1.2
_TYPES = {
    "integer": ("int", "long", "unsigned", "uint"), "number": ("float", "double", "real", "decimal", "num"),
    "boolean": ("bool",), "string": ("str", "text", "std::string"), "list": ("array", "vector", "tuple", "sequence"),
    "object": ("dict", "map", "mapping", "struct", "record"),
}  # fmt: skip


# `${mode}` of shells, and a text that is nothing but `{{mode}}`.
_OTHER_HOLES = r"\$\{\s*([A-Za-z_][\w.]*)\s*\}|\A\{\{\s*([A-Za-z_][\w.]*)\s*\}\}\Z"


def other_holes(node: Scalar, file: str, diagnostics: Diagnostics) -> None:
    """Warns about the holes of other languages: `${mode}` writes a dollar sign, `{{mode}}` a brace."""
    for found in re.finditer(_OTHER_HOLES, node.text):
        written = f"{{{found[1] or found[2]}}}"
        shown = "`$` is written out" if found[1] else "two braces stand for a brace"
        at, text = node.part(*found.span()), node.text[: found.start()] + written + node.text[found.end() :]
        edit = Edit(node.span, quoted(text)) if node.plain and not found.start() else Edit(at, written)
        help = "if that is meant: " + ('`{"$"}` is a dollar sign' if found[1] else '`{"{"}` is a brace')
        message = f"{shown} here, and `{written}` is the value"
        ways = (Fix(f"write `{written}`", (edit,)),)
        diagnostics.warning("BT036", message, file, at, f"write `{written}`", help, ways)


# What others call the parts of a tree file, of a port, of a manifest.
_HEADS = {
    "blackboard": ("variables", "vars", "entries", "state"), "tree": ("name", "id", "title"),
    "inputs": ("params", "parameters", "arguments", "args"), "outputs": ("returns", "results"),
    "skills": ("imports", "import", "uses", "use"), "root": ("main", "behavior", "behaviour", "main_tree"),
    "about": ("description", "doc", "comment", "notes"), "default": ("value", "initial", "init", "initial_value"),
    "choices": ("enum", "values", "options", "one_of"), "minimum": ("ge", "low"), "maximum": ("le", "high"),
}  # fmt: skip


def head_meant(word: str, known: Collection[str]) -> str:
    """Returns our key for another format's; "" when it is unknown."""
    return next((ours for ours, names in _HEADS.items() if ours in known and word.casefold() in names), "")


def port_meant(node: Node) -> str:
    """Recognises a value in the place of a port's type: `battery: 1.0`; returns the port with it as its default."""
    value = node.value if isinstance(node, Scalar) else None
    types = {bool: "boolean", int: "integer", float: "number"}
    type = types.get(value.__class__, "")
    return f"{{type: {type}, default: {node.text}}}" if isinstance(node, Scalar) and type else ""


def type_meant(word: str) -> str:
    """Returns our name for another language's type, such as `int`; "" when it is unknown."""
    name = word.casefold().partition("<")[0].rstrip("?")
    if name.endswith("[]"):
        return "list"
    return name if name in _TYPES else next((ours for ours, names in _TYPES.items() if name in names), "")


def after_comma(name: Scalar, value: Node) -> str:
    """Explains `{about: one, two}`, where the text behind the comma is read as a key."""
    return "a comma ends the value before it: quote that" if nothing(value) and name.plain else ""


def joined(text: str, kinds: Registry) -> str:
    """Recognises `log "abc"` and `log:abc`, which are plain texts."""
    found = re.fullmatch(_JOINED, text, re.DOTALL)
    if found is None or found[1] not in kinds or len(text) > SHORT:
        return ""
    kind = kinds.get(found[1])
    value = found[2] if kind is None or kind.bare is not None else bare(kind, found[2])
    return f"a colon and a space: `{found[1]}: {value}`"


def called(text: str, kinds: Registry, lead: str = "write ") -> str:
    """Recognises `go_to(hall, 2)`, the call of a skill."""
    found = re.fullmatch(r"([A-Za-z_]\w*)\(([^()]*)\)", text)
    kind = kinds.get(found[1]) if found is not None and len(text) <= SHORT else None
    if found is None or kind is None:
        return ""
    given = [each.strip() for each in found[2].split(",")] if found[2].strip() else []
    bare = f"{given[0]}" if len(given) == 1 and kind.bare is not None else "{}" if not given else several(kind, given)
    return f"{lead}`{kind.name}: {bare}`" if bare else ""


def several(kind: Kind, given: Sequence[str]) -> str:
    """Returns values in the order of a skill's fields as a mapping of them; "" when they do not fit."""
    takes = [f.name for f in kind.fields if not f.writes and f.type not in NODE_TYPES]
    needed = sum(f.required for f in kind.fields)
    if kind.family != "skill" or len(given) < 2 or not needed <= len(given) <= len(takes):
        return ""
    return f"{{{', '.join(f'{name}: {value.strip()}' for name, value in zip(takes, given, strict=False))}}}"


def bare(kind: Kind, value: str) -> str:
    """Returns a bare value below its probable field: the only required one, or the only one."""
    needed = [f for f in kind.fields if f.required] or list(kind.fields)
    field = needed[0] if len(needed) == 1 and needed[0].type not in NODE_TYPES else None
    return f"{{{field.name}: {value}}}" if field is not None else value


def boolean(node: Node) -> str:
    """Recognises `yes` in place of `true`."""
    meant = BOOLEANS.get(node.text.casefold()) if isinstance(node, Scalar) and node.plain else None
    return f"write `{meant}`" if meant is not None else ""


_COUNTS = {
    "times": dict.fromkeys(("forever", "inf", "infinite", "infinity", "always", "unlimited"), "-1"),
    "success": {"all": "-1", "any": "1", "one": "1"}, "failure": {"all": "-1", "any": "1", "one": "1"},
}  # fmt: skip


def instead(name: str, type: str, node: Node, text: str) -> str:
    """Returns what to write for a text where a number, a boolean, a list or a mapping belongs."""
    if type == "boolean" and boolean(node):
        return boolean(node)
    if type in ("integer", "number"):
        if re.fullmatch(r"-?\d+" + (r"(\.\d+)?" if type == "number" else ""), text):
            return f"write `{text}`"
        if meant := _COUNTS.get(name, {}).get(text.casefold()):
            return f"write `{meant}`"
        if name == "seconds" and (said := _seconds(text)):
            return said
    plain = isinstance(node, Scalar) and node.plain and len(text) <= SHORT
    if plain and re.fullmatch(_WORD, text):
        return f"if an entry is meant: `{quoted(f'{{{text}}}')}`"
    return f"to compute it: `{quoted(f'{{{text}}}')}`" if plain and computes(text) else ""


def computes(text: str) -> bool:
    """True when the text looks like an expression: it holds an operator, or calls a function."""
    try:
        found = compile(text) if len(text) < 200 else None
    except BtError:
        return False
    return found is not None and (bool(found.names) or "(" in text) and found.part.how != "name"


def _seconds(text: str) -> str:
    """Recognises `wait: 5s` and `wait: until n > 3` in place of a number of seconds, and shows the correct form."""
    if text.startswith("until ") and len(text) <= SHORT:
        test = text.removeprefix("until ").strip()
        return f"write `{{until: {quoted(test) if set(test) & _MARKS else test}}}`"
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|sec|secs|seconds?|ms|msec|min|minutes?|h|hours?)", text)
    if found is None:
        return ""
    factor = {"m": 0.001, "i": 60.0, "h": 3600.0}.get(found[2][:2].replace("mi", "i")[:1], 1.0)
    return f"in seconds: `{round(float(found[1]) * factor, 6):g}`"


def assigned(node: Node) -> str:
    """Recognises `set: n = 3`, `set: n += 1` and `set: [n: 3]`."""
    if isinstance(node, YamlList) and node.items and all(isinstance(i, YamlMap) and i.pairs for i in node.items):
        return "without the list, a mapping: `entry: value`"
    text = node.text if isinstance(node, Scalar) else ""
    text = re.sub(rf"\A({_WORD})\s*(?:([-+*/])=\s*|([-+])\3\Z)", r"\1 = \1 \2\3 ", text) + (
        "1" if text[-2:] in ("++", "--") else ""
    )
    found = re.fullmatch(rf"({_WORD})\s*:?=\s*([^=].*)", text)
    if found is None or len(text) > SHORT:
        return ""
    plain = re.fullmatch(r"-?\d+(\.\d+)?|true|false|null|\"[^\"]*\"|'[^']*'", found[2])
    return f"write `{{{found[1]}: {found[2] if plain else quoted(f'{{{found[2]}}}')}}}`"


_MARKS = frozenset(",[]{}:#\"'")


def inward(kind: Kind, first: Scalar, value: Node, name: Scalar, field: Node) -> str:
    """Recognises `log: a` followed by a more indented `when: x`, which belongs into the node."""
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
    """Returns the scalar as YAML text, quoted where a flow mapping needs quotes."""
    if isinstance(value.value, str) and (not value.plain or set(value.text) & set(",[]{}:#\"'")):
        return '"' + value.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return value.text


def kind_as_field(kind: Kind, name: str, registry: Registry) -> str:
    """Recognises a node among fields: `timeout: {seconds: 3, sequence: […]}`; the node belongs below a field."""
    if name not in registry:
        return ""
    return next((f.name for f in kind.fields if f.type in NODE_TYPES and f.required), "")


def nodes_inside(value: Node, registry: Container[str]) -> list[Node]:
    """Returns the outermost node-like values below an unknown kind."""
    found: list[Node] = []
    todo = [value]
    while todo:
        node = todo.pop()
        if is_node(node, registry):
            found.append(node)
        elif isinstance(node, YamlList) and any(is_node(item, registry) for item in node):
            found.extend(node.items)  # where one item is a node, all are meant to be
        elif not isinstance(node, Scalar):
            todo.extend(reversed(_inner(node)))
    return found


def is_node(node: Node, registry: Container[str]) -> bool:
    return isinstance(node, YamlMap) and len(node.pairs) == 1 and node.pairs[0][0].text in registry


def words(node: Node, apart: Sequence[Node] = ()) -> set[str]:
    """Returns all words of an unreadable part, without these nodes in it: they may name entries."""
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
