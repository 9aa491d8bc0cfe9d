"""Checks the entries of one tree: which are read or written, which are declared, and their types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.checks.references import PlacedExpression, Usage, Use
from bt_runtime.language.diagnostics import Diagnostics, did_you_mean
from bt_runtime.language.expression import Expression, compile
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.ports import an, flows, unfit
from bt_runtime.language.source import Scalar, YamlMap
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.language.values import Computed, inside, is_entry
from bt_runtime.types import Json, Span

if TYPE_CHECKING:
    from bt_runtime.language.checks.types import Clash

_NOT = "not "


def check_types(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Checks reads and writes against the declared types."""
    _written_inputs(tree, used, diagnostics)
    _assignments(tree, used, diagnostics)
    _texts(tree, used, diagnostics)
    _references(tree, used, diagnostics)
    _expressions(tree, used, diagnostics)


def check_known(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Warns about entries that are read and never written, or written and never read."""
    written = {w.name for w in used.writes}
    known = written | tree.ports.keys() | used.perhaps
    for name, read in _first(used.reads).items():
        if name not in known and not diagnostics.full("warning"):
            from bt_runtime.language.checks import doubts

            label, ways = did_you_mean(name, written | tree.ports.keys()), ()
            label, ways = doubts.output_of(tree, name) or (label, ways)
            diagnostics.warning(
                "BT023", f"nothing in this tree writes `{name}`", read.spec.file, read.span, label,
                _outside(name, read), ways,
            )  # fmt: skip
    if any(use.field.name == "as" and use.spec.kind.node_fields for use in used.writes):
        from bt_runtime.language.checks import doubts

        doubts.after_the_loop(tree, used, diagnostics)
    for port in tree.outputs.values():
        if port.required and port.name not in written | used.perhaps:
            diagnostics.warning("BT023", f"nothing in this tree writes its output `{port.name}`", tree.file, port.span)
    _unread(tree, used, diagnostics)


def _outside(name: str, read: Use) -> str:
    value = read.spec.values.get(read.field.name)
    from bt_runtime.language.checks import types

    text = isinstance(value, Expression) and types.compared(value.part, name)
    return (f'if it is a text: `"{name}"`; ' if text else "") + (
        f"if it comes from outside, say so: `blackboard: {{{name}: any}}`"
    )


def _first(uses: Sequence[Use]) -> dict[str, Use]:
    """Returns the first use of each name, in the order of the text."""
    found: dict[str, Use] = {}
    for use in uses:
        found.setdefault(use.name, use)
    return found


def _unread(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    read = {r.name for r in used.reads} | used.asked | used.perhaps | looked_at(tree)
    known = read | tree.ports.keys()
    for name, use in _first(used.writes).items():
        by_default = use.field.writes and use.field.name not in use.spec.given
        if name not in read and name not in tree.ports and not by_default:
            diagnostics.warning(
                "BT024",
                f"nothing in this tree reads `{name}`",
                use.spec.file,
                use.span,
                did_you_mean(name, known, 0.75),
                help="if it is meant for outside, make it an output: `outputs: {" + name + ": any}`",
            )
    for port in tree.inputs.values():
        if port.name not in read:
            diagnostics.warning("BT024", f"nothing in this tree reads its input `{port.name}`", tree.file, port.span)


def _written_inputs(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    for use in used.writes:
        if use.name in tree.inputs:
            diagnostics.error(
                "BT044",
                f"`{use.name}` is an input and cannot be written",
                use.spec.file,
                use.span,
                help="write an entry of another name, or make it an output",
            )


def _assignments(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Checks that values written to a typed entry have its type, as far as the text shows."""
    ports = tree.ports
    for use in used.writes:
        port = ports.get(use.name)
        if port is None or use.name in tree.inputs:
            continue
        if use.field.type == "assignments":
            value = use.spec.values[use.field.name].get(use.name)
            problem = "" if use.spec.kind.includes else _of_value(tree, port, value)
        else:
            written = use.spec.values[use.field.name][use.name].type if use.field.type == "outputs" else use.field.type
            fits_type = written not in DATA_TYPES or flows(written, port.type)
            problem = "" if fits_type else f"`{port.name}` is {an(port.type)}, and this writes {an(written)}"
        if problem:
            span, label = _way_out(use, port, value if use.field.type == "assignments" else None)
            diagnostics.error("BT021", problem, use.spec.file, span or use.span, label)


def _way_out(use: Use, port: Port, value: Json) -> tuple[Span | None, str]:
    """Returns the place of the value and a suggestion: for a misspelt choice, or for `k: k + 1` without braces."""
    given = use.spec.given.get(use.field.name)
    node = given.get(use.name) if isinstance(given, YamlMap) else None
    if node is None:
        return None, ""
    if not isinstance(value, str):
        return node.span, ""
    if port.choices:
        return node.span, did_you_mean(value, [str(choice) for choice in port.choices])
    if port.type == "boolean":
        from bt_runtime.language import typos

        return node.span, typos.boolean(node)
    if port.type in ("string", "any") or not _computes(value):
        return node.span, ""
    return node.span, f'to compute it: `"{{{value}}}"`'


def _computes(text: str) -> bool:
    """True when the text looks like an expression: it holds a name and an operator."""
    try:
        found = compile(text) if len(text) < 200 else None
    except BtError:
        return False
    return found is not None and bool(found.names) and found.part.how != "name"


def _texts(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Warns about `set: {k: k + 1}` and `set: {k: no}` for an entry of any type, which write the text. Only texts whose
    names are all entries are reported."""
    known = {*tree.ports, *(use.name for use in used.writes)}
    for use in used.writes:
        port, value = tree.ports.get(use.name), None
        if use.field.type == "assignments" and not use.spec.kind.includes and not diagnostics.full("warning"):
            value = use.spec.values[use.field.name].get(use.name)
        given = use.spec.given.get(use.field.name)
        node = given.get(use.name) if isinstance(given, YamlMap) else None
        if not isinstance(value, str) or (port is not None and port.type != "any"):
            continue
        if isinstance(node, Scalar) and node.plain and len(value) < 4:
            from bt_runtime.language.checks import doubts

            doubts.no_boolean(value, node, use.spec.file, diagnostics)
        plain = isinstance(node, Scalar) and node.plain and set(value) & set("+*/<>=")
        if node is not None and plain and _computes(value) and set(compile(value).names) <= known:
            label = f'to compute it: `"{{{value}}}"`'
            message = f"this writes the text `{value:.40}`, and computes nothing"
            diagnostics.warning("BT021", message, use.spec.file, node.span, label)


def declared(tree: TreeSpec) -> dict[str, str]:
    """Returns the entries with a declared type."""
    return {name: port.type for name, port in tree.ports.items() if port.type != "any"}


def _of_value(tree: TreeSpec, port: Port, value: Json) -> str:
    """Returns why the port cannot take this value; "" when it can or when the type is unknown."""
    if isinstance(value, Expression):
        from bt_runtime.language.checks import types

        found = types.misfit(value, declared(tree), port.type)
        return f"`{port.name}` is {an(port.type)}, and this is {an(found)}" if found is not None else ""
    return "" if isinstance(value, Computed) else unfit(port, value)


def _expressions(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Checks the operations on values of declared types."""
    known = declared(tree)
    for each in used.expressions if known else ():
        if diagnostics.full() or known.keys().isdisjoint(each.expression.names):
            continue
        from bt_runtime.language.checks import doubts, types

        clashes = types.clashes(each.expression, known)
        for clash in clashes:
            named = [n for n in each.expression.names if n in known and _within(each.expression, n, clash)]
            label = ", ".join(f"`{name}` is {an(known[name])}" for name in named[:2])
            span, hint, ways = inside(each.node, clash.start + each.shift, clash.end + each.shift), clash.hint, ()
            if clash.never and "null" in clash.message:
                hint, ways = doubts.null_meant(each, clash.start, clash.end) or (hint, ways)
            say = diagnostics.warning if clash.never else diagnostics.error
            say("BT034", clash.message, each.spec.file, span, label, hint, ways)
        _result(each, known, diagnostics, bool(clashes))


def _within(expression: Expression, name: str, clash: Clash) -> bool:
    return re.search(rf"\b{name}\b", expression.text[clash.start : clash.end]) is not None


def _result(each: PlacedExpression, known: Mapping[str, str], diagnostics: Diagnostics, clashed: bool) -> None:
    """Checks an expression's result type against its field. A lone entry name is checked by `_references`."""
    field = each.field
    if clashed or not each.alone or field.type not in DATA_TYPES or field.writes or is_entry(each.expression):
        return
    from bt_runtime.language.checks import types

    found = types.misfit(each.expression, known, field.type)
    if found is not None:
        message = f"`{field.name}` takes {an(field.type)}, and this is {an(found)}"
        diagnostics.error("BT021", message, each.spec.file, each.node.span)


def _references(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    ports = tree.ports
    for read in used.reads:
        port = ports.get(read.name)
        if port and read.whole and read.field.type in DATA_TYPES and not flows(port.type, read.field.type):
            diagnostics.error(
                "BT021",
                f"`{read.field.name}` takes {an(read.field.type)}, and `{read.name}` is {an(port.type)}",
                read.spec.file,
                read.span,
            )


def looked_at(tree: TreeSpec) -> set[str]:
    """The entries that fill a slot, or that decide whether a skill is possible now."""
    found: set[str] = set()
    for entry in (kind.data["entry"] for kind in tree.registry.skills() if "entry" in kind.data):
        found.update(entry.agent_options.sources.values())
        for fact in entry.needs:
            words = fact.removeprefix(_NOT).partition("{")[0].split()
            found.update("_".join(words[: n + 1]) for n in range(len(words)))
    return found
