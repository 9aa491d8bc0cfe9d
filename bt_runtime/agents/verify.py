"""Decides whether a goal is met: by the world, then a skill's postcondition, then working memory, the model last."""

from __future__ import annotations

import re
from typing import Any

from bt_runtime.agents import thought
from bt_runtime.agents.actions import listed
from bt_runtime.agents.end import Ending
from bt_runtime.agents.facts import Facts
from bt_runtime.agents.model_node import Life, ModelNode
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.services import agent_services
from bt_runtime.agents.story import THINK, harmless
from bt_runtime.agents.surroundings import Surroundings
from bt_runtime.events import Stepped
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Knowing, Question

_PLACED = re.compile(r"(?P<thing>.+?) (?:is |are )?(?:on|in|near|at) (?:the )?(?P<place>.+)")
_LONGEST = 200  # characters of a goal that may name a thing and its place; the pattern is quadratic
YES, NO = "yes", "no"
ASKED = "Is the goal met?"
MOST_DEEDS = 150  # most actions listed in the prompt
LINE = 120  # characters of what came of one


class Verify(ModelNode):
    seeds = False
    asks_late = True
    ROUND = ("thought",)
    thought = ""  # the model's reasoning before its answer

    def live(self) -> Life:
        self.thought, told = "", self.told()
        if told is None and self.spec.values["ask_model"]:
            told = yield from self.ask_model()
        if told is None:
            return Ending("failure", "nobody can tell whether it is met")
        if told:
            return Ending("done")
        self.denied()
        return Ending("failure", "it is not met")

    def denied(self) -> None:
        """Notes in the attempt's story, for the reflecting node, that the goal is not met."""
        stories = agent_services(self.context).stories
        if self.goal in stories:
            story, ended = stories[self.goal]
            stories[self.goal] = story, f"{ended}; it is not met. {self.thought}".rstrip(". ")

    def told(self) -> bool | None:
        """Returns the verdict when the world or memory knows it without a model."""
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
        """True when the effects hold of the skill whose sentence is the goal; conditions and entries decide."""
        kinds = listed(self)
        told = Facts(self, kinds)
        for entry in (kind.data["entry"] for kind in kinds):
            params = Sentence(entry.sentence, entry.types).parse(self.goal) if entry.brings else None
            if params is not None:
                return told.all(entry.brings, params)
        return None

    def postcondition(self) -> list[str]:
        """The postcondition of the skill whose sentence is the goal."""
        for kind in self.context.growth.registry(self).skills():
            entry = kind.data.get("entry")
            if entry is None or not entry.brings:
                continue
            params = Sentence(entry.sentence, entry.types).parse(self.goal)
            if params is not None:
                return [Sentence(fact).say(params) for fact in entry.brings]
        return []

    def remembered(self) -> bool | None:
        """`apple 1 on table 1`: what working memory saw last, when it saw it."""
        working: Any = agent_services(self.context).working_memory
        goal = self.goal.strip().rstrip(".")
        found = _PLACED.fullmatch(goal) if len(goal) <= _LONGEST else None
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
        """Asks the model whether the goal is met, from the actions since the task began and the present view; with a
        thought first if `think` is set."""
        yield from self.opened()
        values = self.spec.values
        system = self.instructions(values["prompt"] or "verify", {"think": bool(values["think"])})
        told = [
            f"The goal: {self.goal}",
            *self.done(),
            harmless(Surroundings(self.context, self.path, recall=False).opening()),
        ]
        prompt = Prompt(system, "", "".join(f"{line}\n" for line in told if line), "")
        if values["think"]:
            self.afford()
            self.thought = yield from thought.line(self, lambda: Question(
                "write", self.prompted(prompt._replace(steps=THINK)), stop=("\n",), max_tokens=int(values["think"]),
            ))  # fmt: skip
            prompt = prompt._replace(steps=f"{THINK} {self.thought}\n")
            self.context.emit(Stepped(self.path, "think", self.thought, ""))
        asked = self.prompted(prompt._replace(steps=f"{prompt.steps}{ASKED}"))
        self.afford()
        choice = yield from self.asked(Question("choose", asked, options=(f" {YES}", f" {NO}")))
        met = choice.text.strip() == YES
        if self.thought and not met and "into" in values:
            self.scope[values["into"]] = [*(self.scope[values["into"]] or []), self.thought]
        return met

    def done(self) -> list[str]:
        """The successful actions of all agents of this task, the newest ones."""
        deeds = agent_services(self.context).deeds
        if not deeds:
            return []
        left = len(deeds) - MOST_DEEDS
        return [
            "What was done, in this order:",
            *([f"({left} earlier left out)"] if left > 0 else []),
            *(f"- {sentence}: {short(told)}" for sentence, told in deeds[-MOST_DEEDS:]),
        ]


def short(told: str) -> str:
    """Returns the first sentence of an action's result; the rest describes what else is visible."""
    line = told.strip().partition("\n")[0]
    return f"{line.partition('. ')[0].rstrip('.')[:LINE]}."
