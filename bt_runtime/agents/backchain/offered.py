"""The actions of a world that says how facts are brought, as the planner reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bt_runtime.agents.backchain.limits import FactLimits
from bt_runtime.agents.backchain.operator import Operator, StepSource, Values, operators
from bt_runtime.agents.backchain.record import Record
from bt_runtime.agents.backchain.step import PlanStep, settled
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.worlds.ways import Leading, Way
from bt_runtime.types import Json

# Skills with the costs that their records tell.


def costed(every: Sequence[Operator], known: Mapping[str, Record]) -> list[Operator]:
    """The operators, each with the cost that its record tells."""
    return [o._replace(cost=round(known[o.skill].cost(o.cost), 3)) if o.skill in known else o for o in every]


OF_WORLD = "world"


class WorldSteps:
    """The world's answers as steps, by the sentences of the skills that it carries out."""

    types: Mapping[str, str] = MappingProxyType({})
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()

    def __init__(self, world: Leading, kinds: Iterable[Kind], records: Mapping[str, Record]) -> None:
        self.world, self.records = world, records
        entries = [(kind, kind.data["entry"]) for kind in kinds]
        self.said = [(kind, Sentence(entry.sentence, entry.types)) for kind, entry in entries]

    def bringing(self, fact: str, values: Values) -> Iterator[PlanStep]:
        for told in self.world.ways(fact):
            way = Way(*told)  # a recorded answer is a bare list
            found = self.skill(way.sentence)
            if found is not None:
                kind, params = found
                own = tuple((field.name, params[field.name]) for field in kind.fields if field.name in params)
                record = self.records.get(kind.name)
                cost = way.takes if record is None else round(record.cost(way.takes), 3)
                yield PlanStep(kind.name, own, tuple(way.needs), settled(way.brings), cost, way.times)

    def skill(self, sentence: str) -> tuple[Kind, dict[str, Json]] | None:
        for kind, form in self.said:
            params = form.parse(sentence)
            if params is not None:
                return kind, params
        return None


def known_by(
    world: Any, kinds: Sequence[Kind], records: Mapping[str, Record] = MappingProxyType({})
) -> tuple[list[StepSource], FactLimits]:
    """What a planner goes by: the world's own answers where it gives them, and the manifests of all other skills."""
    if not isinstance(world, Leading):
        return list(costed(operators(kinds), records)), FactLimits()
    own = [kind for kind in kinds if kind.data["entry"].impl.partition("/")[0] == OF_WORLD]
    rest: list[StepSource] = list(costed(operators(kind for kind in kinds if kind not in own), records))
    return [*rest, WorldSteps(world, own, records)], FactLimits(world.at_once())


def values_in(world: Any, kinds: Iterable[Kind]) -> dict[str, list[Json]]:
    """What may fill a slot: the values in the sentences that the world offers now."""
    offered = getattr(world, "skills", None)
    said: Iterable[str] = offered() if offered is not None else ()
    forms = [Sentence(entry.sentence, entry.types) for entry in (kind.data["entry"] for kind in kinds)]
    found: dict[str, dict[Json, None]] = {}
    for sentence in said:
        for form in forms:
            for slot, value in (form.parse(sentence) or {}).items():
                found.setdefault(slot, {})[value] = None
    return {slot: list(values) for slot, values in found.items()}
