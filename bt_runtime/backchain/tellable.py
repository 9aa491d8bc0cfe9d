"""The facts that can be looked up: those of conditions, those that skills bring, and what skills tell by outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bt_runtime.backchain.ground import Fact, fillers, filled, ground
from bt_runtime.backchain.offered import values_in
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.sentence import spoken

if TYPE_CHECKING:
    from bt_runtime.agents.actions import Actions


def tellable(actions: Actions, kinds: Sequence[Kind]) -> list[Fact]:
    """Every fact that one may ask for, once."""
    named = values_in(actions.context.services.world, kinds)
    found = [fact._replace(act=fact.said) for fact in ground(actions, kinds)]
    for kind in kinds:
        entry = kind.data["entry"]
        if entry.test:
            found += filled(kind.name, entry.sentence, entry.sentence, fillers(actions, kind, named))
        found += [Fact(said, said, said, (), kind.name) for said in said_by(kind)]
    return [*{fact.said: fact for fact in found}.values()]


def said_by(kind: Kind) -> Iterator[str]:
    """What the outputs of a skill say: `chain dry` by `chain` with a choice `dry`, `chain dry` by a boolean."""
    for field in _outputs(kind):
        words = field.name.replace("_", " ")
        if field.type == "boolean":
            yield words
        yield from (f"{words} {spoken(choice)}" for choice in field.choices)


def tells(kind: Kind, fact: str) -> bool:
    return not kind.data["entry"].test and fact in said_by(kind)


def _outputs(kind: Kind) -> Iterable[Field]:
    return (field for field in kind.fields if field.writes)
