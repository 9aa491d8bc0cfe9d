"""Rewriting: writes a new plan from the plan that was followed and all lessons learnt with it."""

from __future__ import annotations

from bt_runtime.agents import autoplan
from bt_runtime.agents.end import Ending
from bt_runtime.agents.model_node import Life, ModelNode
from bt_runtime.events import Rewriting
from bt_runtime.language.guide import text_of
from bt_runtime.types import Question


class Rewrite(ModelNode):
    seeds = False

    def live(self) -> Life:
        values = self.spec.values
        reflections = [each for each in self.value("reflections") if isinstance(each, dict)]
        if not reflections:
            return Ending("failure", "there is nothing to learn from")
        system = self.instructions(values["prompt"] or "rewrite")
        prompt = autoplan.rewriting(system, self.goal, text_of(str(self.value("guide"))), reflections)
        self.afford()
        wrote = yield from self.asked(Question(
            "write", self.prompted(prompt), stop=("\n\n",), max_tokens=values["max_tokens"],
            grammar=autoplan.plan_grammar(int(values["max_lines"]), int(values["line_length"])),
            temperature=self.temperature, seed=self.context.services.seed,
        ))  # fmt: skip
        plan = autoplan.numbered(wrote.text, whole=wrote.ended != "length")
        if not plan:
            return Ending("invalid", f"no plan: {' '.join(wrote.text.split())[:80]}")
        self.scope[values["into"]] = plan
        self.context.emit(Rewriting(self.path, plan, len(reflections)))
        return Ending("done")
