"""Checks the entries of one tree: which are read or written, which are declared, and their types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bt_runtime.language.checks.references import PlacedExpression, Usage, Use
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.expression import Expression
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.ports import an, flows, unfit
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.language.values import Computed, inside, is_entry
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.checks.types import Clash

_NOT = "not "
_LIKE_BOOLEANS = ("yes", "no", "on", "off")
_SIGNS = frozenset("+*/<>=")


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
    given = written | tree.ports.keys()
    known = given | used.perhaps
    for name, read in _first(used.reads).items():
        if name not in known and not diagnostics.full("warning"):
            from bt_runtime.language.checks import doubts

            doubts.unwritten(tree, read, given, diagnostics)
    if any(use.field.name == "as" and use.spec.kind.node_fields for use in used.writes):
        from bt_runtime.language.checks import doubts

        doubts.after_the_loop(tree, used, diagnostics)
    for port in tree.outputs.values():
        if port.required and port.name not in written | used.perhaps:
            diagnostics.warning("BT023", f"nothing in this tree writes its output `{port.name}`", tree.file, port.span)
    _unread(tree, used, diagnostics)


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
        if name not in known and not by_default:
            from bt_runtime.language.checks import doubts

            doubts.unread(tree, use, known, diagnostics)
    for port in tree.inputs.values():
        if port.name not in read:
            diagnostics.warning("BT024", f"nothing in this tree reads its input `{port.name}`", tree.file, port.span)


def _written_inputs(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    for use in used.writes:
        if use.name in tree.inputs:
            message, help = f"`{use.name}` is an input and cannot be written", "write an entry of another name, or "
            diagnostics.error("BT044", message, use.spec.file, use.span, help=f"{help}make it an output")


def _assignments(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Checks that values written to a typed entry have its type, as far as the text shows."""
    ports, known = tree.ports, declared(tree)
    for use in used.writes:
        port = ports.get(use.name)
        if port is None or use.name in tree.inputs:
            continue
        if use.field.type == "assignments":
            value = use.spec.values[use.field.name].get(use.name)
            problem = "" if use.spec.kind.includes else _of_value(known, port, value)
        else:
            written = use.spec.values[use.field.name][use.name].type if use.field.type == "outputs" else use.field.type
            fits_type = written not in DATA_TYPES or flows(written, port.type)
            problem = "" if fits_type else f"`{port.name}` is {an(port.type)}, and this writes {an(written)}"
        if problem:
            from bt_runtime.language.checks import doubts

            span, label = doubts.way_out(use, port, value if use.field.type == "assignments" else None)
            diagnostics.error("BT021", problem, use.spec.file, span or use.span, label)


def _texts(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Looks closer at texts that go into an entry of any type and look like something else: `k + 1`, `no`."""
    ports = tree.ports
    for use in used.writes:
        port = ports.get(use.name)
        if use.field.type != "assignments" or use.spec.kind.includes or (port is not None and port.type != "any"):
            continue
        value = use.spec.values[use.field.name].get(use.name)
        if isinstance(value, str) and (value.casefold() in _LIKE_BOOLEANS or not _SIGNS.isdisjoint(value)):
            from bt_runtime.language.checks import doubts

            doubts.written_text(tree, used, use, value, diagnostics)


def declared(tree: TreeSpec) -> dict[str, str]:
    """Returns the entries with a declared type."""
    return {name: port.type for name, port in tree.ports.items() if port.type != "any"}


def _of_value(known: Mapping[str, str], port: Port, value: Json) -> str:
    """Returns why the port cannot take this value; "" when it can or when the type is unknown."""
    if isinstance(value, Expression):
        from bt_runtime.language.checks import types

        found = types.misfit(value, known, port.type)
        return f"`{port.name}` is {an(port.type)}, and this is {an(found)}" if found is not None else ""
    return "" if isinstance(value, Computed) else unfit(port, value)


def _expressions(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Checks the operations on values of declared types."""
    known = declared(tree)
    for each in used.expressions if known else ():
        if diagnostics.full() or known.keys().isdisjoint(each.expression.names):
            continue
        from bt_runtime.language.checks import types

        lone = each.field.type == "expression" and known.get(each.expression.text) == "string"
        if lone or "one" in each.expression.text:
            from bt_runtime.language.checks import doubts

            doubts.in_test(tree, each, known, diagnostics)
        clashes = types.clashes(each.expression, known)
        for clash in clashes:
            named = [n for n in each.expression.names if n in known and _within(each.expression, n, clash)]
            label = ", ".join(f"`{name}` is {an(known[name])}" for name in named[:2])
            span = inside(each.node, clash.start + each.shift, clash.end + each.shift)
            say = diagnostics.warning if clash.never else diagnostics.error
            say("BT034", clash.message, each.spec.file, span, label, clash.hint)
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
            message = f"`{read.field.name}` takes {an(read.field.type)}, and `{read.name}` is {an(port.type)}"
            diagnostics.error("BT021", message, read.spec.file, read.span)


def looked_at(tree: TreeSpec) -> set[str]:
    """The entries that fill a slot, or that decide whether a skill is possible now."""
    found: set[str] = set()
    for entry in (kind.data["entry"] for kind in tree.registry.skills() if "entry" in kind.data):
        found.update(entry.reads)
        for fact in entry.needs:
            words = fact.removeprefix(_NOT).partition("{")[0].split()
            found.update("_".join(words[: n + 1]) for n in range(len(words)))
    return found
