"""The actions of a world that says how facts are brought, as the planner reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bt_runtime.backchain.limits import Limits
from bt_runtime.backchain.operator import Source, Values, operators
from bt_runtime.backchain.step import Step, settled
from bt_runtime.envs.ways import Leading, Way
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

OF_WORLD = "world"


class Offered:
    """The world's answers as steps, by the sentences of the skills that it carries out."""

    types: Mapping[str, str] = MappingProxyType({})
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()

    def __init__(self, world: Leading, kinds: Iterable[Kind]) -> None:
        self.world = world
        entries = [(kind, kind.data["entry"]) for kind in kinds]
        self.said = [(kind, Sentence(entry.sentence, entry.types)) for kind, entry in entries]

    def bringing(self, fact: str, values: Values) -> Iterator[Step]:
        for told in self.world.ways(fact):
            way = Way(*told)  # a recorded answer is a bare list
            found = self.skill(way.sentence)
            if found is not None:
                kind, params = found
                own = tuple((field.name, params[field.name]) for field in kind.fields if field.name in params)
                yield Step(kind.name, own, tuple(way.needs), settled(way.brings), way.takes, way.times)

    def skill(self, sentence: str) -> tuple[Kind, dict[str, Json]] | None:
        for kind, form in self.said:
            params = form.parse(sentence)
            if params is not None:
                return kind, params
        return None


def known_by(world: Any, kinds: Sequence[Kind]) -> tuple[list[Source], Limits]:
    """What a planner goes by: the world's own answers where it gives them, and the manifests of all other skills."""
    if not isinstance(world, Leading):
        return list(operators(kinds)), Limits()
    own = [kind for kind in kinds if kind.data["entry"].impl.partition("/")[0] == OF_WORLD]
    rest: list[Source] = list(operators(kind for kind in kinds if kind not in own))
    return [*rest, Offered(world, own)], Limits(world.at_once())
