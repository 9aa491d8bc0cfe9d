"""Builds the model of a checked tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.outside import Writes, entries_of
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.proof.model.chooser import Guard, If, Precondition, Recovery, SkipUnless, Switch, Try, While
from bt_runtime.proof.model.contract import names
from bt_runtime.proof.model.control import InOrder, Parallel, Pipeline, Reactive, RoundRobin
from bt_runtime.proof.model.decorators import (
    Counted,
    Delay,
    Force,
    ForEach,
    Grown,
    Invert,
    Once,
    Pass,
    Rate,
    Replaced,
    Timeout,
    UntilFailure,
)  # fmt: skip
from bt_runtime.proof.model.domain import Tests, bounded
from bt_runtime.proof.model.entries import add_entries
from bt_runtime.proof.model.leaves import Any_, Check, Fail, Gate, Leaf, Log, Set, Subtree, Unset, Wait
from bt_runtime.proof.model.model import Model, Options, Within, _Reader
from bt_runtime.proof.model.node import ModelNode
from bt_runtime.proof.model.results import EVERY, ends_with_skills, results_of
from bt_runtime.proof.model.scope import ModelScope, names_in
from bt_runtime.proof.model.skill import Agent, Skill
from bt_runtime.proof.model.tick import BAD, OK, RUN, SKIP

KINDS: dict[str, Any] = {
    "sequence": InOrder, "fallback": InOrder, "sequence_with_memory": InOrder, "reactive_sequence": Reactive,
    "reactive_fallback": Reactive, "parallel": Parallel, "pipeline": Pipeline, "recovery": Recovery,
    "round_robin": RoundRobin, "if": If, "while": While, "switch": Switch, "try": Try, "guard": Guard,
    "precondition": Precondition, "skip_unless": SkipUnless, "retry": Counted, "repeat": Counted,
    "until_failure": UntilFailure, "for_each": ForEach, "invert": Invert, "force": Force, "once": Once,
    "timeout": Timeout, "delay": Delay, "rate": Rate, "episode": Pass, "rollback": Pass, "check": Check, "set": Set,
    "unset": Unset, "wait": Wait, "log": Log, "succeed": Leaf, "fail": Fail, "tree": Subtree,
}  # fmt: skip
GRAFT = Kind("grafted part", "decorator", "A part of a tree that a model grew.", ())
GROWN = Kind("grown part", "decorator", "A node that has grown another.", ())
REPLACED = Kind("replaced part", "control", "A part of a tree in the place of another.", ())
KINDS[GRAFT.name] = KINDS[GROWN.name] = Grown
KINDS[REPLACED.name] = Replaced
SAID = {"log": {"text"}, "fail": {"why"}}  # fields that only people read


def known_of(tree: TreeSpec, property: Property) -> dict[Any, Any]:
    """What many models of one tree with one property have in common; see `Options.memo`."""
    model = Model(tree, Options())
    made = _Builder(model, (property,))
    made.build()
    parts: dict[int, Any] = dict.fromkeys(map(id, made.specs))
    known = {"specs": made.specs, "tests": made.tests, "made": made.made, "read": frozenset(made.read)}
    return {**known, "parts": parts, "writes": made.writes}


def model_of(tree: TreeSpec, properties: Sequence[Property] = (), options: Options | None = None) -> Model:
    """Returns the model of a tree, with the atoms of the properties."""
    model = Model(tree, options or Options())
    made = _Builder(model, properties)
    made.build()
    return model


class _Builder:
    def __init__(self, model: Model, properties: Sequence[Property]) -> None:
        self.model, self.properties = model, properties
        self.atoms = [(atom, each.word == "always") for each in properties for atom in each.atoms]
        self.asked = {watch.skill for atom, _ in self.atoms for watch in atom.watches.values()}
        self.memo = model.options.memo if model.options.memo is not None else {}
        self.specs = list(walk(model.tree, model.options.levels)) if "specs" not in self.memo else self.memo["specs"]
        self.specs = [*self.specs, *self.memo.get("grafted", ())]
        self.writes = Writes(model.tree.root, self.memo.get("writes"))
        self.used: set[int] = set()  # slots that nodes of the model, or properties, read
        model.breaks = any(s.kind.name == "try" and s.values.get("on") == "exception" for s in self.specs)

    def build(self) -> None:
        model, tree = self.model, self.model.tree
        ports = tree.inputs.items()
        free = (n for n, p in ports if not p.required and n not in model.options.values and not bounded(p))
        fixed = {name: tree.inputs[name].default for name in free}
        given = {name: v for name, v in model.options.inputs.items() if name not in self.writes.names}
        self.tests = model.tests = Tests({**fixed, **given})
        if "tests" in self.memo:
            self.tests.like(self.memo["tests"])
        for spec in self.specs if "tests" not in self.memo else self.memo["grafted"]:
            for name, value in spec.values.items():
                if name not in SAID.get(spec.kind.name, ()) and spec.kind.family != "skill":
                    self.tests.add(value)
        for atom, _ in self.atoms:
            self.tests.add(atom.test)
        for name in fixed:
            if name in self.tests.compared:  # it is compared with more than its default
                del self.tests.fixed[name]
        self.relevant()
        model.root = self.node(tree.root, model.scope, f"/{tree.name}", 0)
        for atom, _ in self.atoms:
            for name in atom.entries:
                if name in tree.ports or (("", name) in model.places):
                    model.kept[self.slot(model.scope, name)] = True
                    self.used.add(self.slot(model.scope, name))
        for name in {**entries_of(tree), **tree.ports}:
            self.slot(model.scope, name)
        add_entries(model, self.writes.names, self.used)
        seen: dict[tuple[str, bool], _Reader] = {}
        for atom, unset in self.atoms:
            if (atom.text, unset) not in seen:
                seen[atom.text, unset] = _Reader(model, atom, unset)
        model.atoms = list(seen.values())
        for each in self.properties:
            if each.seconds is not None:
                texts = [atom.text for atom in each.atoms]
                since = model.bit_of(texts[1]) if len(texts) > 1 else None
                model.clocks.append(Within(model, model.bit_of(texts[0]), since, each.seconds))
        self.show()

    def relevant(self) -> None:
        """Finds the entries whose values matter: those that tests and properties read, and what they are made of."""
        self.read: set[str] = {name for atom, _ in self.atoms for name in atom.entries}
        made: list[tuple[str, set[str]]] = list(self.memo.get("made", ()))
        self.read |= self.memo.get("read", frozenset())
        for spec in self.specs if "made" not in self.memo else self.memo["grafted"]:
            if spec.kind.family == "skill":
                self.read.update(names(spec))
            for field, value in spec.values.items():
                if field in SAID.get(spec.kind.name, ()) or (spec.kind.family == "skill" and not self.watched(spec)):
                    continue
                assigned = isinstance(value, Mapping) and (field in ("values", "with") or field.startswith("on_"))
                if assigned:
                    made += [(name, set(names_in(of))) for name, of in value.items()]
                    if field == "with":  # an entry that is shared matters when the entry behind it does
                        made += [(entry, {name}) for name, of in value.items() if (entry := entry_named(of))]
                else:
                    self.read.update(names_in(value))
                    declared = spec.kind.field(field)
                    if declared is not None and declared.type == "key":
                        self.read.add(str(value))
        self.made = made
        before = -1
        while before != len(self.read):
            before = len(self.read)
            for name, of in made:
                if name in self.read:
                    self.read |= of

    def watched(self, spec: NodeSpec) -> bool:
        return any(w.given is not None and w.skill == spec.kind.name for a, _ in self.atoms for w in a.watches.values())

    # Nodes -----------------------------------------------------------------------------------

    def node(self, spec: NodeSpec, scope: ModelScope, path: str, level: int, inside: bool = False) -> ModelNode:
        path = self.model.options.paths.get(id(spec), path)
        if path in self.model.options.gates and not inside:
            gate = self.enter(Gate(spec, scope, path), path)
            gate.children = [self.node(spec, scope, path, level, True)]
            return gate
        model, kind = self.model, spec.kind
        for value in spec.values.values():
            for name in names_in(value):
                self.slot(scope, name)
        keep = model.options.keep
        if keep is not None and not keep(spec):
            parts = self.memo.get("parts", {})  # of the tree as it was loaded; None: not looked at yet
            known = parts.get(id(spec))
            if known is None:
                known = (tuple(self.writes.of(spec)), tuple(sorted(results_of(spec))), ends_with_skills(spec))
                if id(spec) in parts:
                    parts[id(spec)] = known
            writes = sorted({self.slot(scope, name) for name in known[0]})
            any_ = Any_(spec, scope, path, known[1], writes)
            if known[2]:
                model.ends.append(any_)
            return self.enter(any_, path)
        self.used |= {self.slot(scope, name) for name in self.reads(spec)}
        made: ModelNode
        if kind.family == "skill":
            for output in kind.fields:
                if output.writes and output.name in spec.values:
                    self.slot(scope, spec.values[output.name].text.strip())
            made = Skill(spec, scope, path)
            model.skills.setdefault(kind.name, []).append(made)
            model.ends.append(made)
            if made.holds_it:
                model.holders.append((made.holds_it, made.entry.uses))
            return self.enter(made, path)
        if (
            kind.asks
            or kind.foreign
            or kind.name not in KINDS
            or (spec.again is not None and level >= model.options.levels)
        ):
            return self.enter(self.agent(spec, scope, path), path)
        for name, value in spec.values.items():
            if isinstance(value, Mapping) and (name == "values" or name.startswith("on_")):
                for entry in value:
                    self.slot(scope, entry)
            field = kind.field(name)
            if field is not None and (field.type == "key" or field.writes) and isinstance(value, str):
                self.slot(scope, value)
        made = KINDS[kind.name](spec, scope, path)
        self.enter(made, path)
        if isinstance(made, Subtree):
            for name in made.tree.ports:
                self.slot(made.inner, name)
            root = made.tree.root
            made.children = [self.node(root, made.inner, f"{path}/{made.tree.name}", level + made.grows)]
            return made
        for number, (child, place) in enumerate(zip(spec.children, spec.places, strict=True)):
            segment = place if place in spec.asks else ""
            below = path if kind.transparent and not segment else f"{path}/{segment or child_name(child) or number}"
            made.children.append(self.node(child, scope, below, level))
        if isinstance(made, InOrder) and model.graft is None and not model.options.agents:
            made.children = list(_merged(made.children, scope))
        if kind is GRAFT:
            model.graft = made
        return made

    def reads(self, spec: NodeSpec) -> Iterator[str]:
        """Returns the entries that a node reads."""
        for field, value in spec.values.items():
            if field not in SAID.get(spec.kind.name, ()):
                yield from names_in(value)
                declared = spec.kind.field(field)
                if declared is not None and declared.type == "key":
                    yield str(value)

    def enter(self, made: ModelNode, path: str) -> ModelNode:
        self.model.nodes.setdefault(path, made)  # a guard comes before the node inside, and speaks for it
        return made

    def slot(self, scope: ModelScope, name: str) -> int:
        at = scope.slot(name)
        read = name in self.read or self.model.names[at] in self.read or self.model.options.entries
        self.model.kept[at] = self.model.kept.get(at, True) and read
        return at

    def agent(self, spec: NodeSpec, scope: ModelScope, path: str) -> Agent:
        """Models an agent: in each tick it may do anything that it is allowed to. So may a node that has no model."""
        model = self.model
        able = skills_of(spec, scope.tree) if model.options.agents else ()
        allowed = [name for name in able if name in self.asked]
        for name in allowed:
            model.skills.setdefault(name, [])
        writes = sorted({self.slot(scope, name) for name in self.writes.of(spec)})
        why = f"an agent may do so, if it decides to ({path})"
        if spec.kind.foreign:
            why = f"`{spec.kind.name}` at {path} is none of ours: what it reads and writes cannot be seen"
            model.doubt(why)
        elif spec.again is not None:
            why = f"{path}: a tree that contains itself was followed {model.options.levels} levels deep, then left open"
            model.doubt(why)
        elif not spec.kind.asks:
            why = f"there is no model of `{spec.kind.name}` ({path}): it may do anything"
        results = (RUN, OK, BAD) if not spec.kind.foreign else tuple(sorted(EVERY))
        if spec.kind.skips:
            results = (SKIP, *results)
        made = Agent(spec, scope, path, results, tuple(dict.fromkeys(allowed)), writes, why)
        model.ends.append(made)
        for name in made.asked:
            model.skills[name].append(made)
        return made

    def show(self) -> None:
        """Marks the nodes whose results somebody reads, and all above them."""
        model = self.model
        shown = {reader.node(path) for reader in model.atoms for path in reader.atom.paths}
        watched = {n for r in model.atoms for w in r.atom.watches.values() for n in model.skills.get(w.skill, ())}
        above: dict[ModelNode, ModelNode] = {}
        todo = [model.root]
        while todo:
            node = todo.pop()
            for child in node.children:
                above[child] = node
            todo += node.children
        for node in (*shown, *watched):
            at = node
            while at is not None and not at.shown:
                at.shown = True
                at = above.get(at)


def _merged(children: Sequence[ModelNode], scope: ModelScope) -> Iterator[ModelNode]:
    """Neighbours of which only the results are known, as one: in order they answer as one of them does."""
    held: list[Any_] = []
    for child in (*children, None):
        if isinstance(child, Any_):
            held.append(child)
            continue
        if len(held) > 1:
            results = tuple(sorted({result for each in held for result in each.results}))
            writes = sorted({slot for each in held for slot in each.writes})
            made = Any_(held[0].spec, scope, held[0].path, results, writes)
            made.merged = len(held)
            yield made
        else:
            yield from held
        held = []
        if child is not None:
            yield child


def child_name(spec: NodeSpec) -> str:
    """Returns the name that a person gave a node; a guard has the inner node's."""
    if spec.name:
        return spec.name
    return child_name(spec.children[0]) if spec.kind.transparent and spec.children else ""


def walk(tree: TreeSpec, levels: int) -> Iterator[NodeSpec]:
    """Yields all nodes of a tree and of its included trees, each once."""
    seen: set[int] = set()
    todo = [tree]
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        for spec in each.root.walk():
            yield spec
            todo += [t for t in (spec.subtree, spec.again) if t is not None]


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


__all__ = ["BtError", "model_of", "skills_of", "walk"]
