"""Is a goal met? The world is asked first, then a skill's postcondition, then working memory, the model last."""

from __future__ import annotations

import re
from typing import Any

from bt_runtime.agents.actions import listed
from bt_runtime.agents.end import Ending
from bt_runtime.agents.facts import Facts
from bt_runtime.agents.model_node import Life, ModelNode
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.surroundings import Surroundings
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Knowing, Question

_PLACED = re.compile(r"(?P<thing>.+?) (?:is |are )?(?:on|in|near|at) (?:the )?(?P<place>.+)")
YES, NO = "yes", "no"


class Verify(ModelNode):
    def live(self) -> Life:
        told = self.told()
        if told is None and self.spec.values["ask_model"]:
            told = yield from self.ask_model()
        if told is None:
            return Ending("failure", "nobody can tell whether it is met")
        return Ending("done") if told else Ending("failure", "it is not met")

    def told(self) -> bool | None:
        """What can be told without a model."""
        world: Any = self.context.services.world
        if isinstance(world, Knowing):
            held = world.holds(self.goal)
            if held is not None:
                return bool(held)
            facts = self.postcondition()
            answers = [world.holds(fact) for fact in facts]
            if facts and None not in answers:
                return all(answers)
        told = self.brought()
        return told if told is not None else self.remembered()

    def brought(self) -> bool | None:
        """What a skill brings whose sentence the goal is, by conditions and entries."""
        kinds = listed(self)
        told = Facts(self, kinds)
        for entry in (kind.data["entry"] for kind in kinds):
            params = Sentence(entry.sentence, entry.types).parse(self.goal) if entry.brings else None
            if params is not None:
                return told.all(entry.brings, params)
        return None

    def postcondition(self) -> list[str]:
        """Of the skill whose sentence the goal is: what it brings about."""
        for kind in self.context.growth.registry(self):
            entry = kind.data.get("entry")
            params = Sentence(entry.sentence, entry.types).parse(self.goal) if entry is not None else None
            if params is not None and entry.brings:
                return [Sentence(fact).say(params) for fact in entry.brings]
        return []

    def remembered(self) -> bool | None:
        """`apple 1 on table 1`: what working memory saw last, when it saw it."""
        working: Any = self.context.services.working_memory
        found = _PLACED.fullmatch(self.goal.strip().rstrip("."))
        if working is None or found is None:
            return None
        thing, place = found["thing"].removeprefix("the "), found["place"]
        for seen, sighting in working.snapshot().things.items():
            if thing in (f"{seen.kind} {seen.number}", seen.kind) and not sighting.stale:
                if place in (sighting.near, sighting.room):
                    return True
                if thing != seen.kind:
                    return False
        return None

    def ask_model(self) -> Any:
        system = self.instructions(self.spec.values["prompt"] or "verify")
        seen = Surroundings(self.context, self.path, recall=False).opening()
        last = self.context.services.last_action
        asked = f"The goal: {self.goal}\n{seen}\n" + (f"The last action was `{last[0]}`: {last[1]}\n" if last else "")
        prompt = self.prompted(Prompt(system, "", asked, "Is the goal met? "))
        choice = yield from self.asked(Question("choose", prompt, options=(YES, NO)))
        return choice.text == YES
