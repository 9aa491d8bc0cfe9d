"""Finds the parts of a tree that a property can depend on. The model keeps only the results of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_author.proof.acting import names
from bt_author.proof.values import names_in, required
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.outside import written_by
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.monitoring.nodes import child_name

MOST_PLACES = 200_000


class Place(NamedTuple):
    """A node in its tree; `above` is the number of the place around it."""

    spec: NodeSpec
    path: str
    above: int
    names: Mapping[str, str]  # of entries here → what they are called at the top, where they are shared with it


def places_of(tree: TreeSpec) -> list[Place]:
    """Returns all nodes of a tree and of its included trees with their places, parents first."""
    found: list[Place] = []
    todo = [(tree.root, f"/{tree.name}", -1, {name: name for name in tree.ports})]
    while todo and len(found) < MOST_PLACES:
        spec, path, above, names = todo.pop()
        number = len(found)
        found.append(Place(spec, path, above, names))
        if spec.subtree is not None:
            inner = dict(_shared(spec, names, path))
            todo.append((spec.subtree.root, f"{path}/{spec.subtree.name}", number, inner))
        for at, (child, place) in enumerate(zip(spec.children, spec.places, strict=True)):
            segment = place if place in spec.asks else ""
            below = path if spec.kind.transparent and not segment else f"{path}/{segment or child_name(child) or at}"
            todo.append((child, below, number, names))
    return found


def _shared(spec: NodeSpec, names: Mapping[str, str], path: str) -> Iterator[tuple[str, str]]:
    assert spec.subtree is not None
    if spec.values.get("autoremap"):
        yield from names.items()
    given = spec.values.get("with") or {}
    for name in spec.subtree.ports:
        yield name, f"{path}: {name}"
    for name, value in given.items():
        entry = entry_named(value)
        if entry is not None:
            yield name, names.get(entry, entry)


class Cone:
    """The places that matter for a property. `reads`: also those that read its entries. `deep`: also the entries that
    decide whether they are reached."""

    def __init__(self, places: Sequence[Place], property: Property, deep: bool, reads: bool = False) -> None:
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

    def matters(self, place: Place) -> bool:
        spec = place.spec
        if place.path in self.paths or spec.kind.name in self.skills:
            return True
        if spec.kind.family == "skill":
            entry = spec.kind.data["entry"]
            if self.uses & {*entry.uses, entry.sentence}:
                return True
            if any(self.named(place, name) in self.entries for name in names(spec)):
                return True
        if (spec.kind.asks or spec.again is not None) and self.skills:
            return True  # what the node may do is not among the places
        if spec.again is not None and any(path.startswith(f"{place.path}/") for path in self.paths):
            return True
        if self.reads and spec.kind.family != "skill":
            texts = [value for value in spec.values.values() if not isinstance(value, Mapping)]
            if any(self.named(place, name) in self.entries for text in texts for name in names_in(text)):
                return True
        return any(self.named(place, name) in self.entries for name in written_by(spec))

    def keep(self, number: int) -> None:
        while number >= 0 and number not in self.kept:
            self.kept.add(number)
            number = self.places[number].above

    def depend(self, place: Place, deep: bool) -> None:
        """Adds what a kept place is made of."""
        spec = place.spec
        if spec.kind.family == "skill":
            entry = spec.kind.data["entry"]
            self.uses.update(entry.uses)
            self.entries.update(required(spec))
            if entry.agent_options.at_most is not None:
                self.uses.add(entry.sentence)
        for field, value in spec.values.items():
            if isinstance(value, Mapping) and (field in ("values", "with") or field.startswith("on_")):
                for name, of in value.items():
                    inner = f"{place.path}: {name}" if field == "with" else self.named(place, name)
                    if inner in self.entries:
                        self.entries.update(self.named(place, each) for each in names_in(of))
            elif deep and spec.kind.family != "skill":
                self.entries.update(self.named(place, each) for each in names_in(value))
                declared = spec.kind.field(field)
                if declared is not None and declared.type == "key":
                    self.entries.add(self.named(place, str(value)))

    def named(self, place: Place, name: str) -> str:
        return top_name(self.places, place, name)


def top_name(places: Sequence[Place], place: Place, name: str) -> str:
    """Returns what an entry is called at the top; one that only the tree around the place sees, with its path."""
    found = place.names.get(name)
    at = place
    while found is None and at.above >= 0:
        above = places[at.above]
        if above.spec.subtree is not None and not above.spec.values.get("autoremap"):
            return f"{above.path}: {name}"
        at = above
    return found or name
