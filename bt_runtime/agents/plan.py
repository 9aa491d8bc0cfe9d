"""The planner: splits a goal into parts and grows a subtree of them. It never acts itself."""

from __future__ import annotations

from bt_runtime.agents import recalling
from bt_runtime.agents.actions import Actions
from bt_runtime.agents.end import Ending
from bt_runtime.agents.growing import Growing, family_of
from bt_runtime.agents.model_node import PAUSE, Life
from bt_runtime.agents.prompt import agent_prompt, equipped, guided
from bt_runtime.agents.prompt_holes import holes, tried
from bt_runtime.agents.story import Step
from bt_runtime.agents.surroundings import Surroundings
from bt_runtime.agents.worked_example import Shape

_PROMPTS = {"dialect": "plan", "lists": "plan_lists", "steps": "plan_steps"}
_OPENINGS = {"dialect": "Expand:\n", "lists": "Expand:\n", "steps": "# Think:"}


class Plan(Growing):
    beside = True  # what could not be done at once may well be, once something else is done

    def live(self) -> Life:
        self.plans, self.warned = [], set()
        values = self.spec.values
        form = str(values["form"])
        self.actions = Actions(self)
        opening = Surroundings(self.context, self.path, False, self.actions).opening() + tried(self)
        notes = [str(n) for n in self.value("notes")]
        examples = yield from recalling.examples(self, Shape((), form))
        text = self.instructions(values["prompt"] or _PROMPTS[form], holes(self, ["expand"], False))
        system = guided(equipped(text, self.actions.described()), self.guide())
        steps: list[Step] = []
        for _ in range(int(values["max_invalid"])):
            self.afford()
            prompt = agent_prompt(
                system, self.goal, opening, steps, family=family_of(self), examples=examples, notes=notes
            )
            text = self.prompted(prompt) + _OPENINGS[form]
            plan, refused = yield from self.plan(text, form)
            if not refused:
                yield PAUSE  # the subtree is there at the next tick, and its result is ours
                return Ending("expanded")
            steps.append(Step("expand", plan, refused))
        return Ending("invalid", steps[-1].observation)
