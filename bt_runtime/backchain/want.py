"""`want`: a model says which facts shall be true, by an exact choice among those that the skills can bring."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from bt_runtime.agents.actions import Actions, listed
from bt_runtime.agents.end import Ending
from bt_runtime.agents.judging import NOTHING, Judging
from bt_runtime.agents.model_node import Life
from bt_runtime.agents.prompt import Prompt
from bt_runtime.backchain.ground import Fact, ground, relevant
from bt_runtime.backchain.shown import example_goals
from bt_runtime.events import Stepped
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind

AND = " and "
LINE = "True:"
END = "that is all"
NO_FACTS = "none of the skills here says what it brings"
WAY_OUT = "give them `brings:` in their manifest, and their slots `choices` or `from:`"


class Want(Judging):
    """Asks for one fact after another, until the model says that this is all."""

    def aim(self) -> str:
        return str(self.value("goal"))

    def live(self) -> Life:
        self.actions = Actions(self)
        facts = [*ground(self.actions, self.kinds()).values()]
        if not facts:
            raise BtError(NO_FACTS, WAY_OUT)
        wanted = yield from self.wanted(relevant(facts, self.goal), facts)
        self.scope[self.spec.values["into"]] = AND.join(wanted)
        self.feedback_message = f"understood: {AND.join(wanted)}"
        return Ending("done", AND.join(wanted))

    def blanks(self) -> list[str]:
        return [f"Goal: {text}" for text in NOTHING]

    def kinds(self) -> list[Kind]:
        names = self.actions.names
        return self.actions.offered([kind for kind in listed(self) if names is None or kind.name in names])

    def wanted(self, offered: Sequence[Fact], facts: Sequence[Fact]) -> Generator[Any, Any, list[str]]:
        prompt, said = self.question(facts), list[str]()
        while len(said) < self.value("most"):
            self.afford()
            options = [fact.said for fact in offered if fact.said not in said] + [END] * bool(said)
            odds = yield from self.chosen(prompt, options)
            if options[odds.index] == END:
                break
            said.append(options[odds.index])
            self.context.emit(Stepped(self.path, "want", said[-1], ""))
            prompt = prompt._replace(steps=f"{prompt.steps} {said[-1]}\n{LINE}")
        return said

    def question(self, facts: Sequence[Fact]) -> Prompt:
        """The prompt: what can be brought, goals as examples, the goal."""
        forms = dict.fromkeys(fact.template for fact in facts)
        system = self.instructions(self.spec.values["system"] or "want", {"facts": [*forms], "end": END})
        shown = example_goals(facts, self.goal, int(self.value("examples")), self.context.services.seed)
        told = "\n".join(_told(goal, right) for goal, right in shown)
        return Prompt(system, f"{told}\n" if told else "", f"Goal: {self.goal.strip()}\n", LINE)


def _told(goal: str, facts: Sequence[str]) -> str:
    return f"Goal: {goal}\n" + "".join(f"{LINE} {fact}\n" for fact in (*facts, END))
