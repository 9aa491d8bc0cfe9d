"""A Büchi automaton of a formula, built while it is walked: its states are the formulas that remain to be kept.

A set of formulas that is to hold from now on is unfolded into ways: what must hold now, what from the next tick on, and
which `U` has been put off. A word is accepted when no `U` is put off for ever; nothing left to keep accepts any word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from bt_runtime.language.properties import formula
from bt_runtime.language.properties.formula import Formula
from bt_runtime.language.properties.property import LATE, Property

Left = frozenset[Formula]  # formulas that must hold from the next tick on
NOTHING: Left = frozenset()
K = TypeVar("K", bound=Hashable)
Edges = Mapping[K, Sequence[tuple[Any, ...]]]  # node → (node after it, marks on the way, …)


class AutomatonWay(NamedTuple):
    yes: int  # atoms that must hold, as bits
    no: int  # … that must not
    left: Left
    put_off: frozenset[Formula]

    def fits(self, bits: int) -> bool:
        return bits & self.yes == self.yes and not bits & self.no


def breaking(property: Property) -> Automaton:
    """Returns the automaton that accepts the runs that break a property."""
    return Automaton(formula.negated(property.formula), [*property.texts, LATE])


class Automaton:
    """`formula` is in negation normal form; `atoms` gives the bit of each atom."""

    def __init__(self, formula: Formula, atoms: Sequence[str]) -> None:
        self.bits = {text: 1 << at for at, text in enumerate(atoms)}
        self.start: Left = frozenset((formula,))
        self._ways: dict[Left, list[AutomatonWay]] = {}
        self._after: dict[tuple[Left, int], list[tuple[Left, frozenset[Formula]]]] = {}

    def ways(self, left: Left) -> list[AutomatonWay]:
        found = self._ways.get(left)
        if found is None:
            found = self._ways[left] = _least(
                list(dict.fromkeys(self._unfolded([*left], 0, 0, NOTHING, NOTHING, NOTHING)))
            )
        return found

    def after(self, left: Left, bits: int) -> list[tuple[Left, frozenset[Formula]]]:
        """Returns the remaining obligations after a tick in which these atoms hold, one set for each alternative."""
        found = self._after.get((left, bits))
        if found is None:
            found = [(way.left, way.put_off) for way in self.ways(left) if way.fits(bits)]
            self._after[left, bits] = found = list(dict.fromkeys(found))
        return found

    def _unfolded(
        self, todo: list[Formula], yes: int, no: int, done: Left, left: Left, put_off: Left
    ) -> Iterator[AutomatonWay]:
        todo = list(todo)
        while todo:
            formula = todo.pop()
            if formula in done:
                continue
            done = done | {formula}
            match formula:
                case ("true",):
                    continue
                case ("false",):
                    return
                case ("atom", text):
                    yes |= self.bits[text]
                case ("not atom", text):
                    no |= self.bits[text]
                case ("and", one, other):
                    todo += [one, other]
                case ("X", inner):
                    left = left | {inner}
                case ("or", one, other):
                    yield from self._unfolded([*todo, one], yes, no, done, left, put_off)
                    todo.append(other)
                case ("U", one, other):
                    yield from self._unfolded([*todo, other], yes, no, done, left, put_off)
                    todo.append(one)
                    left, put_off = left | {formula}, put_off | {formula}
                case ("R", one, other):
                    yield from self._unfolded([*todo, one, other], yes, no, done, left, put_off)
                    todo.append(other)
                    left = left | {formula}
            if yes & no:
                return
        yield AutomatonWay(yes, no, left, put_off)

    @property
    def finite(self) -> bool:
        """True when a word may be accepted because nothing is left to be kept."""
        return NOTHING in _explored(self.start, self._following)

    @property
    def endless(self) -> bool:
        """True when a word may be accepted although something is always left to be kept: then cycles count."""
        edges = _explored(self.start, self._following)
        return _fair({left: following for left, following in edges.items() if left})

    def _following(self, left: Left) -> list[tuple[Left, frozenset[Formula]]]:
        return [(way.left, way.put_off) for way in self.ways(left)]

    def accepts_for_ever(self, left: Left, bits: int) -> bool:
        """True when the automaton accepts the word in which exactly these atoms hold in every tick from now on."""
        return self.repeats(left, (bits,))

    def repeats(self, left: Left, cycle: Sequence[int]) -> bool:
        """True when the automaton accepts the endless repetition of this cycle of bits."""

        def following(at: tuple[Left, int]) -> list[tuple[tuple[Left, int], frozenset[Formula]]]:
            place = (at[1] + 1) % len(cycle)
            return [((after, place), put_off) for after, put_off in self.after(at[0], cycle[at[1]])]

        return _fair(_explored((left, 0), following))


def _explored(start: K, following: Callable[[K], Sequence[tuple[Any, ...]]]) -> dict[K, Sequence[tuple[Any, ...]]]:
    """Returns the graph that can be reached from a node. `NOTHING` leads to itself, with no mark."""
    edges: dict[K, Sequence[tuple[Any, ...]]] = {}
    todo = [start]
    while todo:
        at = todo.pop()
        if at not in edges:
            edges[at] = following(at)
            todo += [edge[0] for edge in edges[at]]
    return edges


def _fair(edges: Edges[K]) -> bool:
    return next(fair_parts(edges), None) is not None


def _least(ways: list[AutomatonWay]) -> list[AutomatonWay]:
    """Removes alternatives that require more than another one."""

    def more(way: AutomatonWay, other: AutomatonWay) -> bool:
        return (way.yes & other.yes == other.yes and way.no & other.no == other.no and other.left <= way.left
                and other.put_off <= way.put_off)  # fmt: skip

    def beaten(at: int) -> bool:
        others = ((j, other) for j, other in enumerate(ways) if j != at and more(ways[at], other))
        return any(not more(other, ways[at]) or j < at for j, other in others)

    return [way for at, way in enumerate(ways) if not beaten(at)]


def fair_parts(edges: Edges[K]) -> Iterator[list[K]]:
    """Yields the strongly connected parts of a graph in which no mark stands on every edge: what may go on for ever."""
    for part in _parts(edges):
        inside = set(part)
        marks = [edge[1] for at in part for edge in edges.get(at, ()) if edge[0] in inside]
        if marks and not frozenset.intersection(*marks):
            yield part


def _parts(edges: Edges[K]) -> Iterator[list[K]]:
    """Yields the strongly connected parts of a graph (Kosaraju), without recursion."""
    order: list[K] = []  # a node stands behind those that are reached from it
    unplaced: set[K] = set()  # nodes that are in no part yet
    back: dict[K, list[K]] = {}
    for root in edges:
        todo = [(root, False)]
        while todo:
            at, done = todo.pop()
            if done:
                order.append(at)
            elif at not in unplaced:
                unplaced.add(at)
                todo.append((at, True))
                for edge in edges.get(at, ()):
                    todo.append((edge[0], False))
                    back.setdefault(edge[0], []).append(at)
    for root in reversed(order):
        part, behind = list[K](), [root]
        while behind:
            at = behind.pop()
            if at in unplaced:
                unplaced.remove(at)
                part.append(at)
                behind += back.get(at, ())
        if part:
            yield part
