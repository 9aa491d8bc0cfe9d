"""A plan as a tree in the layout of `btr fmt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.agents.backchain.shape import NeededFacts
from bt_runtime.agents.backchain.step import PlanStep
from bt_runtime.agents.compile.yaml_text import N, scalar, text
from bt_runtime.language.tidy import tidy

TIMES = 3  # attempts of the whole, for what happens that no manifest tells


class Head(NamedTuple):
    name: str = "plan"
    skills: tuple[str, ...] = ()  # manifests
    times: int = TIMES
    grow: bool = False  # a fact that is taken as given is brought should it not hold


def written(head: Head, goal: Sequence[str], needs: Sequence[NeededFacts], given: frozenset[str]) -> str:
    """The text of the tree. Facts that were given count where nothing can tell them."""
    lines = [
        "# yaml-language-server: $schema=../schemas/tree.schema.json",
        "version: 1",
        f"tree: {head.name}",
        f"about: {scalar('Planned backward from the goal: ' + ' and '.join(goal) + '.')}",
    ]
    lines += [f"skills: {scalar(list(head.skills))}"] if head.skills else []
    root = N("retry", {"times": head.times, "child": _Nodes(given, head.grow).root(goal, needs)})
    made = "\n".join([*lines, "root:"]) + "\n" + text(root, 2)
    return tidy(made) or made


def grafted(goal: Sequence[str], needs: Sequence[NeededFacts]) -> str:
    """The plan as nodes to graft below a running one. Every fact is asked for when its turn comes."""
    return text(_Nodes(frozenset(), told=False).root(goal, needs), 0)


class _Nodes:
    """Makes the nodes of a plan. `grow`: a fact that no step brings is planned for should it not hold. `told`: a
    comment names the seconds of each step."""

    def __init__(self, given: frozenset[str], grow: bool = False, told: bool = True) -> None:
        self.given, self.grow, self.told = given, grow, told

    def root(self, goal: Sequence[str], needs: Sequence[NeededFacts]) -> N:
        made = [node for need in needs for node in self.need(need)]
        if len(needs) > 1:  # a later one may have undone an earlier one, whatever the manifests say
            made += [self.holds(fact) for fact in goal]
        return made[0] if len(made) == 1 else N("reactive_sequence", made or [N("succeed", {})])

    def need(self, need: NeededFacts) -> list[N]:
        tests = [self.holds(fact) for fact in need.facts]
        if need.step is None:
            return [self.grown(fact) for fact in need.facts] if self.grow else tests
        inner = [node for each in need.needs for node in self.need(each)]
        step = node_of(need.step)
        achieved = N("reactive_sequence", [*inner, step]) if inner else step
        if not tests:
            return [achieved]
        test = tests[0] if len(tests) == 1 else N("reactive_sequence", tests)
        brought = [fact for fact in need.step.brings if fact in need.facts]
        why = ", ".join(brought) or "the next step"
        told = f"for `{why}`: {need.step.skill}, {need.step.cost:g} s" if self.told else ""
        return [N("reactive_fallback", [test, achieved], told)]

    def holds(self, fact: str) -> N:
        if fact in self.given or (fact.startswith("not ") and fact[4:] not in self.given):
            return N("holds", {"fact": fact, "otherwise": True})
        return N("holds", fact)

    def grown(self, fact: str) -> N:
        plan = N("plan", {"goal": fact, "by": "backchaining"})
        return N("reactive_fallback", [self.holds(fact), plan], f"`{fact}` is taken as given")


def node_of(step: PlanStep) -> N:
    params = dict(step.params)
    node = N(step.skill, next(iter(params.values())) if len(params) == 1 else params)
    return node if step.times == 1 else N("repeat", {"times": step.times, "child": node})
