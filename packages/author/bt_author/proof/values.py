"""Values of an explored tree's nodes: computed as the run computes them, and chosen where only a run knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bt_author.proof.board import Open, ProofScope
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.expression import Expression, Template
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.policies.within import names_in
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
        self.text, self.names = made.text, set(names_in(made))

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
            found[name] = {key: each if entry_named(each) and name == "with" else computed(each, unknown)
                           for key, each in value.items()}  # fmt: skip
        else:
            found[name] = computed(value, _unknown(spec, name, field, doubt))
    return found


def computed(value: Json, unknown: Unknown) -> Json:
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


def conditional(kind: Kind) -> Kind:
    """Returns a skill whose `requires` may hold or not where it reads a value that only a run knows."""
    entry = kind.data["entry"] if kind.family == "skill" else None
    if entry is None or entry.requires is None:
        return kind
    return kind._replace(data={**kind.data, "entry": entry._replace(requires=Symbolic(entry.requires, either))})


def required(spec: NodeSpec) -> Iterator[str]:
    """Yields the entries of the whole tree that decide whether a skill may run."""
    return names_in(requirement(spec))


def requirement(spec: NodeSpec) -> Expression | None:
    found: Expression | None = spec.kind.data["entry"].requires if spec.kind.family == "skill" else None
    return found


def assigns(field: str, value: Json) -> bool:
    """True for a field that gives values to entries."""
    return isinstance(value, Mapping) and (field in ("values", "with") or field.startswith("on_"))


def made_of(spec: NodeSpec) -> Iterator[tuple[str, str, set[str]]]:
    """Yields the fields in which a node gives values to entries, each with an entry and the entries in its value."""
    for field, value in spec.values.items():
        for name, of in value.items() if assigns(field, value) else ():
            yield field, name, set(names_in(of))


def tested(spec: NodeSpec) -> Iterator[str]:
    """Yields the entries that decide what a node does."""
    yield from required(spec)
    for field, value in spec.values.items() if spec.kind.family != "skill" else ():
        if field not in SAID.get(spec.kind.name, ()) and not assigns(field, value):
            yield from names_in(value)
            declared = spec.kind.field(field)
            if declared is not None and declared.type == "key":
                yield str(value)


def reads(spec: NodeSpec) -> set[str]:
    """Returns the entries that a node reads."""
    said = SAID.get(spec.kind.name, ())
    return {*tested(spec), *(name for field, of in spec.values.items() if field not in said for name in names_in(of))}
