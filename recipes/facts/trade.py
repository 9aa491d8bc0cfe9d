"""A trade as a world of facts: its skills with their conditions, and what was made true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import yaml

import bt_runtime as bt
from bt_runtime.language.sentence import Sentence

TRADES = Path(__file__).with_name("trades.yaml")
FILES = [TRADES, TRADES.with_name("more_trades.yaml")]
UNDERSTAND = """
version: 1
tree: understand
inputs: {goal: {type: string}}
blackboard: {wanted: {type: string, default: ""}}
root: {want: {goal: "{goal}", into: wanted}}
"""
Data = Mapping[str, Any]


class Trade:
    """Facts, and the skills that make them true where what they need is so."""

    def __init__(self, data: Data) -> None:
        self.data, self.facts = data, set(data["start"])

    def skills(self) -> list[Any]:
        """An action for each of the trade's skills, and a condition for each form of fact."""
        entries = self.data["skills"]
        forms = dict.fromkeys(fact for entry in entries for fact in (*entry.get("needs", ()), *entry["brings"]))
        return [*(self.action(n, entry) for n, entry in enumerate(entries)), *map(self.condition, range(99), forms)]

    def action(self, number: int, entry: Data) -> Any:
        needs, brings = entry.get("needs", []), entry["brings"]

        def act(**values: str) -> bool:
            if not all(Sentence(fact).say(values) in self.facts for fact in needs):
                return False
            self.facts |= {Sentence(fact).say(values) for fact in brings}
            return True

        self.named(act, f"act_{number}", entry["say"])
        return bt.skill(entry["say"], needs=needs, brings=brings, on_resume="repeat")(act)

    def condition(self, number: int, form: str) -> Any:
        def holds(**values: str) -> bool:
            return Sentence(form).say(values) in self.facts

        self.named(holds, f"fact_{number}", form)
        return bt.skill(form, condition=True)(holds)

    def named(self, function: Any, name: str, sentence: str) -> None:
        import inspect

        slots = {slot: Literal[tuple(self.data["slots"][slot])] for slot in Sentence(sentence).slots}
        kind = inspect.Parameter.KEYWORD_ONLY
        function.__name__ = function.__qualname__ = name
        function.__doc__ = sentence
        function.__annotations__ = {**slots, "return": bool}
        function.__signature__ = inspect.Signature(
            [inspect.Parameter(slot, kind, annotation=type) for slot, type in slots.items()], return_annotation=bool
        )


def trades(path: Path = TRADES) -> dict[str, Data]:
    found: dict[str, Data] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def reached(trade: Trade, facts: Sequence[str]) -> bool:
    return {*facts} <= trade.facts


def first_acts(data: Data, facts: Sequence[str]) -> set[str]:
    """The acts that a way to these facts may begin with: those that it needs and that can be done at the start."""
    pools, found, todo = data["slots"], dict[str, None](), [*facts]
    while todo:
        fact = todo.pop()
        for entry in data["skills"]:
            slots = Sentence(entry["say"]).slots
            for values in product(*(pools[slot] for slot in slots)):
                params = dict(zip(slots, values, strict=True))
                said, needs = (
                    Sentence(entry["say"]).say(params),
                    [Sentence(n).say(params) for n in entry.get("needs", [])],
                )
                if said not in found and fact in (Sentence(form).say(params) for form in entry["brings"]):
                    todo += [need for need in needs if need not in data["start"]]
                    found[said] = None
    return {said for said in found if not _lacks(data, said)}


def _lacks(data: Data, said: str) -> bool:
    for entry in data["skills"]:
        params = Sentence(entry["say"]).parse(said)
        if params is not None and all(value in data["slots"][slot] for slot, value in params.items()):
            return any(Sentence(need).say(params) not in data["start"] for need in entry.get("needs", []))
    return True
