"""The entries of one tree: read and written, declared and not, and of which type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bt_runtime.language.checks import types
from bt_runtime.language.checks.actions import looked_at
from bt_runtime.language.checks.references import Placed, Usage, Use
from bt_runtime.language.checks.subtree_ports import unfit
from bt_runtime.language.expression import Expression
from bt_runtime.language.findings import Findings, did_you_mean
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.ports import an, flows
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.language.values import Computed, inside, is_entry
from bt_runtime.types import Json


def check_types(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    """What is read and written against what is declared."""
    _written_inputs(tree, used, findings)
    _assignments(tree, used, findings)
    _references(tree, used, findings)
    _expressions(tree, used, findings)


def check_known(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    """What is read and never written, or written and never read."""
    written = {w.name for w in used.writes}
    known = written | tree.ports.keys() | used.perhaps
    for name, read in _first(used.reads).items():
        if name not in known and not findings.full("warning"):
            findings.warning(
                "BT023",
                f"nothing in this tree writes `{name}`",
                read.spec.file,
                read.span,
                did_you_mean(name, written | tree.ports.keys()),
                _outside(name, read),
            )
    for port in tree.outputs.values():
        if port.required and port.name not in written | used.perhaps:
            findings.warning("BT023", f"nothing in this tree writes its output `{port.name}`", tree.file, port.span)
    _unread(tree, used, findings)


def _outside(name: str, read: Use) -> str:
    value = read.spec.values.get(read.field.name)
    text = isinstance(value, Expression) and types.compared(value.part, name)
    return (f'if it is a text: `"{name}"`; ' if text else "") + (
        f"if it comes from outside, say so: `blackboard: {{{name}: any}}`"
    )


def _first(uses: Sequence[Use]) -> dict[str, Use]:
    """The first use of each name, in the order of the text."""
    found: dict[str, Use] = {}
    for use in uses:
        found.setdefault(use.name, use)
    return found


def _unread(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    read = {r.name for r in used.reads} | used.asked | used.perhaps | looked_at(tree)
    for name, use in _first(used.writes).items():
        by_default = use.field.writes and use.field.name not in use.spec.given
        if name not in read and name not in tree.ports and not by_default:
            findings.warning(
                "BT024",
                f"nothing in this tree reads `{name}`",
                use.spec.file,
                use.span,
                help="if it is meant for outside, make it an output: `outputs: {" + name + ": any}`",
            )
    for port in tree.inputs.values():
        if port.name not in read:
            findings.warning("BT024", f"nothing in this tree reads its input `{port.name}`", tree.file, port.span)


def _written_inputs(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    for use in used.writes:
        if use.name in tree.inputs:
            findings.error(
                "BT044",
                f"`{use.name}` is an input and cannot be written",
                use.spec.file,
                use.span,
                help="write an entry of another name, or make it an output",
            )


def _assignments(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    """What is written to a typed entry must be of its type, as far as that can be seen."""
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
            findings.error("BT021", problem, use.spec.file, use.span)


def declared(tree: TreeSpec) -> dict[str, str]:
    """The entries whose types are known."""
    return {name: port.type for name, port in tree.ports.items() if port.type != "any"}


def _of_value(tree: TreeSpec, port: Port, value: Json) -> str:
    """Why this may not be written to the port; empty when it may, or when nobody knows."""
    if isinstance(value, Expression):
        found = types.misfit(value, declared(tree), port.type)
        return f"`{port.name}` is {an(port.type)}, and this is {an(found)}" if found is not None else ""
    return "" if isinstance(value, Computed) else unfit(port, value)


def _expressions(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    """What is done with values whose types are declared."""
    known = declared(tree)
    for each in used.expressions if known else ():
        if findings.full() or known.keys().isdisjoint(each.expression.names):
            continue
        clashes = types.clashes(each.expression, known)
        for clash in clashes:
            named = [n for n in each.expression.names if n in known and _within(each.expression, n, clash)]
            label = ", ".join(f"`{name}` is {an(known[name])}" for name in named[:2])
            span = inside(each.node, clash.start + each.shift, clash.end + each.shift)
            say = findings.warning if clash.never else findings.error
            say("BT034", clash.message, each.spec.file, span, label, clash.hint)
        _result(each, known, findings, bool(clashes))


def _within(expression: Expression, name: str, clash: types.Clash) -> bool:
    return re.search(rf"\b{name}\b", expression.text[clash.start : clash.end]) is not None


def _result(each: Placed, known: Mapping[str, str], findings: Findings, clashed: bool) -> None:
    """What an expression gives to a field that takes something else. A name alone is looked at elsewhere."""
    field = each.field
    if clashed or not each.alone or field.type not in DATA_TYPES or field.writes or is_entry(each.expression):
        return
    found = types.misfit(each.expression, known, field.type)
    if found is not None:
        message = f"`{field.name}` takes {an(field.type)}, and this is {an(found)}"
        findings.error("BT021", message, each.spec.file, each.node.span)


def _references(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    ports = tree.ports
    for read in used.reads:
        port = ports.get(read.name)
        if port and read.whole and read.field.type in DATA_TYPES and not flows(port.type, read.field.type):
            findings.error(
                "BT021",
                f"`{read.field.name}` takes {an(read.field.type)}, and `{read.name}` is {an(port.type)}",
                read.spec.file,
                read.span,
            )
