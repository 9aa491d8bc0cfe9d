"""The nodes of one tree: each behaviour becomes a step that does the same at every tick, or is named in the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_robots.imports.names import node_name, unique
from bt_robots.imports.report import CannotSay, Place, Report, State, fault
from bt_robots.imports.yaml import Step
from bt_robots.pytrees.conditions import Conditions
from bt_robots.pytrees.expressions import WHEN_IT_RUNS
from bt_robots.pytrees.leaves import Leaves, as_json, one_line
from bt_robots.pytrees.stock import ENTERED, KINDS, STATUSES, TICKED
from bt_robots.pytrees.stock_leaves import StockLeaves
from bt_robots.pytrees.values import (
    Behaviour,
    Outside,
    OutsideCall,
    OwnFunction,
    ParallelRule,
    StatusWord,
    Unread,
    Value,
)

DEEPEST = 100  # nodes within each other
_SURE = {"Success", "Running", "Dummy", "UnsetBlackboardVariable", "WaitForBlackboardVariable", "Timer",
         "FailureIsSuccess", "FailureIsRunning", "Condition"}  # that never fail  # fmt: skip
SYNCHRONISED = "`py`: every child is ticked in the tick in which one fails, which `parallel` does not do"


def shown(name: str) -> str:
    """The name of a behaviour as that of a node."""
    return node_name(" ".join(name.split()))


class TreeNodes(StockLeaves):
    """Writes the behaviours below a root as steps."""

    def __init__(self, conditions: Conditions, leaves: Leaves, report: Report) -> None:
        super().__init__(conditions)
        self.leaves, self.report = leaves, report
        self.seen: dict[int, Behaviour] = {}
        self.depth = 0

    def step(self, value: Value, of: Place) -> Step:
        made = self.behaviour(value, of)
        self.depth += 1
        if self.depth > DEEPEST:
            raise fault(made.place, f"nodes stand more than {DEEPEST} deep", "make a tree of a part")
        try:
            if id(made) in self.seen:
                raise CannotSay(f"`{made.name}` stands in the tree twice")
            self.seen[id(made)] = made
            state, became, step = self.read(made)
        except (CannotSay, ValueError) as why:
            if made.kind == "SetBlackboardVariable" and isinstance(key := made.args.get("variable_name"), str):
                made.writes[key.strip("/").split(".")[0]] = None
                self.writes.update(map(self.leaves.entries.of, made.writes))
            below = self.count(made.children)
            more = f"; not read: {below} below it" if below else ""
            step = self.leaves.placeholder(made, str(why))
            state, became = "lost", f"`{step.kind}`, a skill in its place: {why}{more}"
        finally:
            self.depth -= 1
        became = "; ".join([became, *made.notes])
        what = made.kind if made.kind in KINDS else made.cls.name if made.cls else "node"
        self.report.add(made.place, f'{what} "{shown(made.name)}"', self.worse(state, made), became)
        step.fields = {"name": shown(made.name), **step.fields}
        if state == "lost":
            step.comments = [one_line(f"lost: line {made.place.line}: {became.partition(': ')[2]}")]
        return step

    def worse(self, state: State, made: Behaviour) -> State:
        return "changed" if state == "same" and made.notes else state

    def behaviour(self, value: Value, of: Place) -> Behaviour:
        """The behaviour of a child; what is no behaviour becomes a placeholder."""
        if isinstance(value, Behaviour):
            return value
        why = value if isinstance(value, Unread) else Unread(of, f"a child {WHEN_IT_RUNS}")
        name = f"line {why.place.line}"
        if isinstance(why, OutsideCall):
            given = why.named.get("name", why.args[0] if why.args else None)
            name = given if isinstance(given, str) and given else why.name.rpartition(".")[2]
        made = Behaviour("unread", name, why.place)
        made.unread = why
        return made

    def count(self, values: list[Value]) -> int:
        """How many nodes there are among values, and below them."""
        known, todo = set[int](), list(values)
        while todo:
            each = todo.pop()
            if isinstance(each, list | tuple):
                todo += [part for part in each if isinstance(part, Behaviour)]
            elif isinstance(each, Behaviour) and id(each) not in known:
                known.add(id(each))
                todo += each.children
        return len(known)

    def read(self, made: Behaviour) -> tuple[State, str, Step]:
        if made.kind == "own":
            step = self.leaves.own(made)
            self.writes.update(self.leaves.entries.of(key) for key in made.writes)
            if below := self.count([*made.args.values(), *made.children]):
                return "lost", f"`{step.kind}`, a skill in its place: not read: {below} that it holds", step
            return "same", f"`{step.kind}`, a skill to be written by hand", step
        if isinstance(made.unread, OutsideCall):
            step = self.leaves.outside(made, made.unread)
            if made.unread.name.startswith("py_trees_ros."):
                return "changed", f"`{step.kind}`, a leaf of py_trees_ros: a skill to be written by hand", step
            below = self.count([*made.unread.args, *made.unread.named.values()])
            more = f"; not read: {below} that it holds" if below else ""
            return "lost", f"`{step.kind}`, a skill in its place: {made.unread.why}{more}", step
        if made.unread is not None:
            raise CannotSay(made.unread.why)
        if made.cls is not None:
            self.own_methods(made)
        read: Callable[[Behaviour], Step] = getattr(self, f"of_{made.kind.lower()}", self.of_py)
        step = read(made)
        return "same", made.became or f"`{step.kind}`", step

    def own_methods(self, made: Behaviour) -> None:
        """A class of the files that is derived from a composite or a decorator."""
        assert made.cls is not None
        own = made.cls.own_methods()
        if own & TICKED:
            raise CannotSay(f"`{made.cls.name}` has a `{min(own & TICKED)}` of its own")
        if own & ENTERED:
            raise CannotSay(f"`{made.cls.name}` has an `{min(own & ENTERED)}` of its own")

    # Composites -----------------------------------------------------------------------------

    def children(self, made: Behaviour) -> list[Step]:
        steps = [self.step(child, made.place) for child in made.children]
        unique(steps)
        return steps

    def memory(self, made: Behaviour, default: bool) -> bool:
        memory = made.args.get("memory")
        if memory is None:
            made.notes.append(f"without `memory`, which was {default} in the versions that had a default")
            return default
        if not isinstance(memory, bool):
            raise CannotSay(memory.why if isinstance(memory, Unread) else f"its `memory` {WHEN_IT_RUNS}")
        return memory

    def of_sequence(self, made: Behaviour) -> Step:
        kept = self.memory(made, True)
        steps = self.children(made)
        return self.listed("sequence" if kept else "reactive_sequence", steps) if steps else Step("succeed")

    def of_selector(self, made: Behaviour) -> Step:
        kept = self.memory(made, False)
        steps = self.children(made)
        return self.listed("fallback" if kept else "reactive_fallback", steps) if steps else Step("fail")

    def of_parallel(self, made: Behaviour) -> Step:
        rule = self.rule(made)
        if not isinstance(rule.synchronise, bool):
            raise CannotSay(f"`synchronise` of its policy {WHEN_IT_RUNS}")
        if rule.name == "SuccessOnSelected":
            self.all_selected(made, rule)
        steps = self.children(made)
        if not steps:
            return Step("succeed")
        if rule.name != "SuccessOnOne" and rule.synchronise and all(map(self.sure, made.children[:-1])):
            return self.listed("parallel", steps)
        policy: Any = "SuccessOnOne"
        if rule.name != "SuccessOnOne":
            policy = "SuccessOnAll" if rule.synchronise else {"SuccessOnAll": {"synchronise": False}}
        made.became = SYNCHRONISED if policy == "SuccessOnAll" else "`py`, with its policy"
        return Step("py", {"class": "py_trees.composites:Parallel", "args": {"policy": policy}, "children": steps})

    def rule(self, made: Behaviour) -> ParallelRule:
        rule = made.args.get("policy")
        if rule is None:
            raise CannotSay("it has no `policy`, which each version of py_trees takes differently")
        if isinstance(rule, Outside) and rule.last.startswith("SUCCESS_ON_"):
            made.notes.append(f"`{rule.last}` of a version before 1.0")
            return ParallelRule("SuccessOnOne" if rule.last.endswith("ONE") else "SuccessOnAll", False)
        if not isinstance(rule, ParallelRule):
            raise CannotSay(rule.why if isinstance(rule, Unread) else f"its policy {WHEN_IT_RUNS}")
        return rule

    def all_selected(self, made: Behaviour, rule: ParallelRule) -> None:
        selected = rule.selected if isinstance(rule.selected, list | tuple) else []
        if not selected or {*map(id, selected)} != {*map(id, made.children)}:
            raise CannotSay("`SuccessOnSelected` of some of its children has no words here")

    def sure(self, value: Value) -> bool:
        """Does it never fail?"""
        if not isinstance(value, Behaviour) or value.cls is not None:
            return False
        match value.kind:
            case "Sequence" | "PassThrough" | "Count":
                return all(map(self.sure, value.children))
            case "Selector":
                return any(map(self.sure, value.children))
            case "SetBlackboardVariable":
                return value.args.get("overwrite") is True
        return value.kind in _SURE

    # Decorators -----------------------------------------------------------------------------

    def child(self, made: Behaviour) -> Step:
        if len(made.children) != 1:
            raise CannotSay(f"a decorator has one child, not {len(made.children)}")
        return self.step(made.children[0], made.place)

    def around(self, kind: str, made: Behaviour, **fields: Any) -> Step:
        return Step(kind, {**fields, "child": self.child(made)}, "" if fields else "child")

    def of_inverter(self, made: Behaviour) -> Step:
        return self.around("invert", made)

    def of_failureissuccess(self, made: Behaviour) -> Step:
        return self.around("force", made, status="success")

    def of_successisfailure(self, made: Behaviour) -> Step:
        return self.around("force", made, status="failure")

    def of_failureisrunning(self, made: Behaviour) -> Step:
        return self.around("retry", made, times=-1)

    def of_successisrunning(self, made: Behaviour) -> Step:
        return self.around("repeat", made, times=-1)

    def of_retry(self, made: Behaviour) -> Step:
        return self.around("retry", made, times=max(self.whole_number(made, "num_failures"), 1))

    def of_repeat(self, made: Behaviour) -> Step:
        times = self.whole_number(made, "num_success")
        return self.around("repeat", made, times=times if times > 0 else -1)

    def of_timeout(self, made: Behaviour) -> Step:
        made.notes.append("once the time is up the child is not ticked again")
        return self.around("timeout", made, seconds=max(self.number(made, "duration"), 0))

    def of_passthrough(self, made: Behaviour) -> Step:
        return self.listed("sequence", [self.child(made)])

    def of_oneshot(self, made: Behaviour) -> Step:
        policy = made.args["policy"]
        if not isinstance(policy, Outside) or policy.last not in ("ON_COMPLETION", "ON_SUCCESSFUL_COMPLETION"):
            raise CannotSay(policy.why if isinstance(policy, Unread) else f"its policy {WHEN_IT_RUNS}")
        return self.around("once", made) if policy.last == "ON_COMPLETION" else self.py(made, policy=policy.last)

    def of_condition(self, made: Behaviour) -> Step:
        status = self.status(made.args["status"])
        if status == "SUCCESS":
            return self.around("retry", made, times=-1)
        return self.around("until_failure", made) if status == "FAILURE" else self.py(made, status=status)

    def status(self, value: Value) -> str:
        if not isinstance(value, StatusWord) or value not in STATUSES:
            raise CannotSay(value.why if isinstance(value, Unread) else f"a status {WHEN_IT_RUNS}")
        return str(value)

    def of_eternalguard(self, made: Behaviour) -> Step:
        condition = made.args["condition"]
        function = getattr(condition, "method", condition)
        if not isinstance(function, OwnFunction):
            raise CannotSay(condition.why if isinstance(condition, Unread) else "its condition is in no file")
        try:
            test = Step("check", {"expr": self.conditions.function(condition, [])}, "expr")
        except CannotSay as why:
            test = self.leaves.condition(function, made)
            made.notes.append(f"its condition is `{test.kind}`, a skill to be written by hand: {why}")
        return self.listed("reactive_sequence", [test, self.child(made)])

    def of_statustoblackboard(self, made: Behaviour) -> Step:
        entry = self.whole(made.args["variable_name"])
        self.writes.add(entry)
        step = self.listed("reactive_sequence", [self.set({entry: "RUNNING"}), self.child(made)])
        step.fields |= {"on_success": {entry: "SUCCESS"}, "on_failure": {entry: "FAILURE"}}
        return step

    def of_foreach(self, made: Behaviour) -> Step:
        source, target = self.whole(made.args["source_key"]), self.whole(made.args["target_key"])
        self.conditions.read.add(source)
        self.writes.add(target)
        made.notes.append("an empty list succeeds without a tick of the child")
        return self.around("for_each", made, **{"in": f"{{{source}}}", "as": target})

    # What is py_trees' own here too ---------------------------------------------------------

    def of_py(self, made: Behaviour) -> Step:
        args = {name: value for name, value in made.args.items() if name not in ("child", "children")}
        for name, value in args.items():
            if isinstance(value, Unread):
                raise CannotSay(value.why)
            args[name] = as_json(value)
        return self.py(made, **args)

    def py(self, made: Behaviour, **args: Any) -> Step:
        kind = KINDS[made.kind]
        fields: dict[str, Any] = {"class": f"py_trees.{kind.module}:{made.kind}"}
        fields |= {"args": args} if args else {}
        fields |= {"children": [self.child(made)]} if kind.decorator else {}
        return Step("py", fields, "" if len(fields) > 1 else "class")
