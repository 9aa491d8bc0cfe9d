"""Thrown away once the node classes declare STATE."""
from typing import Any

TABLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "_InOrder": ((), ("at", "passed")), "SequenceWithMemory": (("at", "passed"), ()), "Chooser": ((), ("active", "running_test")),
    "If": ((), ("taken",)), "Try": ((), ("at", "result", "crashes_before")), "Recovery": ((), ("recovering", "recovered", "times")),
    "_Counted": ((), ("times", "count")), "ForEach": ((), ("items", "item", "due", "passed")), "Once": (("result",), ()),
    "Timeout": ((), ("deadline",)), "Delay": ((), ("begins",)), "Rate": (("due", "last"), ()), "Check": (("seen",), ()),
    "SkipUnless": (("seen",), ()), "Wait": (("seen",), ("until",)), "RoundRobin": (("at",), ("tried", "failed")),
    "Parallel": ((), ("results", "success", "failure")), "Pipeline": ((), ("reached",)), "_Reactive": ((), ("runner",)),
    "Subtree": (("asked",), ()), "SkillNode": ((), ("activity",)), "OfSkill": ((), ()), "Locked": (("inner", "hold", "over"), ()), "Pending": ((), ()),
    "AsksPerson": (("inner", "question", "until"), ()), "Done": (("done",), ()), "Hold": ((), ()),
}
CACHE: dict[type, Any] = {}
def fields_of(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = CACHE.get(cls)
    if found is None:
        lasting, rounds = [], []
        for base in reversed(cls.__mro__):
            a, b = TABLE.get(base.__name__, ((), ()))
            if base.__name__ not in TABLE and "STATE" in vars(base) and vars(base)["STATE"] is not None:
                a = vars(base)["STATE"]
            if base.__name__ not in TABLE and "ROUND" in vars(base):
                b = vars(base)["ROUND"]
            lasting += a; rounds += b
        if cls.__name__ == "SequenceWithMemory": rounds = []
        found = CACHE[cls] = (tuple(dict.fromkeys(lasting)), tuple(dict.fromkeys(rounds)))
    return found


def explorable(made: Any) -> bool:
    if not isinstance(made, type):
        return False
    if made.__module__.startswith("bt_runtime.tree.nodes") or made.__module__.startswith("bt_runtime.proof"):
        return not getattr(made, "copied", False)
    if made.__name__ in ("Episode", "Rollback"):
        return True
    return "STATE" in vars(made) or "ROUND" in vars(made)


HELD: dict[type, Any] = {}


def held_fields(cls: type) -> tuple[str, ...] | None:
    if cls not in HELD:
        from py_trees.behaviour import Behaviour
        known = not issubclass(cls, Behaviour) and (cls.__name__ in TABLE or "STATE" in vars(cls)) and cls.__module__ != "bt_runtime.proof.doors"
        HELD[cls] = fields_of(cls)[0] if known else None
    return HELD[cls]
