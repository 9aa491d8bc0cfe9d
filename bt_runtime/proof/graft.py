"""A graft before it is made: what its nodes may do where they are to stand, from the present of the run on.

The model is of a whole tree as it stands, with the graft in its place. For a model's plan it ends where the plan does;
what a person grafts is looked at with all that comes after it. Other agents are not charged with what they may decide:
their own plans are looked at when they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.automaton import Automaton, Left
from bt_runtime.proof.cone import Cone, places_of
from bt_runtime.proof.live import nodes_of, state_of
from bt_runtime.proof.model.build import known_of, model_of
from bt_runtime.proof.model.decorators import Replaced
from bt_runtime.proof.model.model import Model, Options
from bt_runtime.proof.model.tick import State
from bt_runtime.proof.search import Found, Limits, Search, automaton_of
from bt_runtime.proof.standing import Chain, Standing, grown, inserted, paired, replaced, tree_of
from bt_runtime.proof.still import still
from bt_runtime.proof.story import told, words
from bt_runtime.tree.node import Node

SECONDS = 0.01  # of a usual processor that one check of a graft may take
COST = 2.5e-6  # seconds in which a usual processor steps a node of a model
STATES = 20_000


class Past(NamedTuple):
    """What a run has done about a property before."""

    left: frozenset[Left]  # what the property still asks
    begun: bool = False  # whether it has been looked at
    since: float | None = None  # since when its clock runs


class Answer(NamedTuple):
    """`story` is how the property would be broken, "" when it is not; None: it was not decided in its time. `anyway`:
    the tree may break the property without the graft as well. `rough`: the model of the story leaves parts out."""

    property: Property
    story: str | None
    states: int
    anyway: bool = False
    rough: bool = False


class Grafts:
    """The checks of the grafts into one tree of a run. What does not change from graft to graft is made once."""

    def __init__(self, standing: Standing, properties: Sequence[Property], seconds: float = SECONDS) -> None:
        self.standing, self.seconds = standing, seconds
        self.properties = list(properties)
        places = places_of(standing.tree)
        self.cones = {each.name: Cone(places, each, True) for each in self.properties}
        self.automata: dict[str, Automaton] = {}
        self.memos = {each.name: known_of(standing.tree, each) for each in self.properties}

    def check(self, node: Node, graft: NodeSpec, past: Mapping[str, Past]) -> list[Answer]:
        """The answers for a plan below the node that asks."""
        return list(self.answers(grown(self.standing, node, graft), graft, past))

    def insertion(self, parent: Node, index: int | None, graft: NodeSpec, past: Mapping[str, Past]) -> list[Answer]:
        return list(self.changed(inserted(self.standing, parent, index, graft), graft, past))

    def replacement(self, old: Node, graft: NodeSpec, past: Mapping[str, Past]) -> list[Answer]:
        return list(self.changed(replaced(self.standing, old, graft), graft, past))

    def changed(self, chain: Chain, graft: NodeSpec, past: Mapping[str, Past]) -> Iterator[Answer]:
        """The answers for what a person grafts. A property that the tree may break without it is not the graft's."""
        for answer in self.answers(chain, graft, past):
            if answer.story == "":
                yield answer
                continue
            before = self.one(answer.property, None, None, past[answer.property.name], self.work())
            yield answer._replace(anyway=before.story != "")

    def answers(self, chain: Chain, graft: NodeSpec, past: Mapping[str, Past]) -> Iterator[Answer]:
        work = self.work()
        for each in self.properties:
            yield self.one(each, chain, graft, past[each.name], work)

    def work(self) -> Work:
        return Work(self.seconds)

    def one(self, property: Property, chain: Chain | None, graft: NodeSpec | None, past: Past, work: Work) -> Answer:
        """Looks at the parts that matter, and at all of the tree where a story is told of what was left out."""
        if not past.left:
            return Answer(property, "", 0)  # nothing that comes can break it
        property = property._replace(assuming="skills_end")  # that one may hang is not the graft's doing
        rough = self.looked(property, chain, graft, past, work, False)
        if rough.story and rough.rough:
            return self.looked(property, chain, graft, past, work, True)
        return rough

    def looked(
        self, property: Property, chain: Chain | None, graft: NodeSpec | None, past: Past, work: Work, whole: bool
    ) -> Answer:
        standing, cone, memo = self.standing, self.cones[property.name], dict(self.memos[property.name])
        kept, tree = set(cone.specs), standing.tree
        memo["grafted"] = []
        if chain is not None and graft is not None:
            memo["grafted"] = [*chain.specs, *graft.walk()]
            own = Cone(places_of(tree_of(standing.tree, graft)), property, True)
            kept |= {id(spec) for spec in chain.specs} | own.specs
            kept |= {id(spec) for spec in chain.old.spec.walk()} if isinstance(chain.old, Node) else set()
            tree = tree_of(standing.tree, chain.root)
        keep = None if whole else lambda spec: id(spec) in kept
        paths = chain.paths if chain is not None else {}
        model = model_of(tree, (property,), Options(keep=keep, memo=memo, agents=False, paths=paths))
        start = self.start(model, chain, past)
        automaton = self.automata.get(property.name) or automaton_of(model, property)
        self.automata[property.name] = automaton
        found = self.search(model, property, work, [(start, each) for each in past.left], automaton)
        if found.story is None:
            return Answer(property, "" if found.whole else None, found.states)
        telling = told(model, found.story, start)
        rough = any(event[0] == "any" for moment in telling.moments for event in moment.events)
        return Answer(property, "; ".join(words(telling)), found.states, rough=rough)

    def start(self, model: Model, chain: Chain | None, past: Past) -> State:
        standing, run = self.standing, self.standing.run
        live = paired(model, standing.root, chain)
        halted = [node.children[0] for node in nodes_of(model) if isinstance(node, Replaced)]
        since = [(past.begun, past.since)] if model.clocks else []
        now = run.context.clock.now()
        way = chain.way if chain is not None and chain.planned else ()
        shown = still(standing, model, live, chain)
        return state_of(
            model, live, run.context.blackboard, standing.scope, now, standing.above, halted, since, way, shown
        )

    def search(
        self, model: Model, property: Property, work: Work, starts: Sequence[tuple[State, Left]], automaton: Automaton
    ) -> Found:
        work.of(model)
        limits = Limits(STATES, self.seconds, every=1, clock=work.spent)
        return Search(model, property, limits, starts, automaton).run()


class Work:
    """The time that a check takes, by the steps of its models: the same on each machine, so that a replay decides as
    the run did."""

    def __init__(self, seconds: float) -> None:
        self.before, self.seconds = 0.0, seconds
        self.model: Model | None = None

    def of(self, model: Model) -> None:
        self.before, self.model = self.spent(), model
        self.cost = COST * len(model.nodes)

    def spent(self) -> float:
        return self.before + (self.model.ticks * self.cost if self.model is not None else 0.0)


__all__ = ["SECONDS", "Answer", "Grafts", "Past"]
