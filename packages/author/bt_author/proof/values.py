"""Values of an explored tree's nodes: computed as the run computes them, and chosen where only a run knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bt_author.proof.board import Open, ProofScope
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.expression import Expression, Template
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.spec import NodeSpec, label
from bt_runtime.language.values import Nested
from bt_runtime.types import Json

SAID: Mapping[str, frozenset[str]] = {"log": frozenset(("text",)), "fail": frozenset(("why",))}  # that only people read
Unknown = Callable[[ProofScope], Any]


class AnyCount(int):
    """A number of rounds that only a run knows: each round may be the last."""

    scope: ProofScope

    def may(self) -> bool:
        return bool(self.scope.board.choices.choose(2))

    def __eq__(self, other: object) -> bool:
        return other == 0 and self.may()

    def __ge__(self, other: int) -> bool:
        return self.may()

    def __le__(self, other: int) -> bool:
        return True

    def __lt__(self, other: int) -> bool:
        return False

    __hash__ = int.__hash__


class Symbolic:
    """An expression or template of a node; `unknown` gives what it is where it reads a value that only a run knows."""

    __slots__ = ("made", "names", "text", "unknown")

    def __init__(self, made: Any, unknown: Unknown) -> None:
        self.made, self.unknown = made, unknown
        self.text, self.names = made.text, made.names

    def evaluate(self, given: Any) -> Any:
        """`given`: a scope, or its entries."""
        scope: ProofScope = given if isinstance(given, ProofScope) else given.scope
        try:
            return self.made.evaluate(scope.sight)
        except Open:
            return self.unknown(scope)


def either(scope: ProofScope) -> bool:
    return bool(scope.board.choices.choose(2))


def unknown(scope: ProofScope) -> Any:
    return UNKNOWN


def any_items(scope: ProofScope) -> Any:
    return scope.board.items


def any_count(scope: ProofScope) -> AnyCount:
    found = AnyCount(1)
    found.scope = scope
    return found


def symbolic(spec: NodeSpec, doubt: Callable[[str], None]) -> dict[str, Json]:
    """Returns the values of a node of an explored tree. `doubt` is told each field whose value is taken for 1 where
    only a run knows it."""
    found: dict[str, Json] = {}
    for name, value in spec.values.items():
        field = spec.kind.field(name)
        if name in SAID.get(spec.kind.name, ()):
            found[name] = ""
        elif field is not None and field.writes:
            found[name] = value
        elif isinstance(value, Mapping):
            found[name] = {key: each if entry_named(each) and name == "with" else of(each, unknown)
                           for key, each in value.items()}  # fmt: skip
        else:
            found[name] = of(value, _unknown(spec, name, field, doubt))
    return found


def of(value: Json, unknown: Unknown) -> Json:
    return Symbolic(value, unknown) if isinstance(value, Expression | Template | Nested) else value


def _unknown(spec: NodeSpec, name: str, field: Field | None, doubt: Callable[[str], None]) -> Unknown:
    if spec.kind.family == "skill":
        return unknown
    cases = [label(place) for place in spec.places if place.startswith("cases:")]
    if cases:
        return lambda scope: _one_of([*cases, "something else"], scope)
    if field is None or field.type in ("expression", "boolean"):
        return either
    if spec.kind.endless is not None and name == "times":
        return any_count
    if field.type == "list":
        return any_items
    if field.type in ("integer", "number"):

        def one(scope: ProofScope) -> int:
            doubt(name)
            return 1

        return one
    return unknown


def _one_of(values: Sequence[Json], scope: ProofScope) -> Json:
    return values[scope.board.choices.choose(len(values))]


def names_in(value: Json) -> list[str]:
    """Returns the names of entries in a value, also those that `exists` tests."""
    if isinstance(value, Symbolic):
        value = value.made
    if isinstance(value, Expression):
        return [*value.names, *value.asked]
    if isinstance(value, Template):
        return [name for hole in value.holes for name in (*hole.expression.names, *hole.expression.asked)]
    if isinstance(value, Nested):
        return names_in(value.shape)
    if isinstance(value, Mapping):
        return [name for each in value.values() for name in names_in(each)]
    if isinstance(value, list | tuple):
        return [name for each in value for name in names_in(each)]
    return []


def conditional(kind: Kind) -> Kind:
    """Returns a skill whose `requires` may hold or not where it reads a value that only a run knows."""
    entry = kind.data["entry"] if kind.family == "skill" else None
    if entry is None or entry.requires is None:
        return kind
    return kind._replace(data={**kind.data, "entry": entry._replace(requires=Symbolic(entry.requires, either))})


def required(spec: NodeSpec) -> list[str]:
    """Returns the entries of the whole tree that decide whether a skill may run."""
    return names_in(requirement(spec))


def requirement(spec: NodeSpec) -> Expression | None:
    found: Expression | None = spec.kind.data["entry"].requires if spec.kind.family == "skill" else None
    return found


def reads(spec: NodeSpec) -> list[str]:
    """Returns the entries that a node reads."""
    found: list[str] = required(spec)
    for name, value in spec.values.items():
        if name not in SAID.get(spec.kind.name, ()):
            found += names_in(value)
            declared = spec.kind.field(name)
            if declared is not None and declared.type == "key":
                found.append(str(value))
    return found
