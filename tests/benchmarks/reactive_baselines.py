"""BT expansion and PA-BT, plainly, to measure `btr plan` against.

BT expansion (Cai et al., 2021): sets of facts led back from the goal, breadth first; the tree is a fallback of all of
them, each with its action. PA-BT (Colledanchise et al., 2019): a failed condition becomes a fallback of itself and its
achievers, while the tree is carried out; a new subtree that undoes a fact to its left is moved to the left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bt_runtime.agents.backchain.step import PlanStep, after, holds, opposite

MOST_SETS = 3_000
MOST_TICKS = 300


class Carried(NamedTuple):
    """A tree that was carried out: `steps` done, `nodes` of the tree at the end."""

    reached: bool
    steps: list[PlanStep]
    nodes: int


def bt_expansion(goal: Sequence[str], every: Sequence[PlanStep], state: frozenset[str]) -> Carried:
    """Expands until a set holds in the state, then does the action of the first set that holds, again and again."""
    rules: list[tuple[frozenset[str], PlanStep | None]] = [(frozenset(goal), None)]
    at = 0
    while at < len(rules) < MOST_SETS and not _true(rules[-1][0], state):
        wanted, at = rules[at][0], at + 1
        for step in every:
            before = _before(wanted, step)
            if before is not None and not any(known <= before for known, _ in rules):
                rules.append((before, step))
                if _true(before, state):
                    break
    nodes = 1 + sum(len(facts) + (2 if step else 1) for facts, step in rules)
    done: list[PlanStep] = []
    for _ in range(MOST_TICKS):
        now = next((step for facts, step in rules if _true(facts, state)), done)
        if now is None:
            return Carried(True, done, nodes)
        if not isinstance(now, PlanStep):
            break
        state = after(now, state)
        done.append(now)
    return Carried(False, done, nodes)


def _before(wanted: frozenset[str], step: PlanStep) -> frozenset[str] | None:
    if not wanted & {*step.brings} or any(opposite(fact) in wanted for fact in step.brings):
        return None
    before = (wanted - {*step.brings}) | {*step.needs}
    return None if any(opposite(fact) in before for fact in before) else before


def _true(facts: frozenset[str], state: frozenset[str]) -> bool:
    return all(holds(fact, state) for fact in facts)


class Node:
    """A condition, an action, or a control node (`?`, `→`)."""

    def __init__(self, what: str | PlanStep, children: Sequence[Node] = ()) -> None:
        self.what, self.children = what, list(children)

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)

    def facts(self) -> set[str]:
        own = {self.what} if isinstance(self.what, str) and not self.children else set()
        return own.union(*(child.facts() for child in self.children)) if self.children else own  # type: ignore[arg-type]


class _Tick:
    """One tick: SUCCESS True, FAILURE False, RUNNING None. An action ends the tick, with the world changed."""

    def __init__(self, state: frozenset[str]) -> None:
        self.state, self.done, self.failed = state, [], []  # type: ignore[var-annotated]

    def of(self, node: Node) -> bool | None:
        if isinstance(node.what, PlanStep):
            self.state = after(node.what, self.state)
            self.done.append(node.what)
            return None
        if not node.children and node.what not in "?→":
            if holds(node.what, self.state):
                return True
            self.failed.append(node)
            return False
        for child in node.children:
            status = self.of(child)
            if status is None or status is (node.what == "?"):
                return status
        return node.what != "?"


def pa_bt(
    goal: Sequence[str], bringing: Callable[[str], Sequence[PlanStep]], state: frozenset[str], most: int = 2_000
) -> Carried:
    root = Node("→", [Node(fact) for fact in goal])
    done: list[PlanStep] = []
    for _ in range(MOST_TICKS):
        tick = _Tick(state)
        status = tick.of(root)
        state = tick.state
        done += tick.done
        if status is True:
            return Carried(True, done, root.size())
        if status is False and not _expanded(root, tick.failed, bringing):
            break
        if root.size() > most:
            break
    return Carried(False, done, root.size())


def _expanded(root: Node, failed: Sequence[Node], bringing: Callable[[str], Sequence[PlanStep]]) -> bool:
    """Replaces the first failed condition that is no child of an expansion yet."""
    parents = {id(child): node for node in _all(root) for child in node.children}
    for leaf in failed:
        parent = parents[id(leaf)]
        if parent.what == "?" or not bringing(str(leaf.what)):
            continue
        ways = [Node("→", [*map(Node, step.needs), Node(step)]) for step in bringing(str(leaf.what))]
        new = Node("?", [leaf, *ways])
        parent.children[parent.children.index(leaf)] = new
        _moved(new, parents | {id(new): parent})
        return True
    return False


def _moved(new: Node, parents: dict[int, Node]) -> None:
    """A subtree that undoes a fact which stands before it goes before that fact."""
    denied = {opposite(fact) for node in _all(new) if isinstance(node.what, PlanStep) for fact in node.what.brings}
    at, parent = new, parents[id(new)]
    while True:
        if parent.what == "→":
            place = parent.children.index(at)
            first = next((i for i, c in enumerate(parent.children[:place]) if c.facts() & denied), None)
            if first is not None:
                parent.children.insert(first, parent.children.pop(place))
                return
        if id(parent) not in parents:
            return
        at, parent = parent, parents[id(parent)]


def _all(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children for inner in _all(child))]
