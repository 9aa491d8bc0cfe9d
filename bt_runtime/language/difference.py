"""Compares two trees node by node: added, removed and moved nodes, and changed fields."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from bt_runtime.language.expression import Expression, Template
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.language.values import Nested
from bt_runtime.types import Json

What = Literal["added", "removed", "moved", "changed"]


class Change(NamedTuple):
    """One change. `path` is the path in the second tree; for a removed node, in the first."""

    what: What
    path: str
    kind: str
    field: str = ""  # what changed: a field, `kind`, or a port
    before: Json = None  # of a moved node: its path in the first tree
    after: Json = None


class Item:
    """A node together with its guards, as the comparison sees it."""

    __slots__ = ("below", "fields", "mark", "name", "path", "spec")

    def __init__(self, spec: NodeSpec, path: str, below: list[tuple[str, Item]]) -> None:
        given = {n: value for n, value in spec.values.items() if value != _default(spec, n)}
        self.spec, self.path, self.below = spec, path, below
        self.name = spec.name
        self.fields: dict[str, Json] = {name: _plain(spec, name, value) for name, value in given.items()}
        self.mark = 0
        self.seal()

    def seal(self) -> None:
        """Computes the digest of the node and all below it; equal digests mean identical subtrees."""
        inner = tuple((place, each.mark) for place, each in self.below)
        self.mark = hash((self.spec.kind.name, self.name, repr(sorted(self.fields.items(), key=str)), inner))


def item(root: NodeSpec, path: str) -> Item:
    """Builds the items from the leaves upward, so that no depth is too large."""
    paths, order = {root: path}, list(root.walk())
    for spec in order:
        for at, child in enumerate(spec.children):
            named = child.name if child.name is not None else str(at)
            paths[child] = paths[spec] if spec.kind.transparent else f"{paths[spec]}/{named}"
    made: dict[NodeSpec, Item] = {}
    for spec in reversed(order):
        below = [(place, made[child]) for place, child in zip(spec.places, spec.children, strict=True)]
        if not spec.kind.transparent:
            made[spec] = Item(spec, paths[spec], below)
            continue
        inner = next(each for place, each in below if place not in spec.asks)  # the node inside the guard
        inner.fields |= {name: _plain(spec, name, value) for name, value in spec.values.items()}
        inner.fields |= {place: _written(each.spec) for place, each in below if place in spec.asks}
        inner.seal()
        made[spec] = inner
    return made[root]


def _written(spec: NodeSpec) -> Json:
    """Formats a node that is used as a test."""
    return {spec.kind.name: {name: _plain(spec, name, value) for name, value in spec.values.items()}}


def _default(spec: NodeSpec, name: str) -> Json:
    field = spec.kind.field(name)
    return field.default if field is not None and not field.required else _plain


def _plain(spec: NodeSpec, name: str, value: Json) -> Json:
    """Returns a field's value as the author wrote it, before parsing."""
    if isinstance(value, Expression):
        field = spec.kind.field(name)
        return value.text if field is not None and field.type == "expression" else f"{{{value.text}}}"
    if isinstance(value, Template):
        return value.text
    if isinstance(value, Nested):
        return _plain(spec, name, value.shape)
    if isinstance(value, dict):
        return {key: _plain(spec, "", each) for key, each in value.items()}
    return [_plain(spec, "", each) for each in value] if isinstance(value, list) else value


def compare(first: TreeSpec, second: TreeSpec, subtrees: bool = False) -> list[Change]:
    """Returns all changes, in the order of the second tree; `subtrees` includes those of subtrees."""
    return list(_Comparison(subtrees).trees(first, second, f"/{first.name}", f"/{second.name}"))


