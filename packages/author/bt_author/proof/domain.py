"""The values that an entry may have: all of a small type, or one for each group that the tests distinguish."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.language.expression import Template
from bt_runtime.language.expression.code import function
from bt_runtime.language.policies.within import expressions_in
from bt_runtime.language.ports import all_values
from bt_runtime.language.values import Nested
from bt_runtime.types import Json

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "is": "is", "is not": "is not"}
_ORDER = frozenset(_TURNED)


class Domain(NamedTuple):
    """`exact`: no test of the tree can distinguish a missing value from all listed ones. None: any value."""

    values: tuple[Json, ...] | None
    exact: bool = True


class Tests:
    """The constants with which the tree's expressions compare each name."""

    def __init__(self, fixed: Mapping[str, Json]) -> None:
        self.fixed = dict(fixed)  # names whose value never changes
        self.compared: dict[str, list[Json]] = {}  # name → constants
        self.cuts: dict[str, set[tuple[float, bool]]] = {}  # name → between which numbers; True: behind the constant
        self.free: set[str] = set()  # names of which more is asked than a comparison with constants

    def like(self, other: Tests) -> None:
        """Takes over what another one has found."""
        self.compared = {name: list(constants) for name, constants in other.compared.items()}
        self.cuts = {name: set(cuts) for name, cuts in other.cuts.items()}
        self.free = set(other.free)

    def add(self, value: Json) -> None:
        for each in expressions_in(value):
            if isinstance(each, Nested):
                self.add(each.shape)
            elif isinstance(each, Template):
                for hole in each.holes:
                    self._of(hole.expression.part)
            else:
                self._of(each.part)

    def _of(self, part: Any) -> None:
        if part.how == "comparison" and len(part.of) == 2 and self._compared(part.of[0], *part.of[1]):
            return
        if part.how == "name":
            self.free.add(str(part.of[0]))
            return
        for each in part.of:
            for inner in each if isinstance(each, tuple | list) else (each,):
                if hasattr(inner, "how"):
                    self._of(inner)

    def _compared(self, left: Any, sign: str, right: Any) -> bool:
        if sign in ("in", "not in"):
            listed = self._constant(right)
            if left.how != "name" or not isinstance(listed, list | tuple):
                return False
            return all(self._met(left, "==", constant) for constant in listed)
        if sign not in _ORDER:
            return False
        return self._met(left, sign, self._constant(right)) or self._met(right, _TURNED[sign], self._constant(left))

    def _met(self, name: Any, sign: str, constant: Json) -> bool:
        """Notes that a name is compared with a constant; False when the operands are not a name and a constant."""
        if name.how != "name" or constant is _NONE or str(name.of[0]) in self.fixed:
            return False
        self.compared.setdefault(str(name.of[0]), []).append(constant)
        if isinstance(constant, int | float):
            cuts = self.cuts.setdefault(str(name.of[0]), set())
            cuts |= {(constant, behind) for behind in (False, True) if sign not in ((">", "<="), ("<", ">="))[behind]}
        return True

    def _constant(self, part: Any) -> Any:
        if part.how == "constant":
            return part.of[0]
        if part.constant or (part.how == "list" and all(each.constant for each in part.of)):
            return function(part)({})
        if part.how == "name":
            return self.fixed.get(str(part.of[0]), _NONE)
        return _NONE

    def domain(self, port: Any, given: Sequence[Json] | None = None) -> Domain:
        """Returns the values of an entry or output with this declaration."""
        if given is not None:
            return Domain(tuple(given), False)
        if (listed := all_values(port)) is not None:
            return Domain(tuple(listed))
        low, high = port.minimum, port.maximum
        whole = port.type == "integer"
        constants = self.compared.get(port.name, [])
        exact = port.name not in self.free
        if port.type in ("integer", "number") and constants:
            values = _regions([c for c in constants if isinstance(c, int | float)], low, high, whole)
            return Domain(tuple(_apart(values, self.cuts.get(port.name, set())) if exact else values), exact)
        if port.type in ("integer", "number") and exact:
            return Domain((0 if low is None else low,))
        if port.type == "string" and exact:
            texts = list(dict.fromkeys(c for c in constants if isinstance(c, str)))
            other = next(word for word in ("something else", "", *map(str, range(99))) if word not in texts)
            return Domain((*texts, other))
        return Domain(None)


_NONE: Any = object()


def _apart(values: Iterable[Json], cuts: Iterable[tuple[float, bool]]) -> Iterator[Json]:
    """Returns the first of all values between the same cuts."""
    seen: set[tuple[bool, ...]] = set()
    ordered = sorted(cuts)
    for value in values:
        place = tuple(value > at if behind else value >= at for at, behind in ordered)
        if place not in seen:
            seen.add(place)
            yield value


def _regions(constants: Iterable[float], low: float | None, high: float | None, whole: bool) -> Iterator[Json]:
    """Returns values below, at, between and above the constants."""
    points = sorted({*constants, *(b for b in (low, high) if b is not None)})
    found: list[float] = [points[0] - 1]
    for one, other in zip(points, [*points[1:], math.inf], strict=True):
        found += [one, (one + other) / 2 if other < math.inf else one + 1]
    if whole:
        found = sorted({*(int(p) for p in found), *(math.floor(p) for p in found), *(math.ceil(p) for p in found)})
    seen: set[float] = set()
    for value in found:
        inside = (low is None or value >= low) and (high is None or value <= high)
        if inside and value not in seen:
            seen.add(value)
            yield int(value) if whole else value
