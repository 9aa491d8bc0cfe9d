"""Derives the results that a node can return from its shape, and finds unreachable children."""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.spec import NodeSpec

S, F = "success", "failure"
ANY = frozenset({S, F})


def outcomes(nodes: Iterable[NodeSpec]) -> dict[NodeSpec, frozenset[str]]:
    """Returns the possible results of every node. `nodes`: a tree's nodes, parents first."""
    found: dict[NodeSpec, frozenset[str]] = {}
    leaves: dict[int, frozenset[str]] = {}  # results by kind: most nodes are leaves of a few kinds
    for spec in reversed([*nodes]):  # children before parents
        if spec.children or spec.kind.ends == "status" or spec.kind.endless is not None:
            found[spec] = _of(spec, [found[c] for c in spec.children])
            continue
        results = leaves.get(id(spec.kind))
        if results is None:
            results = leaves[id(spec.kind)] = _of(spec, [])
        found[spec] = results
    return found


def _of(spec: NodeSpec, below: list[frozenset[str]]) -> frozenset[str]:
    kind = spec.kind
    if not below and kind.node_fields:
        return ANY  # its children had faults
    if kind.onward is not None:
        return _in_order(below, kind.onward, F if kind.onward == S else S)
    if kind.endless is not None and spec.values.get("times") == -1:
        return frozenset({kind.endless})
    match kind.ends:
        case "success" | "failure":
            return frozenset({kind.ends})
        case "status":
            return frozenset({str(spec.values.get("status", S))})
        case "child" if below:
            return below[0]
        case "opposite" if below:
            return frozenset({S if r == F else F for r in below[0]})
    return ANY


def _in_order(below: list[frozenset[str]], onward: str, ends: str) -> frozenset[str]:
    result: set[str] = set()
    for results in below:
        if ends in results:
            result.add(ends)
        if onward not in results:
            return frozenset(result)
    return frozenset({*result, onward})


def check_mission(root: NodeSpec, results: dict[NodeSpec, frozenset[str]], diagnostics: Diagnostics) -> None:
    """Warns about a guarded, acting branch of a reactive fallback whose SUCCESS ends the whole tree.

    Such a branch interrupts the work below it; after SUCCESS the work never resumes."""
    spec = root
    while spec.children and not (spec.kind.reactive and spec.kind.onward == F):
        last = spec.kind.onward == S
        if not last and (spec.kind.ends != "child" or spec.kind.endless == F):
            return  # its SUCCESS does not end the tree: `repeat` begins again
        spec = spec.children[-1] if last else spec.children[0]
    for at, child in enumerate(spec.children[:-1]):
        if not (child.kind.transparent and child.kind.skips and child.values.keys() | child.asks):
            continue
        guarded = any(name in child.values or name in child.asks for name in ("when", "unless"))
        lost = spec.children[at + 1]
        if guarded and S in results[child] and _acts(child) and _acts(lost) and not _on_purpose(child):
            inner = child.children[0]
            diagnostics.warning(
                "BT037",
                f"when `{inner.name or inner.kind.name}` succeeds, the whole tree ends: "
                f"`{lost.name or lost.kind.name}` below it does not continue",
                inner.file,
                inner.span,
                help="did you want to go on? end it with `- fail: back to work`; if it is meant, with `- succeed:`",
            )


def _acts(spec: NodeSpec) -> bool:
    """True when the part holds a node that takes time, and not only tests."""
    return any(n.kind.includes or (n.kind.waits and not n.kind.keeps and n.kind.family != "decorator")
               for n in spec.walk())  # fmt: skip


def _on_purpose(spec: NodeSpec) -> bool:
    """True when the part ends with `succeed`, or its result is forced."""
    while spec.children and spec.kind.ends != "status":
        spec = spec.children[-1]
    return spec.kind.ends == "status" or (spec.kind.ends == "success" and not spec.kind.fields)
