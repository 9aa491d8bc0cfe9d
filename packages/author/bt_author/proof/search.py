"""Searches all states of an explored tree, combined with what a property still requires; shortest stories first."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bt_author.proof.choices import RUN, State
from bt_author.proof.explorer import Explorer, Step
from bt_runtime.language.properties import formula
from bt_runtime.language.properties.formula import Formula
from bt_runtime.language.properties.property import LATE, Property
from bt_runtime.run.monitoring.automaton import Automaton, Left, fair_parts

STATES = 1_000_000  # states looked at, by default
Mark = Formula | tuple[str, int]  # an `U` that is put off, or a time or node that goes on
Edge = tuple[int, frozenset[Mark], tuple[int, ...]]  # node after it, marks, choices
Told = Callable[[int, int], object]


class Late(Exception):
    """The time was over in the middle of a tick."""


class Limits(NamedTuple):
    states: int = STATES
    end: float = math.inf  # moment of the clock at which the search ends
    told: Told = lambda states, left: None
    every: int = 16  # nodes between two looks at the clock
    clock: Callable[[], float] = time.monotonic


class Story(NamedTuple):
    """A counterexample: the choices of each tick, and the tick from which they repeat for ever."""

    ticks: tuple[tuple[int, ...], ...]
    repeats: int | None = None


class Found(NamedTuple):
    """The result of a search. `whole`: all states were seen, or a story was found."""

    story: Story | None
    states: int
    whole: bool
    late: bool = False
    seen: int = 0  # atoms that held in some tick


class SearchNode(NamedTuple):
    state: State
    left: Left


def search(model: Explorer, property: Property, limits: Limits | None = None) -> Found:
    """Looks for a run that breaks the property."""
    return Search(model, property, limits or Limits()).run()


def automaton_of(model: Explorer, property: Property) -> Automaton:
    """Accepts the runs that break the property."""
    texts = [reader.atom.text for reader in model.atoms]
    return Automaton(formula.negated(property.formula), [*texts, *(LATE for _ in model.clocks)])


class Search:
    def __init__(
        self, model: Explorer, property: Property, limits: Limits, starts: Sequence[tuple[State, Left]] = (),
        automaton: Automaton | None = None,
    ) -> None:  # fmt: skip
        self.model, self.limits, self.starts = model, limits, starts
        self.automaton = automaton or automaton_of(model, property)
        self.endless = self.automaton.endless
        self.assumed = property.assuming == "skills_end"
        self.nodes: dict[SearchNode, int] = {}
        self.came: list[tuple[int, tuple[int, ...]]] = []  # node → (node before it, choices)
        self.edges: dict[int, list[Edge]] = {}
        self.todo: deque[SearchNode] = deque()
        self.seen = 0  # atoms that held in some tick
        self.known: dict[State, list[Step]] = {}

    def run(self) -> Found:
        for state, left in self.starts or ((self.model.first(), self.automaton.start),):
            self.enter(SearchNode(state, left), -1, ())
        limits, checked = self.limits, 0
        while self.todo:
            checked += 1
            if checked % limits.every == 0:
                if limits.clock() >= limits.end:
                    return Found(None, len(self.nodes), False, True)
                limits.told(len(self.nodes), len(self.todo))
            if len(self.nodes) >= limits.states:
                return Found(None, len(self.nodes), False)
            try:
                story = self.beyond(self.todo.popleft())
            except Late:
                return Found(None, len(self.nodes), False, True)
            if story is not None:
                return Found(story, len(self.nodes), True)
        story = self.cycle() if self.endless else None
        return Found(story, len(self.nodes), True, False, self.seen)

    def beyond(self, node: SearchNode) -> Story | None:
        """Adds all successors of this node; returns a story when one breaks the property."""
        at = self.nodes[node]
        for step in self.steps(node.state):
            self.seen |= step.bits
            for left, put_off in self.automaton.after(node.left, step.bits):
                if not left or (
                    step.status != RUN and not step.over and self.automaton.accepts_for_ever(left, step.bits)
                ):
                    ended = step.status != RUN and bool(left)
                    ticks = (*self.way(at), step.choices)
                    return Story(ticks, len(ticks) if ended else None)
                if step.status == RUN and not step.over:
                    to = self.enter(SearchNode(step.state, left), at, step.choices)
                    if self.endless:
                        marks = put_off | self.going_on(step)
                        self.edges[at].append((to, marks, step.choices))
        return None

    def steps(self, state: State) -> list[Step]:
        found = self.known.get(state)
        if found is None:
            seen: dict[tuple[int, int, State], Step] = {}
            for number, step in enumerate(self.model.steps(state)):
                if number % 64 == 63 and self.limits.clock() >= self.limits.end:
                    raise Late
                seen.setdefault((step.status, step.bits, step.state), step)
            found = list(seen.values())
            if len(self.known) < 200_000:
                self.known[state] = found
        return found

    def going_on(self, step: Step) -> frozenset[Mark]:
        """Returns the times that are waited for and, if skills must end, the running nodes: a fair run cannot keep them
        for ever."""
        return step.marks if self.assumed else frozenset(mark for mark in step.marks if mark[0] == "time")

    def enter(self, node: SearchNode, before: int, choices: tuple[int, ...]) -> int:
        found = self.nodes.get(node)
        if found is None:
            found = self.nodes[node] = len(self.came)
            self.came.append((before, choices))
            if self.endless:
                self.edges[found] = []
            self.todo.append(node)
        return found

    def way(self, at: int) -> tuple[tuple[int, ...], ...]:
        found: list[tuple[int, ...]] = []
        while True:
            at, choices = self.came[at]
            if at < 0:
                return tuple(reversed(found))
            found.append(choices)

    # Cycles ----------------------------------------------------------------------------------

    def cycle(self) -> Story | None:
        """Returns a story that repeats for ever: a cycle in a strongly connected part that satisfies every
        obligation."""
        parts = [(min(part), part) for part in fair_parts(self.edges)]
        if not parts:
            return None
        first, part = min(parts)  # nodes are numbered by how far they are from the start
        stem, round_ = self.way(first), self.round(first, set(part))
        return Story((*stem, *round_), len(stem))

    def round(self, start: int, part: set[int]) -> tuple[tuple[int, ...], ...]:
        """Returns a path from this node back to it that leaves no obligation open for ever."""
        always = frozenset[Mark]().union(*(marks for at in part for to, marks, _ in self.edges[at] if to in part))
        ways: list[tuple[int, ...]] = []
        at = start
        while always:
            path = self.path(at, part, _without(always))
            ways += [choices for _, _, choices in path]
            for _, marks, _ in path:
                always &= marks
            at = path[-1][0]
        if at != start or not ways:
            ways += [choices for _, _, choices in self.path(at, part, lambda edge: edge[0] == start)]
        return tuple(ways)

    def path(self, start: int, part: set[int], wanted: Callable[[Edge], bool]) -> list[Edge]:
        """Returns the shortest path within the part that ends with a wanted edge."""
        came: dict[int, list[Edge]] = {start: []}
        todo = deque([start])
        while todo:
            at = todo.popleft()
            for edge in self.edges[at]:
                if edge[0] not in part:
                    continue
                if wanted(edge):
                    return [*came[at], edge]
                if edge[0] not in came:
                    came[edge[0]] = [*came[at], edge]
                    todo.append(edge[0])
        raise AssertionError("a part whose nodes lead to each other has such a way")


def _without(marks: frozenset[Mark]) -> Callable[[Edge], bool]:
    return lambda edge: not marks <= edge[1]
