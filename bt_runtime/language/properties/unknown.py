"""The names in properties that a tree does not have: such a property could never hold, or never be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.nodes import places_of
from bt_runtime.language.properties.atom import Atom
from bt_runtime.language.spec import TreeSpec


def unknown_names(
    tree: TreeSpec, atoms: Sequence[Atom], used: Callable[[], Iterable[str]], grows: bool = False
) -> Iterator[BtError]:
    """Yields a fault for each name that the tree does not have. `used`: the entries that its nodes read and write.
    `grows`: nodes may come while it runs, and any may be named."""
    places = places_of(tree)
    nodes = {place.path for place in places}
    grown = {place.path for place in places if place.spec.again is not None}
    registries = [tree.registry, *(t.registry for p in places for t in (p.spec.subtree, p.spec.again) if t is not None)]
    skills = {kind.name for each in registries for kind in each.skills()}
    skills |= {place.spec.kind.name for place in places if place.spec.kind.family == "skill"}
    entries: set[str] | None = None
    for atom in atoms:
        for path in atom.paths:
            if not grows and path not in nodes and not any(path.startswith(f"{each}/") for each in grown):
                yield _unknown(atom, path, f"no node is at {path}", sorted(nodes), "nodes")
        for watch in atom.watches.values():
            if not grows and watch.skill not in skills:
                yield _unknown(atom, watch.skill, f"no skill is named `{watch.skill}`", sorted(skills), "skills")
        for name in atom.entries:
            if name in tree.ports:
                continue
            if entries is None:
                entries = {*tree.ports, *used()}
            if name not in entries:
                yield _unknown(atom, name, f"no entry is named `{name}`", sorted(entries), "entries")


def _unknown(atom: Atom, name: str, why: str, known: list[str], what: str) -> BtError:
    return BtError(f"`{atom.text}`: {why}", did_you_mean(name, known, f"{what}: {', '.join(known) or 'none'}"))
