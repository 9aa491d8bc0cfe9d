"""Fixes that write another library's node, or a field of it, as ours. A certain one does the same as it does there."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.language import nesting
from bt_runtime.language.faults.diagnostic import Edit, Fix
from bt_runtime.language.foreign_names import Meant
from bt_runtime.language.kinds.kind import COMMON_NAMES, NODE_TYPES, Kind, Registry
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, nothing
from bt_runtime.types import Span

# What other libraries call our fields.
_FIELDS = {
    "seconds": ("duration", "secs", "sec", "timeout", "delay", "time"),
    "times": ("attempts", "num_attempts", "num_cycles", "max_attempts", "max_tries", "number_of_retries", "retries",
              "max_retries", "num_retries", "count", "cycles", "n"),
    "in": ("items", "list", "over"), "as": ("var", "item"), "check": ("condition", "cond", "test"),
    "file": ("id", "ID", "tree", "path"), "updated": ("entry",), "entry": ("key",), "text": ("message", "msg"),
    "why": ("reason", "message", "msg"), "hz": ("frequency",),
    "success": ("success_count", "success_threshold", "threshold"), "failure": ("failure_count", "failure_threshold"),
}  # fmt: skip
_COMMON = {  # fields of any node
    "when": ("if", "condition", "precondition", "guard"), "unless": ("_skipIf", "skip_if"),
    "about": ("description", "comment", "doc", "note"), "name": ("label", "title", "id", "ID"),
}  # fmt: skip
_MILLISECONDS = ("msec", "ms", "millis", "milliseconds", "timeout_ms", "delay_msec")
_RETRIES = ("retries", "max_retries", "num_retries")  # the attempts after the first, or all of them
_POLICIES = {"SuccessOnAll": ("success: -1", True), "SuccessOnOne": ("success: 1", False)}  # policies of py_trees


class Renamed(NamedTuple):
    """Our field for another library's field. Without `fixes` the label names a certain one."""

    field: str
    label: str
    fixes: tuple[Fix, ...] = ()


def field(kind: Kind, fields: Node, name: Scalar, value: Node) -> Renamed | None:
    """Returns our field for a field that `kind` does not have; None when the name is unknown."""
    if kind.field("seconds") is not None and name.text in _MILLISECONDS:
        return _seconds(name, value)
    if kind.name == "rate" and name.text in ("seconds", "period", *_FIELDS["seconds"]):
        return _hertz(name, value)
    if kind.name == "parallel" and name.text == "policy":
        return _policy(name, value)
    if kind.name in ("sequence", "fallback") and name.text == "memory" and isinstance(fields, YamlMap):
        return _memory(kind, fields, name, value)
    ours = next((ours for ours, names in _FIELDS.items() if name.text in names and kind.field(ours) is not None), "")
    ours = ours or next((ours for ours, names in _COMMON.items() if name.text in names), "")
    if not ours or (isinstance(fields, YamlMap) and fields.get(ours) is not None):
        return None
    doubtful = (kind.name == "retry" and name.text in _RETRIES) or ours in ("when", "unless")
    fixes = (Fix(f"write `{ours}`", (Edit(name.span, ours),)),) if doubtful else ()
    return Renamed(
        ours,
        f"did you mean `{ours}`" + (", all attempts with the first?" if ours == "times" and doubtful else "?"),
        fixes,
    )


def _seconds(name: Scalar, value: Node) -> Renamed:
    number = value.value if isinstance(value, Scalar) else None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Renamed("seconds", "`seconds` is meant, of which a millisecond is 0.001")
    written = f"{round(number / 1000, 6):g}"
    edits = (Edit(name.span, "seconds"), Edit(value.span, written))
    label = f"in seconds: `seconds: {written}`"
    return Renamed("seconds", label, (Fix(f"write `seconds: {written}`", edits, True),))


def _hertz(name: Scalar, value: Node) -> Renamed:
    number = value.value if isinstance(value, Scalar) else None
    if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
        return Renamed("hz", "`hz` is meant, of which once in 5 seconds is 0.2")
    written = f"hz: {round(1 / number, 6):g}"
    edits = (Edit(name.span, "hz"), Edit(value.span, written.removeprefix("hz: ")))
    return Renamed("hz", f"once in {number:g} s is `{written}`", (Fix(f"write `{written}`", edits, True),))


def _policy(name: Scalar, value: Node) -> Renamed:
    written, same = _POLICIES.get(value.text if isinstance(value, Scalar) else "", ("", False))
    edits = (Edit(name.span._replace(end_line=value.span.end_line, end_column=value.span.end_column), written),)
    fixes = (Fix(f"write `{written}`", edits, same),) if written else ()
    return Renamed("success", "`success: 1`: one is enough; `success: -1`: all must", fixes)


def _memory(kind: Kind, fields: YamlMap, name: Scalar, value: Node) -> Renamed:
    if isinstance(value, Scalar) and value.value is False:
        return Renamed("", f"write `reactive_{kind.name}`, and leave `memory` out")
    edits = nesting.without(fields, name)
    fixes = (Fix("leave `memory` out", edits, True),) if edits and getattr(value, "value", None) is True else ()
    return Renamed("", f"leave it out: a `{kind.name}` keeps its place while a child runs", fixes)


def node(key: Scalar, value: Node, meant: Meant, registry: Registry) -> tuple[Fix, ...]:
    """Returns the fix that writes our kind with the fields that it needs to do the same."""
    kind = registry[meant.kind]
    fields = tuple(f for f in meant.fields if not isinstance(value, YamlMap) or value.get(f.partition(":")[0]) is None)
    edits: tuple[Edit, ...] = ()
    if fields and not nothing(value):
        edits = _with(kind, key, value, fields)
    elif fields:
        at = Span(key.end.line + 1, key.end.column + 2, key.end.line + 1, key.end.column + 2)
        edits = (Edit(at, f" {{{', '.join(fields)}}}"),)
    sure = meant.same and bool(edits or not fields)
    title = f"write `{kind.name}`" + (f" with `{', '.join(fields)}`" if fields and edits else "")
    for name, each in value if isinstance(value, YamlMap) and kind.name == "rate" else ():
        if (ours := field(kind, value, name, each)) and ours.fixes:
            edits, title = (*ours.fixes[0].edits, *edits), f"{title} and `{ours.fixes[0].title[7:-1]}`"
    return (Fix(title, (Edit(key.span, kind.name), *edits), sure),)


def _with(kind: Kind, key: Scalar, value: Node, fields: tuple[str, ...]) -> tuple[Edit, ...]:
    """Writes fields into a node, whose value may be its children alone."""
    nodes = next((f for f in kind.fields if f.type in NODE_TYPES), None)
    if isinstance(value, YamlMap):
        own = any(kind.field(each.text) is not None or each.text in COMMON_NAMES for each, _ in value)
        if own or nodes is None or len(value.pairs) != 1:
            return (nesting.first(value, fields),)
        return nesting.beneath(key, value, fields, nodes.name)
    if isinstance(value, YamlList) and nodes is not None and nodes.type == "nodes":
        return nesting.beneath(key, value, fields, nodes.name)
    return ()
