"""Finds the parts of a tree that a property can depend on. The model keeps only the results of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bt_author.proof.acting import names
from bt_author.proof.values import made_of, required, tested
from bt_runtime.language.nodes import PlacedNode
from bt_runtime.language.outside import shared_with, written_by
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec


class Cone:
    """The places that matter for a property. `reads`: also those that read its entries. `deep`: also the entries that
    decide whether they are reached."""

    def __init__(self, places: Sequence[PlacedNode], property: Property, deep: bool, reads: bool = False) -> None:
        self.places, self.reads = places, reads
        atoms = property.atoms
        self.paths = {path for atom in atoms for path in atom.paths}
        self.skills = {watch.skill for atom in atoms for watch in atom.watches.values()}
        self.entries = {name for atom in atoms for name in atom.entries}
        self.uses: set[str] = set()
        self.kept: set[int] = set()  # numbers of places
        before = (-1, -1, -1)
        while before != (len(self.kept), len(self.entries), len(self.uses)):
            before = (len(self.kept), len(self.entries), len(self.uses))
            for number, place in enumerate(places):
                if number not in self.kept and self.matters(place):
                    self.keep(number)
            for number in tuple(self.kept):
                self.depend(places[number], deep)
        self.specs = {id(places[number].spec) for number in self.kept}

    @property
    def whole(self) -> bool:
        return len(self.kept) == len(self.places)

    def keeps(self) -> Callable[[NodeSpec], bool]:
        return lambda spec: id(spec) in self.specs

    def matters(self, place: PlacedNode) -> bool:
        spec = place.spec
        if place.path in self.paths or spec.kind.name in self.skills:
            return True
        if spec.kind.family == "skill":
            entry = spec.kind.data["entry"]
            if self.uses & {*entry.uses, entry.sentence}:
                return True
            if self.names(place, names(spec)) & self.entries:
                return True
        if (spec.kind.asks or spec.again is not None) and self.skills:
            return True  # what the node may do is not among the places
        if spec.again is not None and any(path.startswith(f"{place.path}/") for path in self.paths):
            return True
        if self.reads and self.names(place, tested(spec)) & self.entries:
            return True
        return bool(self.names(place, written_by(spec)) & self.entries)

    def keep(self, number: int) -> None:
        while number >= 0 and number not in self.kept:
            self.kept.add(number)
            number = self.places[number].above

    def depend(self, place: PlacedNode, deep: bool) -> None:
        """Adds what a kept place is made of."""
        spec = place.spec
        if spec.kind.family == "skill":
            entry = spec.kind.data["entry"]
            self.uses.update(entry.uses)
            self.entries.update(required(spec))
            if entry.agent_options.at_most is not None:
                self.uses.add(entry.sentence)
        for field, name, of in made_of(spec):
            inner = f"{place.path}: {name}" if field == "with" else self.named(place, name)
            if inner in self.entries:
                self.entries |= self.names(place, of)
        if deep:
            self.entries |= self.names(place, tested(spec))

    def names(self, place: PlacedNode, names: Iterable[str]) -> set[str]:
        return {self.named(place, name) for name in names}

    def named(self, place: PlacedNode, name: str) -> str:
        """Returns what an entry is called at the top; one that only an included tree has, with the path of that."""
        if place.around < 0:
            return name
        including = self.places[place.around]
        spec, path, *_ = including
        assert spec.subtree is not None
        around = next(shared_with(spec, spec.subtree, (name,)), None)
        return f"{path}: {name}" if around is None else self.named(including, around)
