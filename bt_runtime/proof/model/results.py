"""Computes which results a part of a tree may return, from its kinds; never too few."""

from __future__ import annotations

from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.tick import BAD, OK, RUN, SKIP

Results = frozenset[int]
EVERY: Results = frozenset((SKIP, RUN, OK, BAD))
_RAN: Results = frozenset((RUN, OK, BAD))


def results_of(spec: NodeSpec, depth: int = 0) -> Results:
    """Returns the statuses that a tick of this part may return."""
    name = spec.kind.name
    if spec.kind.family == "skill":
        return frozenset((OK, BAD)) if spec.kind.data["entry"].instant else _RAN
    if name in _LEAVES:
        return _LEAVES[name]
    if name == "wait":
        conditional = "until" in spec.values or "updated" in spec.values
        return _RAN if conditional or hasattr(spec.values.get("seconds"), "evaluate") else frozenset((RUN, OK))
    if name == "tree":
        below = results_of(spec.subtree.root, depth + 1) if spec.subtree is not None and depth < 200 else EVERY
        return below | {BAD} | ({RUN} if spec.again is not None else frozenset())
    if not spec.children:
        return EVERY if spec.kind.foreign else _RAN
    inner = [results_of(child, depth + 1) for child in spec.children]
    if name in ("sequence", "sequence_with_memory", "reactive_sequence"):
        return _in_order(inner, OK, BAD, bool(spec.values.get("yield")))
    if name in ("fallback", "reactive_fallback"):
        return _in_order(inner, BAD, OK, bool(spec.values.get("yield")))
    if name == "parallel":
        return _together(inner, (spec.values.get("success", -1), spec.values.get("failure", 1)) == (-1, 1))
    if name == "guard":
        tests = {RUN} if any(RUN in each for each in inner[1:]) else set[int]()
        return inner[0] | tests | {SKIP, BAD}
    if name == "invert":
        return frozenset({OK: BAD, BAD: OK}.get(each, each) for each in inner[0])
    if name == "force":
        said = OK if spec.values["status"] == "success" else BAD
        return frozenset(said if each in (OK, BAD) else each for each in inner[0])
    return EVERY


_LEAVES: dict[str, Results] = {
    "check": frozenset((OK, BAD)), "set": frozenset((OK, BAD)), "unset": frozenset((OK,)), "log": frozenset((OK, BAD)),
    "succeed": frozenset((OK,)), "fail": frozenset((BAD,)),
}  # fmt: skip


def _in_order(inner: list[Results], onward: int, end: int, yields: bool) -> Results:
    found: set[int] = {end} if any(end in each for each in inner) else set()
    if yields or any(RUN in each for each in inner):
        found.add(RUN)
    if all(onward in each or SKIP in each for each in inner) and any(onward in each for each in inner):
        found.add(onward)
    if all(SKIP in each for each in inner):
        found.add(SKIP)
    return frozenset(found)


def _together(inner: list[Results], plain: bool) -> Results:
    """`plain`: all must succeed, and one failure is enough."""
    found = {RUN} if any(RUN in each for each in inner) else set[int]()
    if all(SKIP in each for each in inner):
        found.add(SKIP)
    if not plain or (all({OK, SKIP} & each for each in inner) and any(OK in each for each in inner)):
        found.add(OK)
    if not plain or any(BAD in each for each in inner):
        found.add(BAD)
    return frozenset(found)


def ends_with_skills(spec: NodeSpec) -> bool:
    """True when this part certainly ends, once each skill in it does: nothing goes round or waits for an entry."""
    for each in spec.walk():
        name, values = each.kind.name, each.values
        if name in ("until_failure", "while", "for_all", "precondition") or each.kind.foreign or each.again is not None:
            return False
        if name in ("retry", "repeat", "recovery") and not (
            isinstance(values.get("times"), int) and values["times"] >= 0
        ):
            return False
        if name == "wait" and "seconds" not in values:
            return False
        if name in ("reactive_sequence", "reactive_fallback", "guard", "parallel", "pipeline", "rate"):
            return False
        if each.subtree is not None and not ends_with_skills(each.subtree.root):
            return False
    return True
