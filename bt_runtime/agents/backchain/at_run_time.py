"""Plans while a tree runs, from what holds now to the facts of a goal: `by: backchaining` and `by: repair`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.actions import known_skills
from bt_runtime.agents.backchain.brought import brought_in
from bt_runtime.agents.backchain.ground import fillers, ground, relevant
from bt_runtime.agents.backchain.limits import FactLimits
from bt_runtime.agents.backchain.meaning import fitting
from bt_runtime.agents.backchain.offered import known_by, values_in
from bt_runtime.agents.backchain.operator import StepSource, bringable, operator_of
from bt_runtime.agents.backchain.planning import FoundPlan, planned
from bt_runtime.agents.backchain.proposal import Preferred, Proposal, proposal_of
from bt_runtime.agents.backchain.relevant import Bound
from bt_runtime.agents.backchain.shown import OF_ANOTHER, Worked, worked
from bt_runtime.agents.backchain.step import NOT, PlanStep
from bt_runtime.agents.backchain.tellable import tells
from bt_runtime.agents.backchain.tree_text import grafted, node_of
from bt_runtime.agents.backchain.wish import Wish, wishes_of
from bt_runtime.agents.backchain.wording import meant, parts
from bt_runtime.agents.compile.yaml_text import text
from bt_runtime.agents.facts import Facts
from bt_runtime.agents.kinds.checks import ANOTHER
from bt_runtime.agents.planner import Made
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence

if TYPE_CHECKING:
    from bt_runtime.agents.growing import PlanGrowing

BOUND = Bound(steps=4_000, sets=5_000, cheaper=1_000)  # bound of a plan made within a tick


class Backchaining:
    """Makes each plan from the goal alone."""

    mends = False

    def plan(self, node: PlanGrowing, goal: str, proposed: str = "") -> Made:
        moment, wishes = NodeMoment(node), wishes_of(goal)
        open = next((wish for wish in wishes if moment.asked(wish) is None), None)
        if open is not None:
            return moment.looked_up(open)
        return moment.made([wish.fact for wish in wishes if moment.asked(wish)], moment.every)

    def reached(self, node: PlanGrowing, goal: str) -> bool:
        """True when each wish holds that is asked for; a wish of which that is unknown is not reached."""
        moment = NodeMoment(node)
        if not getattr(node, "rounds", 1):  # what was looked up before this node began may be so no longer
            moment.brought.answers.clear()
        asked = [(wish, moment.asked(wish)) for wish in wishes_of(goal)]
        return all(wanted is False or (wanted is True and moment.holds(wish.fact)) for wish, wanted in asked)

    def examples(self, node: PlanGrowing, count: int) -> list[Worked]:
        if node.spec.values["examples"] == ANOTHER:
            return [*OF_ANOTHER[-count:]]
        return worked(node.actions, node.goal, count, node.context.services.seed)

    def meanings(self, node: PlanGrowing) -> list[list[str]]:
        facts = ground(node.actions, node.actions.offered(node.actions.kinds))
        return [[fact.said for fact in relevant(fitting(part, facts), part.text)] for part in parts(node.goal)]


class Repair(Backchaining):
    """Takes the model's steps where they lead to the goal, adds what they lack, and leaves out what leads nowhere."""

    mends = True

    def plan(self, node: PlanGrowing, goal: str, proposed: str = "") -> Made:
        moment = NodeMoment(node)
        proposal = proposal_of(proposed, moment.kinds)
        wanted = [wish.fact for wish in wishes_of(goal) if moment.asked(wish)]
        if not all(moment.known(fact) for fact in wanted):
            wanted = moment.aim(proposal)
        return moment.made(wanted, [Preferred(each, proposal) for each in moment.every])


BACKCHAINING, REPAIR = Backchaining(), Repair()


class NodeMoment:
    """What can be done and what holds around a node, now."""

    def __init__(self, node: PlanGrowing) -> None:
        self.node, self.world = node, node.context.services.world
        kinds = known_skills(node)
        self.brought = brought_in(node.context)
        self.brought.know(kinds)
        self.facts = Facts(node, kinds)
        self.kinds = node.actions.offered([kind for kind in kinds if self.allowed(kind)])
        every, limits = known_by(self.world, self.kinds)
        self.every: Sequence[StepSource] = every
        self.limits: FactLimits = limits

    def allowed(self, kind: Kind) -> bool:
        names = self.node.actions.names
        return names is None or kind.name in names

    def holds(self, fact: str) -> bool:
        told = self.facts.holds(fact, {})
        return bool(self.brought.holds(fact) if told is None else told)

    def asked(self, wish: Wish) -> bool | None:
        """True when the wish is asked for now; None where that has to be looked up."""
        if not wish.test:
            return True
        told = self.facts.holds(wish.tested, {})
        if told is None and (step := self.telling(wish)) is not None:
            told = self.brought.told(wish.tested, step)
        elif told is None:
            told = self.brought.facts.get(wish.tested)
        return None if told is None else told != wish.test.startswith(NOT)

    def telling(self, wish: Wish) -> PlanStep | None:
        """The action that tells the wish's test, of the things that the wish names."""
        named = values_in(self.world, self.kinds)
        for kind in self.kinds:
            if tells(kind, wish.tested):
                pools = fillers(self.node.actions, kind, named)
                slots = [field.name for field in kind.fields if field.required and not field.writes]
                meant_by = {s: meant(f"{wish.fact} {wish.tested}", pools.get(s, ())) or pools.get(s, ()) for s in slots}
                if all(len(values) == 1 for values in meant_by.values()):
                    return operator_of(kind).step({slot: values[0] for slot, values in meant_by.items()})
        return None

    def looked_up(self, wish: Wish) -> Made:
        """A plan for the action that tells the test: first for what it needs, then for itself."""
        step = self.telling(wish)
        if step is None:
            raise BtError(f"nothing here tells whether `{wish.tested}`", "a condition or a skill's output would")
        lacking = [fact for fact in step.needs if not self.holds(fact)]
        if lacking:
            return self.made(step.needs, self.every)
        return Made(text(node_of(step), 0), f"- {step}", 1)

    def known(self, fact: str) -> bool:
        return self.holds(fact) or bringable(self.every, fact)

    def aim(self, proposal: Proposal) -> list[str]:
        """The facts that a plan is for whose goal is words: those that it names, else what its last action brings."""
        named = [fact for fact in proposal.named if self.known(fact)]
        last = [fact for step in proposal.steps[-1:] for fact in brought_by(self.kinds, step)]
        if not (named or last):
            raise BtError("the plan names no fact that a skill brings", "name what is to hold at its end")
        return named or last

    def made(self, goal: Sequence[str], every: Sequence[StepSource]) -> Made:
        found: FoundPlan = planned(
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
