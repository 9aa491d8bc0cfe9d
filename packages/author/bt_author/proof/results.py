"""Which results a part of a tree may return, by what the registry says of its kinds; never too few."""

from __future__ import annotations

from bt_author.proof.choices import BAD, OK, RUN, SKIP
from bt_runtime.language.spec import NodeSpec

Results = frozenset[int]
EVERY: Results = frozenset((SKIP, RUN, OK, BAD))
ENDS = {"success": OK, "failure": BAD}
OPPOSITE = {OK: BAD, BAD: OK}


def results_of(spec: NodeSpec, depth: int = 0) -> Results:
    """Returns the statuses that a tick of this part may return."""
    kind, values = spec.kind, spec.values
    if kind.family == "skill":
        return frozenset((OK, BAD)) if kind.data["entry"].instant else frozenset((RUN, OK, BAD))
    if kind.includes:
        below = results_of(spec.subtree.root, depth + 1) if spec.subtree is not None and depth < 200 else EVERY
        return below | {BAD} | ({RUN} if spec.again is not None else frozenset())
    inner = [results_of(child, depth + 1) for child in spec.children]
    if not inner:
        return _leaf(spec)
    if kind.transparent:
        tests = {RUN} if any(RUN in each for each in inner[1:]) else set[int]()
        return inner[0] | tests | {SKIP, BAD}
    if kind.ends == "opposite":
        return frozenset(OPPOSITE.get(each, each) for each in inner[0]) | _broken(spec)
    if kind.ends == "status":
        return frozenset(ENDS[values["status"]] if each in OPPOSITE else each for each in inner[0])
    if kind.onward is not None and kind.family == "control":
        onward, end = (OK, BAD) if kind.onward == "success" else (BAD, OK)
        return _in_order(inner, onward, end, bool(values.get("yield")))
    if set(kind.counts) == {"success", "failure"}:
        return _together(inner, (values.get("success", -1), values.get("failure", 1)) == (-1, 1))
    return EVERY


def _leaf(spec: NodeSpec) -> Results:
    kind, values = spec.kind, spec.values
    if kind.foreign or kind.family not in ("leaf", "agent"):
        return EVERY
    if kind.ends in ENDS:
        return frozenset((ENDS[kind.ends],)) | _broken(spec)
    if kind.name == "wait" and values.keys() <= {"seconds"} and not _broken(spec):
        return frozenset((RUN, OK))
    return frozenset((RUN, OK, BAD)) if kind.waits else frozenset((OK, BAD)) if kind.name == "check" else EVERY


def _broken(spec: NodeSpec) -> Results:
    """A failure, where something of the node is computed or written: that may break."""
    fields = ((spec.kind.field(name), value) for name, value in spec.values.items())
    breaks = any(hasattr(value, "evaluate") or (f is not None and f.type == "assignments") for f, value in fields)
    return frozenset((BAD,)) if breaks else frozenset()


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


_ROUNDS = frozenset(("until_failure", "while", "for_all", "precondition"))


def ends_with_skills(spec: NodeSpec) -> bool:
    """True when this part certainly ends, once each skill in it does: nothing goes round or waits for an entry."""
    for each in spec.walk():
        kind, values = each.kind, each.values
        if kind.reactive or kind.transparent or kind.counts or kind.foreign or each.again is not None:
            return False
        if kind.name in _ROUNDS or kind.name in ("pipeline", "rate"):
            return False
        if "times" in values and not (isinstance(values["times"], int) and values["times"] >= 0):
            return False
        if kind.name == "wait" and "seconds" not in values:
            return False
        if each.subtree is not None and not ends_with_skills(each.subtree.root):
            return False
        if kind.family in ("control", "decorator") and not str(kind.impl).startswith("bt_runtime."):
            return False
    return True
