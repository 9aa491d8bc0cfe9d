"""Checks the values that cross a subtree's border against the subtree's ports."""

from __future__ import annotations

from bt_runtime.language import fixes
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import did_you_mean, nearest
from bt_runtime.language.ports import an, flows, unfit
from bt_runtime.language.source import YamlMap
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.language.values import AN_OUTPUT, Computed


def check_border(tree: TreeSpec, spec: NodeSpec, target: TreeSpec, diagnostics: Diagnostics) -> None:
    """Checks the `with` of a `tree` node against the ports of the named tree."""
    given = spec.values.get("with") or {}
    node = spec.given.get("with")
    offered, misspelt = {**target.inputs, **target.outputs}, set[str | None]()
    for name, value in given.items():
        place = node.get(name) if isinstance(node, YamlMap) else None
        span = place.span if place else spec.span
        port = offered.get(name)
        if port is None and diagnostics.full():
            return
        if port is None:
            misspelt.add(nearest(name, offered))
            diagnostics.error(
                "BT022",
                f"`{target.name}` has no port `{name}`",
                spec.file,
                next((key.span for key, _ in node if key.text == name), span) if isinstance(node, YamlMap) else span,
                did_you_mean(name, offered),
                f"its ports: {', '.join(offered) or 'none'}",
            )
            continue
        problem = _mismatch(tree, port, value, output=name in target.outputs)
        if problem:
            diagnostics.error("BT021", problem, spec.file, span)
    if node is not None and "with" not in spec.values:
        return  # the port was given, and its fault is told
    for port in target.inputs.values():
        if port.required and port.name not in given and port.name not in misspelt and not spec.values.get("autoremap"):
            diagnostics.error(
                "BT020",
                f"`{target.name}` needs its input `{port.name}`",
                spec.file,
                spec.span,
                help=f"add `with: {{{port.name}: ...}}`, {an(port.type)}",
                fixes=fixes.given(spec, node, port, port.name in tree.ports),
            )


def _mismatch(tree: TreeSpec, port: Port, value: object, output: bool) -> str:
    entry = entry_named(value)
    if output and entry is None:
        return f"`{port.name}` is {AN_OUTPUT}"
    if output and entry in tree.inputs:
        return f"`{entry}` is an input of this tree and cannot be written"
    if entry is not None:
        ours = tree.ports.get(entry)
        source, sink = (
            (port.type, ours.type if ours else "any") if output else (ours.type if ours else "any", port.type)
        )
        return (
            ""
            if flows(source, sink)
            else f"`{port.name}` is {an(port.type)}, and `{entry}` is {an(ours.type if ours else 'any')}"
        )
    return "" if isinstance(value, Computed) else unfit(port, value)
