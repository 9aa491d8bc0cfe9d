"""The snippet for a kind or a field: valid as inserted, with tab stops at values that are likely to change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bt_runtime.language import source
from bt_runtime.language.fixes import STEP, sample
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.spec import Port

_STOP = re.compile(r"\$\{\d+:((?:\\.|[^}\\])*)\}|\\(.)")


def escaped(text: str) -> str:
    return re.sub(r"([$}\\])", r"\\\1", text)


def plain(snippet: str) -> str:
    """Returns the text of a snippet for an editor without tab stops."""
    return _STOP.sub(lambda m: _STOP.sub(r"\2", m[1]) if m[1] is not None else m[2], snippet)


class _Stops:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str) -> str:
        self.count += 1
        return f"${{{self.count}:{escaped(text)}}}"


def of_kind(kind: Kind, column: int, flow: bool) -> str:
    """The snippet of a kind: `kind: …` in the form of its example, or with its required fields."""
    example = skill_example(kind) if kind.family == "skill" else kind.example
    root = source.parse(example).root if example else None
    stop = _Stops()
    if not isinstance(root, YamlMap):
        return f"{kind.name}: {{{escaped('}')}"
    if flow:
        key, value = root.pairs[0]
        return f"{key.text}: {_flowing(value, stop)}"
    pieces, at = [], 0
    for scalar in scalars(root):
        begin, end = scalar.start.index, scalar.end.index
        if begin < at or end == begin or scalar.text in ("{}", "[]"):
            continue
        pieces += [escaped(example[at:begin]), stop(example[begin:end])]
        at = end
    pieces.append(escaped(example[at:].rstrip("\n")))
    return "".join(pieces).replace("\n", "\n" + " " * column)


def skill_example(kind: Kind) -> str:
    given = [f"  {field.name}: {sample(field)}\n" for field in kind.fields if field.required]
    return f"{kind.name}:\n{''.join(given)}" if given else f"{kind.name}: {{}}\n"


def scalars(node: Node | None) -> Iterator[Scalar]:
    """Yields the texts and numbers within a value."""
    if isinstance(node, Scalar):
        yield node
    elif node is not None:
        for inner in node.items if isinstance(node, YamlList) else [value for _, value in node]:
            yield from scalars(inner)


def _flowing(node: Node, stop: _Stops) -> str:
    if isinstance(node, Scalar):
        if node.value is None:
            return escaped("{}")
        text = node.text
        simple = node.plain and not re.search(r"[,\[\]{}:#\"']", text)
        return stop(text if simple else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
    if isinstance(node, YamlList):
        return f"[{', '.join(_flowing(item, stop) for item in node)}]"
    return "{" + ", ".join(f"{key.text}: {_flowing(value, stop)}" for key, value in node) + escaped("}")


def of_field(field: Field, column: int, flow: bool) -> str:
    """The snippet of a field: `field: …` with a valid value."""
    if flow or field.type not in ("node", "nodes", "cases"):
        value = sample(field)
        if field.default is not None and isinstance(field.default, str | bool | int | float) and not field.writes:
            value = _scalar(field.default)
        return f"{field.name}: ${{1:{escaped(value)}}}"
    deeper = "\n" + " " * (column + STEP)
    node = f"${{1:succeed}}: {escaped('{}')}"
    return f"{field.name}:{deeper}" + {"node": node, "nodes": f"- {node}", "cases": f"one:{deeper}  {node}"}[field.type]


def of_port(port: Port, here: bool) -> str:
    value = f'"{{{port.name}}}"' if here else sample(port)
    return f"{port.name}: ${{1:{escaped(value)}}}"


def _scalar(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value.isidentifier() else f'"{value}"'
    return str(value)
