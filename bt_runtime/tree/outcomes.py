"""What a node can return at all, as far as its shape tells: finds children that are never reached."""

from __future__ import annotations

from bt_runtime.tree.spec import NodeSpec

S, F = "success", "failure"
ANY = frozenset({S, F})
# The nodes that go on from child to child, and after which result.
IN_ORDER = {"sequence": S, "sequence_with_memory": S, "reactive_sequence": S, "fallback": F, "reactive_fallback": F}
_FIXED = {"succeed": frozenset({S}), "set": frozenset({S}), "log": frozenset({S}), "fail": frozenset({F})}


def outcomes(root: NodeSpec) -> dict[NodeSpec, frozenset[str]]:
    """For every node of the tree, the set of results it may end with."""
    found: dict[NodeSpec, frozenset[str]] = {}
    for spec in reversed(list(root.walk())):  # children before parents
        found[spec] = _of(spec, [found[c] for c in spec.children])
    return found


def _of(spec: NodeSpec, below: list[frozenset[str]]) -> frozenset[str]:
    kind = spec.kind.name
    if not below and spec.kind.node_fields:
        return ANY  # its children were at fault
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in ("sequence", "sequence_with_memory", "reactive_sequence"):
        return _in_order(below, S, F)
    if kind in ("fallback", "reactive_fallback"):
        return _in_order(below, F, S)
    if kind == "invert" and below:
        return frozenset({S if r == F else F for r in below[0]})
    if kind == "force":
        return frozenset({str(spec.values.get("status", S))})
    if kind == "until_failure":
        return frozenset({S})
    if kind in ("retry", "repeat") and below:
        if spec.values.get("times") == -1:
            return frozenset({S if kind == "retry" else F})
        return below[0]
    if kind == "guard" and below:
        return below[0]
    return ANY


def _in_order(below: list[frozenset[str]], onward: str, ends: str) -> frozenset[str]:
    result: set[str] = set()
    for results in below:
        if ends in results:
            result.add(ends)
        if onward not in results:
            return frozenset(result)
    return frozenset({*result, onward})
