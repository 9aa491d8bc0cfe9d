"""The subtrees that py_trees.idioms makes, built of the same nodes."""

from __future__ import annotations

from bt_robots.imports.report import Place
from bt_robots.pytrees.stock import NEEDED
from bt_robots.pytrees.values import Behaviour, Comparison, Outside, ParallelRule, StatusWord, Value

EQUAL, XOR = Outside("operator.eq"), Outside("operator.xor")
PARAMS: dict[str, dict[str, Value]] = {
    "pick_up_where_you_left_off": {"name": NEEDED, "tasks": NEEDED},
    "either_or": {"conditions": NEEDED, "subtrees": NEEDED, "name": "Either Or", "namespace": None},
    "eternal_guard": {"subtree": NEEDED, "name": "Eternal Guard", "conditions": (), "blackboard_variable_prefix": None},
    "oneshot": {
        "behaviour": NEEDED,
        "name": "Oneshot",
        "variable_name": "oneshot",
        "policy": Outside("py_trees.common.OneShotPolicy.ON_SUCCESSFUL_COMPLETION"),
    },
}


class Idioms:
    """Makes the nodes of one idiom, all at its call."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def node(self, kind: str, name: str, children: list[Value] | None = None, **args: Value) -> Behaviour:
        made = Behaviour(kind, name, self.place)
        made.args, made.children = args, children or []
        return made

    def check(self, name: str, variable: str, value: Value) -> Behaviour:
        check = Comparison(variable, value, EQUAL, self.place)
        return self.node("CheckBlackboardVariableValue", name, check=check)

    def mark(self, name: str, variable: str, value: Value) -> Behaviour:
        return self.node("SetBlackboardVariable", name, variable_name=variable, variable_value=value, overwrite=True)

    def made(self, idiom: str, given: dict[str, Value]) -> Behaviour | None:
        """None when the arguments are not known."""
        if idiom == "either_or":
            return self.either_or(**given)
        if idiom == "eternal_guard":
            return self.eternal_guard(**given)
        return self.oneshot(**given) if idiom == "oneshot" else self.pick_up(**given)

    def pick_up(self, name: Value, tasks: Value) -> Behaviour | None:
        if not isinstance(name, str) or not isinstance(tasks, list | tuple):
            return None
        if not all(isinstance(task, Behaviour) for task in tasks):
            return None
        root = self.node("Sequence", name, memory=True)
        flags = [task.name.lower().replace(" ", "_") + "_done" for task in tasks]
        for task, flag in zip(tasks, flags, strict=True):
            worker = self.node("Sequence", "Worker", [task, self.mark(f"Mark {flag}", flag, True)], memory=True)
            root.children.append(
                self.node("Selector", "Do or Don't", [self.check("Done?", flag, True), worker], memory=False)
            )
        root.children += [self.node("UnsetBlackboardVariable", f"Clear {flag}", key=flag) for flag in flags]
        return root

    def either_or(self, conditions: Value, subtrees: Value, name: Value, namespace: Value) -> Behaviour | None:
        if not isinstance(conditions, list | tuple) or not isinstance(subtrees, list | tuple):
            return None
        if len(conditions) != len(subtrees) or not isinstance(name, str) or not isinstance(namespace, str | type(None)):
            return None
        space = namespace or f"{name.lower().replace(' ', '_').replace('-', '_')}_{self.place.line}"
        options: list[Value] = []
        for number, subtree in enumerate(subtrees, 1):
            enabled = self.check("Enabled?", f"{space}/{number}", True)
            options.append(self.node("Sequence", f"Option {number}", [enabled, subtree], memory=True))
        chooser = self.node("Selector", "Chooser", options, memory=False)
        xor = self.node("CheckBlackboardVariableValues", "XOR", checks=list(conditions), operator=XOR, namespace=space)
        return self.node("Sequence", name, [xor, chooser], memory=True)

    def eternal_guard(
        self, subtree: Value, name: Value, conditions: Value, blackboard_variable_prefix: Value
    ) -> Behaviour | None:
        if not isinstance(conditions, list | tuple) or not all(isinstance(each, Behaviour) for each in conditions):
            return None
        if not isinstance(name, str) or not isinstance(blackboard_variable_prefix, str | type(None)):
            return None
        prefix = blackboard_variable_prefix or name.lower().replace(" ", "_")
        root = self.node("Parallel", name, policy=ParallelRule("SuccessOnAll", False))
        root.notes.append("as the versions before 2.2 built it")
        work = self.node("Selector", "Guarded Tasks", memory=False)
        for number, condition in enumerate(conditions, 1):
            key = f"{prefix}_condition" + (f"_{number}" if len(conditions) > 1 else "")
            root.children.append(self.node("StatusToBlackboard", "StatusToBB", [condition], variable_name=key))
            work.children.append(self.check(f"Abort on {condition.name}", key, StatusWord("FAILURE")))
        work.children.append(subtree)
        root.children.append(work)
        return root

    def oneshot(self, behaviour: Value, name: Value, variable_name: Value, policy: Value) -> Behaviour | None:
        words = ("ON_COMPLETION", "ON_SUCCESSFUL_COMPLETION")
        if not isinstance(name, str) or not isinstance(variable_name, str):
            return None
        if not isinstance(behaviour, Behaviour) or not isinstance(policy, Outside) or policy.last not in words:
            return None
        done = self.mark("Mark Done [SUCCESS]", variable_name, StatusWord("SUCCESS"))
        if behaviour.kind == "Sequence":
            work = behaviour
            work.children.append(done)
        else:
            work = self.node("Sequence", "OneShot", [behaviour, done], memory=True)
        if policy.last == "ON_COMPLETION":
            failed = self.mark("Mark Done [FAILURE]", variable_name, StatusWord("FAILURE"))
            books = self.node("Sequence", "Bookkeeping", [failed, self.node("Failure", "Failure")], memory=True)
            work = self.node("Selector", "Oneshot Handler", [work, books], memory=False)
        asked = self.node("CheckBlackboardVariableExists", "Completed?", variable_name=variable_name)
        fresh = self.node("Inverter", "Not Completed?", [asked])
        guarded = self.node("Sequence", "Oneshot w/ Guard", [fresh, work], memory=True)
        result = self.check("Oneshot Result", variable_name, StatusWord("SUCCESS"))
        return self.node("Selector", name, [guarded, result], memory=False)
