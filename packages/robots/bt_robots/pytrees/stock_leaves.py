"""The leaves that py_trees brings, as nodes over entries of the blackboard."""

from __future__ import annotations

from typing import Any

from bt_robots.imports.report import CannotSay
from bt_robots.imports.yaml import Step
from bt_robots.pytrees.conditions import Conditions, logic
from bt_robots.pytrees.expressions import WHEN_IT_RUNS
from bt_robots.pytrees.leaves import as_json, written
from bt_robots.pytrees.values import Behaviour, OwnFunction, Unread, Value


class StockLeaves:
    """One method for each leaf that has words here. Raises CannotSay."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self.writes = set[str]()  # entries

    def listed(self, kind: str, steps: list[Step]) -> Step:
        return Step(kind, {"children": steps}, "children")

    def number(self, made: Behaviour, name: str) -> Any:
        value = made.args[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CannotSay(value.why if isinstance(value, Unread) else f"its `{name}` {WHEN_IT_RUNS}")
        return as_json(value)

    def whole_number(self, made: Behaviour, name: str) -> int:
        if not isinstance(value := self.number(made, name), int):
            raise CannotSay(f"its `{name}` is no whole number")
        return value

    def of_success(self, made: Behaviour) -> Step:
        return Step("succeed")

    def of_failure(self, made: Behaviour) -> Step:
        return Step("fail")

    def of_timer(self, made: Behaviour) -> Step:
        return Step("wait", {"seconds": max(self.number(made, "duration"), 0)}, "seconds")

    def whole(self, key: Value) -> str:
        """The entry of a key that is written as a whole."""
        if isinstance(key, str) and "." in key:
            raise CannotSay(f"`{key:.40}` is a part of an entry, and no node here writes one")
        return self.conditions.entry(key)

    def set(self, values: dict[str, Any]) -> Step:
        return Step("set", {"values": values}, "values")

    def check(self, text: str) -> Step:
        return Step("check", {"expr": text}, "expr")

    def of_setblackboardvariable(self, made: Behaviour) -> Step:
        entry, value = self.whole(made.args["variable_name"]), made.args["variable_value"]
        overwrite = made.args["overwrite"]
        if not isinstance(overwrite, bool):
            raise CannotSay(f"its `overwrite` {WHEN_IT_RUNS}")
        self.writes.add(entry)
        if isinstance(value, OwnFunction):
            setter = self.set({entry: f"{{{self.conditions.function(value, [])}}}"})
        elif isinstance(value, Unread):
            raise CannotSay(value.why)
        else:
            setter = self.set({entry: written(as_json(value))})
        if overwrite:
            return setter
        return self.listed("sequence", [self.check(f"not exists({entry})"), setter])

    def of_unsetblackboardvariable(self, made: Behaviour) -> Step:
        return Step("unset", {"entry": self.whole(made.args["key"])}, "entry")

    def of_checkblackboardvariableexists(self, made: Behaviour) -> Step:
        return self.check(self.there(made))

    def there(self, made: Behaviour) -> str:
        name = made.args["variable_name"]
        entry, text = self.conditions.variable(name)
        if text != entry:
            raise CannotSay(f"whether a part of an entry is there, as `{name:.40}`, no expression asks")
        return f"exists({entry})"

    def of_waitforblackboardvariable(self, made: Behaviour) -> Step:
        return Step("wait", {"until": self.there(made)})

    def of_checkblackboardvariablevalue(self, made: Behaviour) -> Step:
        entry, text = self.conditions.comparison(made.args["check"])
        return self.check(f"exists({entry}) and {text}")

    def of_waitforblackboardvariablevalue(self, made: Behaviour) -> Step:
        entry, text = self.conditions.comparison(made.args["check"])
        return Step("wait", {"until": f"exists({entry}) and {text}"})

    def of_compareblackboardvariables(self, made: Behaviour) -> Step:
        first, second = (self.conditions.variable(made.args[name]) for name in ("var1_key", "var2_key"))
        text = self.conditions.compared(made.args["operator"], first[1], second[1])
        return self.check(f"exists({first[0]}) and exists({second[0]}) and {text}")

    def of_checkblackboardvariablevalues(self, made: Behaviour) -> Step:
        checks, space = made.args["checks"], made.args["namespace"]
        if not isinstance(checks, list | tuple) or len(checks) < 2:
            raise CannotSay("its checks are fewer than two, or known only when it runs")
        sign, compared = logic(made.args["operator"]), [self.conditions.comparison(each) for each in checks]
        there = " and ".join(dict.fromkeys(f"exists({entry})" for entry, _ in compared))
        whole = f"({compared[0][1]})"
        for _, text in compared[1:]:
            whole = f"({whole} {sign} ({text}))"
        if space is None:
            return self.check(f"{there} and {whole}")
        if not isinstance(space, str):
            raise CannotSay(f"its namespace {WHEN_IT_RUNS}")
        names = [self.conditions.entry(f"{space.strip('/')}/{number}") for number in range(1, len(compared) + 1)]
        self.writes.update(names)
        results = {name: f"{{{text}}}" for name, (_, text) in zip(names, compared, strict=True)}
        return self.listed("sequence", [self.check(there), self.set(results), self.check(whole)])

    def of_blackboardtostatus(self, made: Behaviour) -> Step:
        _, text = self.conditions.variable(made.args["variable_name"])
        running = Step("py", {"class": "py_trees.behaviours:Running"}, "class")
        waits = self.listed("reactive_sequence", [self.check(f'{text} == "RUNNING"'), running])
        return self.listed("reactive_fallback", [self.check(f'{text} == "SUCCESS"'), waits])
