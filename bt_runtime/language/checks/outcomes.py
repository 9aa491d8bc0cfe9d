"""What a node can return at all, as far as its shape tells: finds children that are never reached."""

from __future__ import annotations

from bt_runtime.language.spec import NodeSpec

S, F = "success", "failure"
ANY = frozenset({S, F})


def outcomes(root: NodeSpec) -> dict[NodeSpec, frozenset[str]]:
    """For every node of the tree, the set of results it may end with."""
    found: dict[NodeSpec, frozenset[str]] = {}
    for spec in reversed(list(root.walk())):  # children before parents
        found[spec] = _of(spec, [found[c] for c in spec.children])
    return found


def _of(spec: NodeSpec, below: list[frozenset[str]]) -> frozenset[str]:
    kind = spec.kind
    if not below and kind.node_fields:
        return ANY  # its children were at fault
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
