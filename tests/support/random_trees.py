"""Random trees as YAML, with the skills of one manifest; used against the engine and against other explorers."""

from __future__ import annotations

from random import Random
from typing import Any

import yaml

from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.plugins import Field, Kind

ENTRIES = ("a", "b", "n")


def _skill(name: str, *fields: Field, **more: Any) -> Kind:
    return skill_kind(name, "", fields, SkillEntry(name, "python", "", {}, **more))


SKILLS = (
    _skill("go"), _skill("grab"), _skill("arm", uses=("gripper",)), _skill("lift", uses=("gripper",)),
    _skill("look", Field("seen", "boolean", "", writes=True)), _skill("is_near", instant=True, test=True),
)  # fmt: skip
CONTROL = ("sequence", "fallback", "reactive_sequence", "reactive_fallback", "parallel", "sequence_with_memory",
           "pipeline", "round_robin")  # fmt: skip
DECORATORS = ("invert", "retry", "repeat", "timeout", "delay", "rate", "force", "once", "until_failure", "precondition",
              "for_each", "skip_unless")  # fmt: skip


class Maker:
    """`timed`: with waits and timeouts. `size`: about so many nodes. `asks`: the share of tests that are a node."""

    def __init__(
        self, random: Random, timed: bool = True, size: int = 10, skills: tuple[str, ...] = (), asks: float = 0
    ) -> None:
        self.random, self.timed, self.left, self.asks = random, timed, size, asks
        self.skills = skills or tuple(kind.name for kind in SKILLS)

    def text(self, **head: Any) -> str:
        root = self.node(4)
        ports = {
            "a": {"type": "boolean", "default": False},
            "n": {"type": "integer", "minimum": 0, "maximum": 2, "default": 0},
        }
        tree = {
            "version": 1,
            "tree": "t",
            "blackboard": {**ports, "b": {"type": "boolean", "default": False}},
            **head,
            "root": root,
        }
        return str(yaml.safe_dump(tree, sort_keys=False))

    def node(self, depth: int) -> dict[str, Any]:
        self.left -= 1
        pick = self.random.random()
        if depth and self.left > 0 and pick < 0.5:
            made = self.control(depth - 1)
        elif depth and self.left > 0 and pick < 0.7:
            made = self.decorator(depth - 1)
        else:
            made = self.leaf()
        return self.guarded(made)

    def guarded(self, made: dict[str, Any]) -> dict[str, Any]:
        if self.random.random() > 0.2:
            return made
        [(kind, given)] = made.items()
        whole = {"children": given} if isinstance(given, list) else dict(given) if isinstance(given, dict) else None
        if kind in ("set", "wait", "check") or whole is None:
            return made
        fields = self.random.sample(
            ["when", "unless", "on_success", "on_failure", "on_halt"], self.random.choice((1, 2))
        )
        if self.asks and self.random.random() < self.asks:
            fields = ["when", "unless"]  # the one may decide while a node runs for the other
        for field in fields:
            whole[field] = self.asked() if field in ("when", "unless") else self.values()
        return {kind: whole}

    def nodes(self, depth: int) -> list[dict[str, Any]]:
        return [self.node(depth) for _ in range(self.random.choice((1, 2, 2, 3)))]

    def control(self, depth: int) -> dict[str, Any]:
        kind = self.random.choice((*CONTROL, "if", "while", "switch", "try", "recovery"))
        if kind == "if":
            return {"if": {"check": self.asked(), "then": self.node(depth), "else": self.node(depth)}}
        if kind == "while":
            return {"while": {"check": self.asked(), "do": self.node(depth), "else": self.node(depth)}}
        if kind == "switch":
            return {
                "switch": {
                    "on": "n",
                    "cases": {"0": self.node(depth), "1": self.node(depth)},
                    "default": self.node(depth),
                }
            }
        if kind == "try":
            on = self.random.choice(("failure", "any"))
            return {"try": {"do": self.node(depth), "catch": self.node(depth), "finally": self.node(depth), "on": on}}
        if kind == "recovery":
            return {
                "recovery": {"times": self.random.choice((1, 2)), "do": self.node(depth), "recover": self.node(depth)}
            }
        if kind == "parallel":
            given: dict[str, Any] = {"children": self.nodes(depth)}
            given |= self.random.choice(({}, {"success": 1}, {"failure": -1}, {"order": "in_turn"}, {"wait_all": True}))
            return {"parallel": given}
        if kind in ("sequence", "fallback") and self.random.random() < 0.2:
            return {kind: {"yield": True, "children": self.nodes(depth)}}
        return {kind: self.nodes(depth)}

    def decorator(self, depth: int) -> dict[str, Any]:
        timed = ("timeout", "delay", "rate")
        kind = self.random.choice([d for d in DECORATORS if self.timed or d not in timed])
        child = self.node(depth)
        more: dict[str, Any] = {
            "retry": {"times": self.random.choice((2, 3))}, "repeat": {"times": self.random.choice((2, 3))},
            "timeout": {"seconds": self.random.choice((1, 2, 3))}, "delay": {"seconds": self.random.choice((1, 2))},
            "rate": {"hz": self.random.choice((0.5, 1)),
                     "else": self.random.choice(("result", "skip", "running", "failure"))},
            "force": {"status": self.random.choice(("success", "failure"))},
            "once": {"then": self.random.choice(("result", "skip"))},
            "precondition": {"if": self.asked(), "else": self.random.choice(("failure", "success", "skip", "running"))},
            "for_each": {"in": [1, 2], "as": "item"}, "skip_unless": {"updated": self.random.choice(ENTRIES)},
        }.get(kind, {})  # fmt: skip
        return {kind: {**more, "child": child}} if more else {kind: child}

    def leaf(self) -> dict[str, Any]:
        kind = self.random.choice(("skill", "skill", "skill", "set", "check", "wait", "succeed", "fail", "unset"))
        if kind == "skill":
            name = self.random.choice(self.skills)
            return {name: {"seen": "{" + self.random.choice(("a", "b")) + "}"} if name == "look" else {}}
        if kind == "set":
            return {"set": self.values()}
        if kind == "check":
            return (
                {"check": {"updated": self.random.choice(ENTRIES)}}
                if self.random.random() < 0.2
                else {"check": self.test()}
            )
        if kind == "unset" and self.random.random() < 0.3:
            return {"unset": "b"}
        if kind == "wait" and self.timed:
            return {"wait": self.random.choice(({"seconds": 1}, {"seconds": 2}, {"until": self.test()},
                                                {"seconds": 2, "until": self.test()}))}  # fmt: skip
        return {"succeed": {}} if kind != "fail" else {"fail": "no"}

    def values(self) -> dict[str, Any]:
        name = self.random.choice(ENTRIES)
        if name == "n":
            return {"n": self.random.choice((0, 1, 2, "{(n + 1) % 3}"))}
        return {name: self.random.choice((True, False, "{not a}"))}

    def asked(self) -> Any:
        """Returns a test where a node may stand as well; the node may take time."""
        if not self.asks or self.random.random() > self.asks:
            return self.test()
        leaves = [self.leaf() for _ in range(self.random.choice((1, 1, 2)))]
        return leaves[0] if len(leaves) == 1 else {self.random.choice(("sequence", "fallback")): leaves}

    def test(self) -> str:
        return self.random.choice(("a", "not a", "b", "n == 1", "n < 2", "a or n == 0", "exists(b) and b"))
