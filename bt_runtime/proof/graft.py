"""A graft before it is made: what its nodes may do where they are to stand, from the present of the run on.

The model is of the whole tree as it stands, with the graft in its place; it ends where the graft does. Other agents are
not charged with what they may decide: their own plans are looked at when they come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.proof.automaton import Automaton, Left
from bt_runtime.proof.cone import Cone, places_of
from bt_runtime.proof.live import state_of
from bt_runtime.proof.model.build import GRAFT, GROWN, known_of, model_of
from bt_runtime.proof.model.model import Model, Options
from bt_runtime.proof.model.node import ModelNode
from bt_runtime.proof.search import Limits, Search, automaton_of
from bt_runtime.proof.story import told, words
from bt_runtime.tree.node import Node, path_of
from bt_runtime.tree.nodes.subtree import Subtree

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

SECONDS = 0.01  # of the processor that one check of a graft may take
STATES = 20_000


HOLDS = frozenset(
    (
        "sequence",
        "fallback",
        "sequence_with_memory",
        "round_robin",
        "if",
        "try",
        "recovery",
        "retry",
        "repeat",
        "until_failure",
        "invert",
        "force",
        "once",
        "for_each",
        "precondition",
        "skip_unless",
        "delay",
        "rate",
        "episode",
    )
)  # fmt: skip - while a child of theirs runs these tick nothing else, and do not halt it


class Answer(NamedTuple):
    """`story` is how the property would be broken, "" when it is not; None: it was not decided in its time."""

    property: Property
    story: str | None
    states: int


class Grafts:
    """The checks of the grafts of one run. What does not change from graft to graft is made once."""

    def __init__(self, run: Run, properties: Sequence[Property], seconds: float = SECONDS) -> None:
        self.run, self.seconds = run, seconds
        self.properties = [each for each in properties if each.word not in ("eventually", "leads_to")]
        places = places_of(run.spec)
        self.cones = {each.name: Cone(places, each, True) for each in self.properties}
        self.automata: dict[str, Automaton] = {}
        self.memos: dict[str, dict[Any, Any]] = {each.name: known_of(run.spec, each) for each in self.properties}

    def check(self, node: Node, graft: NodeSpec, left: dict[str, frozenset[Left]]) -> list[Answer]:
        """The answers for a graft below this node. `left` is what each property still asks of the run."""
        end = time.thread_time() + self.seconds
        chain = _chain(node, graft)
        return [self.one(each, chain, graft, left[each.name], end) for each in self.properties]

    def one(self, property: Property, chain: _Chain, graft: NodeSpec, left: frozenset[Left], end: float) -> Answer:
        cone, memo = self.cones[property.name], dict(self.memos[property.name])
        memo["grafted"] = [*chain.specs, *graft.walk()]
        own = Cone(places_of(_tree(self.run.spec, graft)), property, True)
        kept = cone.specs | {id(spec) for spec in chain.specs} | own.specs
        tree = _tree(self.run.spec, chain.root)
        options = Options(keep=lambda spec: id(spec) in kept, memo=memo, agents=False, paths=chain.paths)
        model = model_of(tree, (property,), options)
        run = self.run
        live = _paired(model, run.root)
        now = run.context.clock.now()
        start = state_of(model, live, run.context.blackboard, run.blackboard, now)
        limits = Limits(STATES, end, every=1, clock=time.thread_time)
        starts = [(start, each) for each in left]
        automaton = self.automata.get(property.name) or automaton_of(model, property)
        self.automata[property.name] = automaton
        search = Search(model, property, limits, starts, automaton)
        found = search.run()
        if found.story is None:
            return Answer(property, "" if found.whole else None, found.states)
        return Answer(property, "; ".join(words(told(model, found.story, start))), found.states)


class _Chain(NamedTuple):
    """The way from the root of the run down to a graft, as specs."""

    root: NodeSpec
    specs: list[NodeSpec]
    paths: dict[int, str]  # of the specs: where their nodes stand in the run


def _chain(node: Node, graft: NodeSpec) -> _Chain:
    made = NodeSpec(GRAFT, node.spec.span, node.spec.file)
    made.name = node.spec.name
    made.add(graft, "child")
    specs, paths = [made], {id(made): path_of(node)}
    below: Behaviour = node
    above: Any = node.parent
    while above is not None:
        made = _with_child(above, below, made)
        specs.append(made)
        paths[id(made)] = path_of(above)
        below, above = above, above.parent
    return _Chain(made, specs, paths)


def _with_child(parent: Any, child: Behaviour, made: NodeSpec) -> NodeSpec:
    """The spec of a live node with this spec in place of one child's."""
    spec: NodeSpec = parent.spec
    at = next(i for i, each in enumerate(parent.children) if each is child)
    if isinstance(parent, Subtree):
        new = _copied(spec)
        new.subtree, new.again = _tree(parent.tree, made), None
        return new
    if not spec.children or spec.kind.name in HOLDS:
        new = NodeSpec(GROWN, spec.span, spec.file)
        new.name = spec.name
        new.add(made, "child")
        return new
    new = _copied(spec)
    if len(spec.children) == len(parent.children):
        new.children[at] = made
        return new
    new.children = [made if each is child else each.spec for each in parent.children]
    new.places = ["children"] * len(new.children)
    return new


def _copied(spec: NodeSpec) -> NodeSpec:
    new = NodeSpec(spec.kind, spec.span, spec.file)
    new.name, new.values, new.subtree, new.again = spec.name, spec.values, spec.subtree, spec.again
    new.children, new.places = list(spec.children), list(spec.places)
    return new


def _tree(tree: TreeSpec, root: NodeSpec) -> TreeSpec:
    new = TreeSpec(tree.name, tree.file, "", Path(tree.folder), tree.registry)
    new.inputs, new.outputs, new.entries, new.root = tree.inputs, tree.outputs, tree.entries, root
    return new


def _paired(model: Model, root: Behaviour) -> dict[ModelNode, Behaviour]:
    """The model's nodes with those of the run, from the root down as far as both have them."""
    found: dict[ModelNode, Behaviour] = {}
    todo: list[tuple[ModelNode, Behaviour]] = [(model.root, root)]
    while todo:
        node, live = todo.pop()
        found[node] = live
        if len(node.children) == len(live.children):
            todo += zip(node.children, live.children, strict=True)
    return found
