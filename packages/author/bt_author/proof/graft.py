"""A graft before it is made: what its nodes may do where they are to stand, from the present of the run on.

The model is of a whole tree as it stands, with the graft in its place. For a model's plan it ends where the plan does;
what a person grafts is looked at with all that comes after it. Other agents are not charged with what they may decide:
their own plans are looked at when they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from py_trees.behaviour import Behaviour

from bt_author.proof.cone import Cone
from bt_author.proof.cut import Cut, with_root
from bt_author.proof.explorer import Explorer
from bt_author.proof.options import Options
from bt_author.proof.parts import NUMBER
from bt_author.proof.search import Limits, Search
from bt_author.proof.shadow import Change, Copied, Shadow
from bt_author.proof.story import told, words
from bt_runtime.language.nodes import places_of
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec
from bt_runtime.run.monitoring import grafts
from bt_runtime.run.monitoring.automaton import breaking
from bt_runtime.run.monitoring.grafts import GraftAnswer, PropertyPast
from bt_runtime.run.monitoring.monitor import Sight
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.tree.node import INVALID, Node
from bt_runtime.tree.nodes.sequences import _InOrder
from bt_runtime.tree.request import Refused

SECONDS = 0.01  # of a usual processor that one check of a graft may take
COST = 2.5e-6  # seconds in which a usual processor steps a node of a model
STATES = 20_000


class Grafts(grafts.Grafts):
    """The checks of the grafts into one tree of a run. What does not change from graft to graft is made once."""

    hint = "make it smaller"

    def __init__(self, standing: Standing, properties: Sequence[Property], seconds: float = SECONDS) -> None:
        super().__init__(standing, properties)
        self.seconds = seconds
        places = places_of(standing.tree)
        self.cones = {each.name: Cone(places, each, True) for each in self.properties}
        self.automata = {each.name: breaking(each) for each in self.properties}
        self.cuts = {each.name: Cut(standing.tree, each, Options(), lambda doubt: None) for each in self.properties}

    def check(self, node: Node, graft: NodeSpec, past: Mapping[str, PropertyPast]) -> list[GraftAnswer]:
        """The answers for a plan below the node that asks."""
        return list(self.answers(Change("grow", node, graft), past))

    def insertion(
        self, parent: Node, index: int | None, graft: NodeSpec, past: Mapping[str, PropertyPast]
    ) -> list[GraftAnswer]:
        return list(self.changed(Change("insert", parent, graft, index), past))

    def replacement(self, old: Node, graft: NodeSpec, past: Mapping[str, PropertyPast]) -> list[GraftAnswer]:
        return list(self.changed(Change("replace", old, graft), past))

    def changed(self, change: Change, past: Mapping[str, PropertyPast]) -> Iterator[GraftAnswer]:
        """The answers for what a person grafts. A property that the tree may break without it is not the graft's."""
        for answer in self.answers(change, past):
            if answer.story == "":
                yield answer
                continue
            before = self.one(answer.property, None, past[answer.property.name], self.work())
            yield answer._replace(anyway=before.story != "")

    def answers(self, change: Change, past: Mapping[str, PropertyPast]) -> Iterator[GraftAnswer]:
        work = self.work()
        for each in self.properties:
            yield self.one(each, change, past[each.name], work)

    def work(self) -> Work:
        return Work(self.seconds, Sight(self.standing.run, standing=self.standing))

    def one(self, property: Property, change: Change | None, past: PropertyPast, work: Work) -> GraftAnswer:
        """Looks at the parts that matter, and at all of the tree where a story is told of what was left out."""
        if not past.left:
            return GraftAnswer(property, "", 0)  # nothing that comes can break it
        property = property._replace(assuming="skills_end")  # that one may hang is not the graft's doing
        rough = self.looked(property, change, past, work, False)
        if rough.story and rough.rough:
            return self.looked(property, change, past, work, True)
        return rough

    def looked(
        self, property: Property, change: Change | None, past: PropertyPast, work: Work, whole: bool
    ) -> GraftAnswer:
        shadow = self.shadow(property, change, whole)
        clocks = [(past.begun, past.due)] if shadow.clocks else []
        start = shadow.begin(still(self.standing, shadow, work.sight), clocks)
        automaton = self.automata[property.name]
        work.of(shadow)
        limits = Limits(STATES, self.seconds, every=1, clock=work.spent)
        found = Search(shadow, property, limits, [(start, each) for each in past.left], automaton).run()
        if found.story is None:
            return GraftAnswer(property, "" if found.whole else None, found.states)
        telling = told(shadow, found.story, start)
        rough = any(event[0] == "any" for moment in telling.moments for event in moment.events)
        return GraftAnswer(property, "; ".join(words(telling)), found.states, rough=rough)

    def shadow(self, property: Property, change: Change | None, whole: bool) -> Shadow:
        """The tree as it stands, with the change; only what matters is explored, unless it is to be the whole."""
        copied = Copied(self.standing, change)
        kept, grafted = self.cones[property.name].specs | copied.kept, copied.held
        if change is not None:
            grafted = [*copied.held, *change.graft.walk()]
            kept = kept | Cone(places_of(with_root(self.standing.tree, change.graft)), property, True).specs
        options = Options(
            keep=None if whole else lambda spec: id(spec) in kept, agents=False, merge=True, apart=copied.apart,
            origins=copied.origins, base=self.cuts[property.name], grafted=grafted,
        )  # fmt: skip
        return Shadow(self.standing, copied, property, options, change)


