"""The facts that can be looked up: those of conditions, those that skills need and bring, and what outputs tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bt_runtime.agents.backchain.ground import GroundFact, filled, fillers, ground
from bt_runtime.agents.backchain.offered import values_in
from bt_runtime.agents.backchain.step import NOT
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.sentence import spoken

if TYPE_CHECKING:
    from bt_runtime.agents.actions import Actions


def tellable(actions: Actions, kinds: Sequence[Kind]) -> list[GroundFact]:
    """Every fact that one may ask for, once."""
    named = values_in(actions.context.services.world, kinds)
    found = [fact._replace(act=fact.said) for fact in ground(actions, kinds)]
    for kind in kinds:
        entry = kind.data["entry"]
        for form in [entry.sentence] if entry.test else [need.removeprefix(NOT) for need in entry.needs]:
            found += filled(kind.name, form, form, fillers(actions, kind, named))
        found += [GroundFact(said, said, said, (), kind.name) for said in said_by(kind)]
    return [*{fact.said: fact for fact in found}.values()]


def said_by(kind: Kind) -> Iterator[str]:
    """What the outputs of a skill say: `chain dry` by `chain` with a choice `dry`, `chain dry` by a boolean."""
    for field in _outputs(kind):
        if field.type == "boolean":
            yield _said(field)
        yield from (f"{_said(field)} {spoken(choice)}" for choice in field.choices)


def tells(kind: Kind, fact: str) -> bool:
    """True for a skill whose output the fact speaks of, as `chain dry` does of `chain`."""
    return not kind.data["entry"].test and any(f"{fact} ".startswith(f"{_said(field)} ") for field in _outputs(kind))


def _outputs(kind: Kind) -> list[Field]:
    return [field for field in kind.fields if field.writes]


def _said(output: Field) -> str:
    return output.name.replace("_", " ")
