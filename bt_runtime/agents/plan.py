"""The planner: splits a goal into parts and grows a subtree of them. It never acts itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py_trees.common import Status

from bt_runtime.agents import recalling
from bt_runtime.agents.actions import Actions
from bt_runtime.agents.end import Ending
from bt_runtime.agents.growing import PlanGrowing, family_of
from bt_runtime.agents.kinds.checks import MODEL
from bt_runtime.agents.model_node import PAUSE, Life
from bt_runtime.agents.planner import Planner, planner_of
from bt_runtime.agents.prompt import agent_prompt, equipped, guided
from bt_runtime.agents.prompt_holes import holes, tried
from bt_runtime.agents.story import StoryStep
from bt_runtime.agents.surroundings import Surroundings
from bt_runtime.agents.worked_example import ExampleShape
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context

_PROMPTS = {"dialect": "plan", "lists": "plan_lists", "steps": "plan_steps"}
_OPENINGS = {"dialect": "Expand:\n", "lists": "Expand:\n", "steps": "# Think:"}


class Plan(PlanGrowing):
    beside = True  # a goal that failed at once may be reached after other parts

    ROUND = ("rounds",)
    rounds = 0  # plans of a planner since the node began

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.asks_late = str(spec.values["by"]) != MODEL

    def live(self) -> Life:
        self.plans, self.warned, self.rounds = [], set(), 0
        planner = planner_of(self)
        if planner is not None and not planner.mends:
            return (yield from self.by_planner(planner))
        if planner is not None:
            yield from self.opened()
        values = self.spec.values
        form = str(values["form"])
        self.actions = Actions(self)
        opening = Surroundings(self.context, self.path, False, self.actions).opening() + tried(self)
        notes = [str(n) for n in self.value("notes")]
        examples = yield from recalling.examples(self, ExampleShape((), form))
        text = self.instructions(values["prompt"] or _PROMPTS[form], holes(self, ["expand"], False))
        system = guided(equipped(text, self.actions.described()), self.guide())
        steps: list[StoryStep] = []
        for _ in range(int(self.value("max_invalid"))):
            self.afford()
            prompt = agent_prompt(
                system, self.goal, opening, steps, family=family_of(self), examples=examples, notes=notes
            )
            text = self.prompted(prompt) + _OPENINGS[form]
            plan, refused = yield from self.plan(text, form)
            if not refused:
                yield PAUSE  # the subtree is there at the next tick, and its result is ours
                return Ending("expanded")
            steps.append(StoryStep("expand", plan, refused))
        return Ending("invalid", steps[-1].observation)

    def by_planner(self, planner: Planner) -> Life:
        """Ends where the goal holds; else grows the planner's plan from the present state."""
        self.actions = Actions(self)
        if planner.reached(self, self.goal):
            return Ending("done")
        self.rounds += 1
        try:
            yield from self.graft_made(planner, self.goal)
        except Faults as faults:
            return Ending("invalid", "; ".join(d.message for d in faults.diagnostics if d.severity == "error"))
        except BtError as error:
            return Ending("invalid", f"{error.message}. {error.hint}".strip())
        yield PAUSE
        return Ending("expanded")

    def child_ended(self, status: Status) -> Status:
        """A planner's plan is judged by its goal; where that does not hold, another plan starts from what is so now."""
        planner = planner_of(self)
        if planner is None or planner.mends:
            return super().child_ended(status)
        reached = planner.reached(self, self.goal)
        if reached or self.rounds >= int(self.value("max_invalid")):
            return super().child_ended(SUCCESS if reached else FAILURE)
        self.remove_expansion()
        self.life = self.by_planner(planner)
        return RUNNING
