"""Plans while a tree runs, from what holds now to the facts of a goal: `by: backchaining` and `by: repair`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.actions import listed
from bt_runtime.agents.facts import Facts
from bt_runtime.agents.planner import Made
from bt_runtime.backchain.brought import brought_in
from bt_runtime.backchain.limits import Limits
from bt_runtime.backchain.offered import known_by, values_in
from bt_runtime.backchain.operator import Source, bringable
from bt_runtime.backchain.planning import Planned, planned
from bt_runtime.backchain.proposal import Preferred, Proposal, proposal_of
from bt_runtime.backchain.relevant import Bound
from bt_runtime.backchain.tree_text import grafted
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence

if TYPE_CHECKING:
    from bt_runtime.agents.growing import Growing

AND = " and "  # between the facts of a goal
BOUND = Bound(steps=4_000, sets=5_000, cheaper=1_000)  # of a plan within a tick


class Backchaining:
    """Makes each plan from the goal alone."""

    mends = False

    def plan(self, node: Growing, goal: str, proposed: str = "") -> Made:
        moment = Moment(node)
        return moment.made(facts_of(goal), moment.every)

    def reached(self, node: Growing, goal: str) -> bool:
        moment = Moment(node)
        return all(moment.holds(fact) for fact in facts_of(goal))


class Repair(Backchaining):
    """Takes the model's steps where they lead to the goal, adds what they lack, and leaves out what leads nowhere."""

    mends = True

    def plan(self, node: Growing, goal: str, proposed: str = "") -> Made:
        moment = Moment(node)
        proposal = proposal_of(proposed, moment.kinds)
        wanted = facts_of(goal)
        if not all(moment.known(fact) for fact in wanted):
            wanted = moment.aim(proposal)
        return moment.made(wanted, [Preferred(each, proposal) for each in moment.every])


BACKCHAINING, REPAIR = Backchaining(), Repair()


def facts_of(goal: str) -> list[str]:
    """`apple 1 in fridge 1 and fridge 1 is closed.` → two facts"""
    return [fact.strip() for fact in goal.strip().removesuffix(".").split(AND) if fact.strip()]


class Moment:
    """What can be done and what holds around a node, now."""

    def __init__(self, node: Growing) -> None:
        self.node, self.world = node, node.context.services.world
        kinds = listed(node)
        self.brought = brought_in(node.context)
        self.brought.know(kinds)
        self.facts = Facts(node, kinds)
        self.kinds = node.actions.offered([kind for kind in kinds if self.allowed(kind)])
        every, limits = known_by(self.world, self.kinds)
        self.every: Sequence[Source] = every
        self.limits: Limits = limits

    def allowed(self, kind: Kind) -> bool:
        names = self.node.actions.names
        return names is None or kind.name in names

    def holds(self, fact: str) -> bool:
        told = self.facts.holds(fact, {})
        return bool(self.brought.facts.get(fact) if told is None else told)

    def known(self, fact: str) -> bool:
        return self.holds(fact) or bringable(self.every, fact)

    def aim(self, proposal: Proposal) -> list[str]:
        """The facts that a plan is for whose goal is words: those that it names, else what its last action brings."""
        named = [fact for fact in proposal.named if self.known(fact)]
        last = [fact for step in proposal.steps[-1:] for fact in brought_by(self.kinds, step)]
        if not (named or last):
            raise BtError("the plan names no fact that a skill brings", "name what is to hold at its end")
        return named or last

    def made(self, goal: Sequence[str], every: Sequence[Source]) -> Made:
        found: Planned = planned(
            goal,
            every,
            values=values_in(self.world, self.kinds),
            bound=BOUND,
            limits=self.limits,
            ask=self.holds,
            formatted=False,
        )
        told = "\n".join(f"- {step}" for step in found.steps)
        return Made(grafted(found.goal, found.needs), told, len(found.steps))


def brought_by(kinds: Iterable[Kind], step: tuple[str, dict[str, Any]]) -> Iterator[str]:
    name, params = step
    for kind in kinds:
        if kind.name == name:
            for template in kind.data["entry"].brings:
                sentence = Sentence(template)
                if not template.startswith("not ") and params.keys() >= {*sentence.slots}:
                    yield sentence.say(params)
