"""The names in properties that a tree does not have: such a property could never hold, or never be broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bt_author.proof.cone import places_of, top_name
from bt_author.proof.cut import skills_of
from bt_author.proof.values import reads
from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.outside import written_by
from bt_runtime.language.properties.atom import Atom
from bt_runtime.language.spec import TreeSpec


def unknown_names(tree: TreeSpec, atoms: Sequence[Atom]) -> Iterator[BtError]:
    """Returns the names in atoms that the tree does not have."""
    places = places_of(tree)
    nodes = {place.path for place in places}
    grown = {place.path for place in places if place.spec.again is not None}
    skills = {place.spec.kind.name for place in places if place.spec.kind.family == "skill"}
    skills |= {kind.name for kind in tree.registry if kind.family == "skill"}
    for place in places:
        if place.spec.kind.asks:
            skills |= {*skills_of(place.spec, tree)}
    entries: set[str] | None = None
    for atom in atoms:
        for path in atom.paths:
            if path not in nodes and not any(path.startswith(f"{each}/") for each in grown):
                yield _unknown(atom, path, f"no node is at {path}", sorted(nodes), "nodes")
        for watch in atom.watches.values():
            if watch.skill not in skills:
                yield _unknown(atom, watch.skill, f"no skill is named `{watch.skill}`", sorted(skills), "skills")
        for name in atom.entries:
            if name in tree.ports:
                continue
            if entries is None:
                named = {top_name(places, p, n) for p in places for n in (*reads(p.spec), *written_by(p.spec))}
                entries = {*tree.ports, *(each for each in named if ": " not in each)}
            if name not in entries:
                yield _unknown(atom, name, f"no entry is named `{name}`", sorted(entries), "entries")


def _unknown(atom: Atom, name: str, why: str, known: list[str], what: str) -> BtError:
    close = nearest(name, known)
    return BtError(
        f"`{atom.text}`: {why}", f"did you mean `{close}`?" if close else f"{what}: {', '.join(known) or 'none'}"
    )
