"""The possible values of a tree's entries, from its ports, its text and the caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.outside import entries_of, outside, written
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.testing.casting import trees_of
from bt_runtime.types import Json

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_TEXT = re.compile(r"\"([^\"\\\n]{0,40})\"|'([^'\\\n]{0,40})'")
NEAR = {"integer": (-1, 0, 1), "number": (-0.01, 0.0, 0.01)}  # around a number of the text


class ChosenValues:
    """Chooses test values. `given`: values listed by the caller, by entry or output name."""

    def __init__(self, tree: TreeSpec, given: Mapping[str, Sequence[Json]] | None = None) -> None:
        self.tree = tree
        self.given = {name: list(values) for name, values in (given or {}).items()}
        texts = [each.text for each in trees_of(tree)]
        self.numbers = sorted({float(n) for text in texts for n in _NUMBER.findall(text)})
        self.texts = sorted({a or b for text in texts for a, b in _TEXT.findall(text)} | {""})
        self.used: set[str] = set()

    def bounded(self, port: Port | Field) -> list[Json] | None:
        """Lists all allowed values; None when they cannot be listed."""
        if port.name in self.given:
            self.used.add(port.name)
            return [self._fitting(port, value) for value in self.given[port.name]]
        return ports.all_values(port)

    def some(self, port: Port | Field) -> list[Json]:
        """Returns values to try, the simplest first: all of them, or those near the values that the text compares
        with."""
        listed = self.bounded(port)
        default = getattr(port, "default", None)
        own = [default] if isinstance(default, str | int | float | list | dict) else []
        if listed is not None:
            return [*own, *(v for v in listed if v not in own)] if own and own[0] in listed else listed
        low, high = getattr(port, "minimum", None), getattr(port, "maximum", None)
        found: list[Json] = []
        if port.type in ("integer", "number", "any"):
            found = [
                self._number(port.type, n + by) for n in (0.0, 1.0, *self.numbers) for by in NEAR.get(port.type, (0,))
            ]
            found += [low, high] if low is not None and high is not None else []
            found = [n for n in found if (low is None or n >= low) and (high is None or n <= high)]
        if port.type in ("string", "any"):
            found += self.texts
        empty: dict[str, Json] = {"list": [], "object": {}}
        return _once([*own, *found]) or [empty.get(port.type, 0)]

    def _number(self, type_: str, value: float) -> Json:
        return int(value) if type_ == "integer" or value == int(value) else round(value, 6)

    def _fitting(self, port: Port | Field, value: Json) -> Json:
        try:
            ports.check(port, value)
        except ports.PortFault as fault:
            raise BtError(fault.message, f"the values that were listed for `{port.name}` are tried") from None
        return value

    def outside(self) -> list[Port]:
        """Returns the entries that may be written from outside."""
        return outside(self.tree, written(self.tree), self.given)

    def unused(self, others: Iterable[str]) -> None:
        """Raises for a list of values that belongs to nothing."""
        others = list(others)
        known = [*entries_of(self.tree), *self.tree.ports, *others]
        for name in self.given:
            if name not in known:
                hint = did_you_mean(name, known, f"there are: {', '.join(known) or 'none'}")
                raise BtError(f"`{name}` is no entry of the tree, and no output of a skill", hint)
        given = {*self.tree.inputs, *(port.name for port in self.outside()), *others}
        for name in self.given:
            if name not in given:
                output = name in self.tree.outputs
                why = "it is an output, which the tree writes itself" if output else "it is declared `outside: false`"
                hint = f"declare `{name}` under `blackboard` with `outside: true`, or list nothing for it"
                raise BtError(f"values for `{name}` have no effect: {why}", hint)


def _once(values: list[Any]) -> list[Json]:
    return list({(type(v).__name__, repr(v)): v for v in values}.values())