class _Comparison:
    def __init__(self, subtrees: bool) -> None:
        self.subtrees = subtrees
        self.seen: set[tuple[int, int]] = set()  # trees may contain themselves

    def trees(self, first: TreeSpec, second: TreeSpec, before: str, after: str) -> Iterator[Change]:
        if (id(first), id(second)) in self.seen:
            return
        self.seen.add((id(first), id(second)))
        if first.name != second.name:
            yield Change("changed", after, "tree", "tree", first.name, second.name)
        for section in ("inputs", "outputs", "entries"):
            yield from _ports(section, getattr(first, section), getattr(second, section), after)
        gone: list[Item] = []
        come: list[Item] = []
        changes = list(self.nodes(item(first.root, before), item(second.root, after), gone, come))
        yield from changes
        yield from self.left(gone, come)

    def left(self, gone: list[Item], come: list[Item]) -> Iterator[Change]:
        """Yields additions and removals. A node that left one place and came in another counts as moved."""
        for new in come:
            old = next((g for g in gone if g.mark == new.mark), None) or next(
                (
                    g
                    for g in gone
                    if new.name is not None and (g.name, g.spec.kind.name) == (new.name, new.spec.kind.name)
                ),
                None,
            )
            if old is None:
                yield Change("added", new.path, new.spec.kind.name, after=_said(new))
                continue
            gone.remove(old)
            yield Change("moved", new.path, new.spec.kind.name, before=old.path, after=new.path)
            inner_gone: list[Item] = []
            inner_come: list[Item] = []
            yield from self.nodes(old, new, inner_gone, inner_come)
            yield from self.left(inner_gone, inner_come)
        for old in gone:
            yield Change("removed", old.path, old.spec.kind.name, before=_said(old))

    def nodes(self, old: Item, new: Item, gone: list[Item], come: list[Item]) -> Iterator[Change]:
        """Compares two matched nodes; children without a counterpart go to `gone` and `come`."""
        kind = new.spec.kind.name
        if old.spec.kind.name != kind:
            yield Change("changed", new.path, kind, "kind", old.spec.kind.name, kind)
        if old.name != new.name:
            yield Change("changed", new.path, kind, "name", old.name, new.name)
        for field in dict.fromkeys((*old.fields, *new.fields)):
            if old.fields.get(field) != new.fields.get(field):
                yield Change("changed", new.path, kind, field, old.fields.get(field), new.fields.get(field))
        if self.subtrees and old.spec.subtree is not None and new.spec.subtree is not None:
            was, now = old.spec.subtree, new.spec.subtree
            yield from self.trees(was, now, f"{old.path}/{was.name}", f"{new.path}/{now.name}")
        if old.mark == new.mark and not self.subtrees:
            return
        pairs = _paired([i for _, i in old.below], [i for _, i in new.below])
        places = {id(each): place for place, each in (*old.below, *new.below)}
        kept = _in_order([at for at, _ in pairs])
        for n, (at, to) in enumerate(pairs):
            one, other = old.below[at][1], new.below[to][1]
            if n not in kept or places[id(one)] != places[id(other)]:
                yield Change("moved", other.path, other.spec.kind.name, before=one.path, after=other.path)
            yield from self.nodes(one, other, gone, come)
        gone += [each for at, (_, each) in enumerate(old.below) if at not in {a for a, _ in pairs}]
        come += [each for at, (_, each) in enumerate(new.below) if at not in {b for _, b in pairs}]


def _paired(old: Sequence[Item], new: Sequence[Item]) -> list[tuple[int, int]]:
    """Pairs children: by name, then identical ones, then those of one kind in order."""
    pairs: dict[int, int] = {}  # place in the new tree → place in the old one
    named = {each.name: at for at, each in enumerate(old) if each.name is not None}
    for to, each in enumerate(new):
        if each.name in named:
            pairs[to] = named.pop(each.name)
    for key in ("mark", "kind"):
        left = [at for at in range(len(old)) if at not in set(pairs.values())]
        right = [to for to in range(len(new)) if to not in pairs]
        ones, others = ([_key(items[n], key) for n in rest] for items, rest in ((old, left), (new, right)))
        for block in difflib.SequenceMatcher(None, ones, others, autojunk=False).get_matching_blocks():
            for n in range(block.size):
                pairs[right[block.b + n]] = left[block.a + n]
        if key == "mark":  # wholly alike, in another order
            rest = {at: old[at].mark for at in range(len(old)) if at not in set(pairs.values())}
            for to in [to for to in range(len(new)) if to not in pairs]:
                same = next((at for at, mark in rest.items() if mark == new[to].mark), None)
                if same is not None:
                    pairs[to] = same
                    del rest[same]
    return [(pairs[to], to) for to in sorted(pairs)]


def _key(each: Item, key: str) -> Json:
    return each.mark if key == "mark" else (each.spec.kind.name, each.name is None)


def _in_order(places: Sequence[int]) -> set[int]:
    """Returns the items to leave in place so that as few as possible move: a longest increasing subsequence."""
    best: list[tuple[int, int]] = []  # length, index before
    for n, place in enumerate(places):
        found = max(((best[m][0], m) for m in range(n) if places[m] < place), default=(0, -1))
        best.append((found[0] + 1, found[1]))
    at = max(range(len(best)), key=lambda n: best[n][0], default=-1)
    kept: set[int] = set()
    while at >= 0:
        kept.add(at)
        at = best[at][1]
    return kept


def _ports(section: str, old: Mapping[str, Port], new: Mapping[str, Port], path: str) -> Iterator[Change]:
    said = {"entries": "blackboard"}.get(section, section)
    for name in dict.fromkeys((*old, *new)):
        one, other = (_port(each.get(name)) for each in (old, new))
        if one != other:
            yield Change("changed", path, "tree", f"{said}.{name}", one, other)


def _port(port: Port | None) -> Json:
    if port is None:
        return None
    bounds = {"minimum": port.minimum, "maximum": port.maximum, "choices": list(port.choices) or None}
    given = {key: value for key, value in {**bounds, "outside": port.outside}.items() if value is not None}
    return {"type": port.type, **({} if port.required else {"default": port.default}), **given}


def _said(each: Item) -> Json:
    inside = sum(1 for _ in each.spec.walk()) - 1
    return {**each.fields, **({"nodes below": inside} if inside else {})}


def lines(changes: Sequence[Change]) -> Iterator[str]:
    """Yields each change as a line for people."""
    signs = {"added": "+", "removed": "-", "moved": ">", "changed": "~"}
    for each in changes:
        more = ""
        if each.what == "changed":
            more = f" {each.field}: {shown(each.before)} → {shown(each.after)}"
        elif each.what == "moved":
            more = f" from {each.before}"
        else:
            given = each.after if each.what == "added" else each.before
            more = "".join(f", {key}: {shown(value)}" for key, value in (given or {}).items()).replace(",", "", 1)
        yield f"{signs[each.what]} {each.path}  {each.kind}{more}"


def shown(value: Json) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