def still(standing: Standing, shadow: Shadow, sight: Sight) -> dict[str, int]:
    """Returns what nodes and skills show that are not explored: they stay so while the graft is looked at."""
    found: dict[str, int] = {}
    seen = {id(live) for live in shadow.live.values()}
    last = behind(shadow)
    for reader in shadow.atoms:
        outside = [path for path, number in reader.paths.items() if number is None]
        for name in (*outside, *reader.skills):
            watch = reader.atom.watches.get(name)
            nodes = sight.skills.get(watch.skill, []) if watch is not None else at(standing, name)
            shown = {
                NUMBER[each.status]
                for each in nodes
                if each.status is not INVALID and id(each) not in seen and not below(each, last)
                if watch is None or sight.meant(each, watch)
            }
            found[name] = next((status for status in (1, 2, 3) if status in shown), 0)
    return found


def behind(shadow: Shadow) -> set[int]:
    """Returns the nodes, by identity, whose results and those below are reset at the end of the tick in which a plan
    came: they stand behind it."""
    if shadow.change is None or not shadow.change.planned:
        return set()
    pairs = [(node, node.children.index(child)) for node, child in pairwise(shadow.way) if isinstance(node, _InOrder)]
    return {id(each) for node, place in pairs for each in node.children[place + 1 :]}


def below(node: Behaviour, tops: set[int]) -> bool:
    at: Behaviour | None = node
    while at is not None and id(at) not in tops:
        at = at.parent
    return at is not None


def at(standing: Standing, path: str) -> Sequence[Behaviour]:
    """Returns the live node at a path that a property names, or none."""
    try:
        return [standing.run.parts.engine.find(standing.above + path)]
    except Refused:
        return []


class Work:
    """The time that a check takes, by the steps of its models: the same on each machine, so that a replay decides as
    the run did."""

    def __init__(self, seconds: float, sight: Sight) -> None:
        self.before, self.seconds, self.sight = 0.0, seconds, sight
        self.model: Explorer | None = None

    def of(self, model: Explorer) -> None:
        self.before, self.model = self.spent(), model
        self.cost = COST * len(model.nodes)

    def spent(self) -> float:
        return self.before + (self.model.ticks * self.cost if self.model is not None else 0.0)


__all__ = ["SECONDS", "GraftAnswer", "Grafts", "PropertyPast"]
