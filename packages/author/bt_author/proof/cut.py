"""The tree that is explored, as a spec for the ordinary builder: the checked tree, with parts that do not matter and
nodes that cannot be explored replaced by parts that choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bt_author.proof import parts
from bt_author.proof.acting import names
from bt_author.proof.choices import BAD, OK, RUN
from bt_author.proof.declared import explorable
from bt_author.proof.domain import Tests
from bt_author.proof.options import Options
from bt_author.proof.results import EVERY, ends_with_skills, results_of
from bt_author.proof.values import SAID, conditional, made_of, reads, requirement, symbolic, tested
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.nodes import child_name, walk
from bt_runtime.language.outside import Writes
from bt_runtime.language.ports import all_values
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.tree.build import made_by

PASSING = frozenset(("episode", "rollback"))  # in a proof they only tick their child
LEVELS = 2  # how often a tree may contain itself
IN_ORDER = frozenset(("sequence", "fallback", "sequence_with_memory"))


class Cut:
    """`tests`: what the tree compares its entries with. `read`: the names of entries whose values matter."""

    def __init__(
        self, tree: TreeSpec, property: Property | None, options: Options, doubt: Callable[[str], None]
    ) -> None:
        self.tree, self.options, self.doubt = tree, options, doubt
        self.atoms = property.atoms if property is not None else []
        self.watches = [watch for atom in self.atoms for watch in atom.watches.values()]
        self.asked = {watch.skill for watch in self.watches}
        base = options.base
        self.base: Cut | None = base
        self.new = [*walk(tree)] if base is None else options.grafted  # nodes that have not been looked at
        self.writes: Writes = Writes(tree.root, base.writes if base else None)
        tries = [spec for spec in self.new if spec.kind.name == "try"]
        self.breaks: bool = any(s.values.get("on") == "exception" for s in tries) or (base is not None and base.breaks)
        self.ends: set[str] = set()  # paths of parts that end when all skills do
        self.faults: set[str] = {str(s.values["as"]) for s in tries}  # entries that hold what broke
        self.faults |= base.faults if base else set()
        self.parts: dict[int, tuple[Any, ...]] = base.parts if base else {}  # spec → what is known of it as a part
        self.stay: set[int] = base.stay if base else {*map(id, self.new)}  # specs, by identity, that outlast this cut
        self.tests = self._tests()
        self.read = self._read()

    def cut(self) -> TreeSpec:
        return self._tree(self.tree, f"/{self.tree.name}", 0)

    # What matters ----------------------------------------------------------------------------

    def _tests(self) -> Tests:
        tree, options = self.tree, self.options
        free = (
            n for n, p in tree.inputs.items() if not p.required and n not in options.values and all_values(p) is None
        )
        fixed = {name: tree.inputs[name].default for name in free}
        given = {name: v for name, v in options.inputs.items() if name not in self.writes.names}
        tests = Tests({**fixed, **given})
        if self.base is not None:
            tests.like(self.base.tests)
        for spec in self.new:
            tests.add(requirement(spec))
            for name, value in spec.values.items():
                if name not in SAID.get(spec.kind.name, ()) and spec.kind.family != "skill":
                    tests.add(value)
        for atom in self.atoms:
            tests.add(atom.test)
        for name in fixed:
            if name in tests.compared:  # it is compared with more than its default
                del tests.fixed[name]
        return tests

    def _read(self) -> set[str]:
        """Finds the entries whose values matter: those that tests and properties read, and what they are made of."""
        read: set[str] = {name for atom in self.atoms for name in atom.entries}
        read |= self.base.read if self.base else set()
        self.made: list[tuple[str, set[str]]] = [*self.base.made] if self.base else []
        for spec in self.new:
            for field, name, of in made_of(spec):
                self.made.append((name, of))
                if field == "with":  # an entry that is shared matters when the one behind it does
                    self.made += [(entry, {name}) for entry in of]
            read.update(reads(spec) if self._watched(spec) else tested(spec))
            if spec.kind.family == "skill":
                read.update(names(spec))
        before = -1
        while before != len(read):
            before = len(read)
            for name, of in self.made:
                if name in read:
                    read |= of
        return read

    def _watched(self, spec: NodeSpec) -> bool:
        return any(watch.given is not None and watch.skill == spec.kind.name for watch in self.watches)

    # Nodes -----------------------------------------------------------------------------------

    def _tree(self, tree: TreeSpec, path: str, level: int) -> TreeSpec:
        made = with_root(tree, tree.root)
        made.root = self.node(tree.root, path, level, tree)
        return made

    def node(self, spec: NodeSpec, path: str, level: int, tree: TreeSpec, inside: bool = False) -> NodeSpec:
        if path in self.options.gates and not inside:
            gate = parts.replaced(spec, parts.STEERED, named(spec))
            gate.add(self.node(spec, path, level, tree, True), "child")
            return gate
        keep = self.options.keep
        if keep is not None and not keep(self.options.origins.get(id(spec), spec)):
            return self._part(spec, path)
        kind = spec.kind
        if kind.name not in parts.NAMES and kind.family != "skill" and self._is_open(spec, level):
            return self._open(spec, path, tree)
        if kind.name in PASSING:
            kind = parts.PASS
        made = NodeSpec(conditional(kind), spec.span, spec.file)
        made.name = spec.name
        made.values = symbolic(
            spec, lambda field: self.doubt(f"`{field}` of {path} is computed from what only a run knows")
        )
        if spec.subtree is not None:
            made.subtree = self._tree(spec.subtree, f"{path}/{spec.subtree.name}", level)
        elif spec.again is not None:
            made.again = self._tree(spec.again, f"{path}/{spec.again.name}", level + 1)
        for number, (child, place) in enumerate(zip(spec.children, spec.places, strict=True)):
            segment = place if place in spec.asks else ""
            below = path if kind.transparent and not segment else f"{path}/{segment or child_name(child) or number}"
            made.add(self.node(child, below, level, tree), place)
        if self.options.merge and kind.name in IN_ORDER and id(spec) not in self.options.apart:
            merge(made)
        return made

    def _is_open(self, spec: NodeSpec, level: int) -> bool:
        kind = spec.kind
        return kind.asks or kind.foreign or (spec.again is not None and level >= LEVELS) or self.closed(kind)

    def closed(self, kind: Kind) -> bool:
        """True for a node whose class does not say what a tick leaves behind in it, or that grows others."""
        return kind.name not in PASSING and not explorable(made_by(kind.impl))

    def _part(self, spec: NodeSpec, path: str) -> NodeSpec:
        of = self.options.origins.get(id(spec), spec)
        known = self.parts.get(id(of))
        if known is None:
            known = (tuple(sorted(self.writes.of(of))), tuple(sorted(results_of(of))), ends_with_skills(of))
            if id(of) in self.stay:
                self.parts[id(of)] = known
        if known[2]:
            self.ends.add(path)
        return parts.replaced(
            spec, parts.PART, named(spec), results=known[1], writes=known[0], path=path, breaks=self.breaks
        )

    def _open(self, spec: NodeSpec, path: str, tree: TreeSpec) -> NodeSpec:
        """In each tick it may do anything that it is allowed to."""
        able = skills_of(spec, tree) if self.options.agents else ()
        allowed = [name for name in able if name in self.asked]
        why = f"an agent may do so, if it decides to ({path})"
        if spec.kind.foreign:
            why = f"`{spec.kind.name}` at {path} is none of ours: what it reads and writes cannot be seen"
            self.doubt(why)
        elif spec.again is not None:
            why = f"{path}: a tree that contains itself was followed {LEVELS} levels deep, then left open"
            self.doubt(why)
        elif not spec.kind.asks:
            why = f"there is no model of `{spec.kind.name}` ({path}): it may do anything"
        results = (RUN, OK, BAD) if not spec.kind.foreign and not spec.kind.skips else tuple(sorted(EVERY))
        self.ends.add(path)
        return parts.replaced(
            spec, parts.OPEN, named(spec), results=results, writes=tuple(sorted(self.writes.of(spec))), path=path,
            breaks=self.breaks, asked=tuple(dict.fromkeys(allowed)), why=why,
        )  # fmt: skip


def named(spec: NodeSpec) -> str:
    return spec.name or child_name(spec)


def merge(made: NodeSpec) -> None:
    """Makes one of neighbours of which only the results are known: in order they answer as one of them does."""
    if not any(
        one.kind is parts.PART is other.kind for one, other in zip(made.children, made.children[1:], strict=False)
    ):
        return
    found: list[NodeSpec] = []
    for number, child in enumerate(made.children):
        last = found[-1] if found else None
        if child.kind is parts.PART and last is not None and last.kind is parts.PART:
            values = last.values
            values["results"] = tuple(sorted({*values["results"], *child.values["results"]}))
            values["writes"] = tuple(sorted({*values["writes"], *child.values["writes"]}))
            values["merged"] = values.get("merged", 1) + 1
        else:
            child.name = child.name or str(number)
            found.append(child)
    made.children, made.places = found, made.places[: len(found)]


def with_root(tree: TreeSpec, root: NodeSpec) -> TreeSpec:
    """The same tree with another root."""
    new = TreeSpec(tree.name, tree.file, "", tree.folder, tree.registry)
    new.inputs, new.outputs, new.entries = tree.inputs, tree.outputs, tree.entries
    new.shared, new.root = tree.shared, root
    return new


def skills_of(spec: NodeSpec, tree: TreeSpec) -> Iterator[str]:
    """Returns the skills that a deciding node may use: its whitelist, or all that its tree knows, and those of the
    nodes and trees below it."""
    named = spec.values.get("actions")
    listed = [str(each) for each in named] if isinstance(named, list | tuple) else None
    known = [kind.name for kind in tree.registry if kind.family == "skill"]
    if listed is None:
        yield from known
    else:
        yield from (name for name in known if any(name == each or name in each.split() for each in listed))
    for below in spec.walk():
        if below.kind.family == "skill":
            yield below.kind.name
        for inner in (below.subtree, below.again):
            if inner is not None:
                yield from (kind.name for kind in inner.registry if kind.family == "skill")
