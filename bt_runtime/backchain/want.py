"""`want`: a model says which facts shall be true, by an exact choice for each part of what was said."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from bt_runtime.agents.actions import Actions, listed
from bt_runtime.agents.end import Ending
from bt_runtime.agents.judging import Judging
from bt_runtime.agents.model_node import Life
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.scoring import picked, priors
from bt_runtime.backchain.ground import Fact, ground, relevant
from bt_runtime.backchain.meaning import again, all_of, fitting
from bt_runtime.backchain.shown import example_goals
from bt_runtime.backchain.wording import Part, parts, unsayable
from bt_runtime.events import Stepped
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.tree.nodes.interlocks import allows
from bt_runtime.types import Choice, Question

AND = " and "
LINE = "Do:"
NOTHING = "Goal: Do it.\n"  # what an action scores behind this is no sign that it was meant
NOBODY = "Nobody is there to confirm it."
NO_FACTS = "none of the skills here says what it brings"
WAY_OUT = "give them `brings:` in their manifest, and their slots `choices` or `from:`"


class Want(Judging):
    """Asks for each part of the goal which action is meant; what that brings shall be true."""

    ROUND = ("actions",)
    chat = None  # it continues a plain text, whatever the model's template
    adjusted = False  # a model without scores chooses by itself

    def aim(self) -> str:
        return str(self.value("goal"))

    def live(self) -> Life:
        self.actions = Actions(self)
        facts = ground(self.actions, self.kinds())
        if not facts:
            raise BtError(NO_FACTS, WAY_OUT)
        if word := unsayable(self.goal):
            return Ending("failure", f"facts cannot say `{word}`")
        wanted = yield from self.wanted(facts)
        if not 0 < len(wanted) <= (most := int(self.value("most"))):
            return Ending("failure", f"{len(wanted)} facts, of {most} at most" if wanted else "nothing is asked for")
        if self.value("confirm") and (no := (yield from self.objection(AND.join(wanted)))):
            return Ending("failure", no)
        self.scope[self.spec.values["into"]] = AND.join(wanted)
        return Ending("done", AND.join(wanted))

    def objection(self, wanted: str) -> Generator[Any, Any, str]:
        """Asks a person whether this is what was meant; returns what speaks against it, "" for a yes."""
        person: Any = self.context.services.person
        if person is None:
            return NOBODY
        asked = f"`{self.goal.strip()}`: shall this be true: {wanted}? (yes or no)"
        self.feedback_message = asked
        answer = yield getattr(person, "confirm", person.ask)(asked)
        if (policy := self.context.services.policy) is not None:
            policy.heard(self, ("operator",))
        said = " ".join(str(answer).split())
        return "" if allows(said) else f"A person was asked, and said: {said}"

    def kinds(self) -> list[Kind]:
        names = self.actions.names
        return self.actions.offered([kind for kind in listed(self) if names is None or kind.name in names])

    def wanted(self, facts: Sequence[Fact]) -> Generator[Any, Any, list[str]]:
        """The facts that the goal's parts mean, each once, in their order."""
        found, last = dict[str, None](), list[Fact]()
        for part in parts(self.goal):
            one = again(last, part, facts) or (yield from self.understood(part, facts))
            last = one
            for fact in all_of(one, part, facts):
                if fact.said not in found:
                    self.context.emit(Stepped(self.path, "want", fact.said, ""))
                found[fact.said] = None
        return [*found]

    def understood(self, part: Part, facts: Sequence[Fact]) -> Generator[Any, Any, list[Fact]]:
        """What the action brings that the model takes the part for."""
        offered = relevant(fitting(part, facts), self.goal)
        acts = [*dict.fromkeys(fact.act for fact in offered)]
        chosen = 0
        if len(acts) > 1:
            self.afford()
            odds = yield from self.chosen(self.question(part, facts), acts)
            chosen = odds.index
        return [fact for fact in offered if fact.act == acts[chosen]]

    def question(self, part: Part, facts: Sequence[Fact]) -> Prompt:
        """Goals as examples, of other trades and of this one, then the part. The system text stays the same."""
        examples = example_goals(facts, self.goal, int(self.value("examples")), self.context.services.seed)
        told = "\n".join(f"Goal: {goal}\n{LINE} {act}\n" for goal, act in examples)
        return Prompt(self.instructions(self.spec.values["system"] or "want"), told, f"Goal: {part.sentence}\n", LINE)

    def weighed(self, question: Question, prompt: Prompt) -> Generator[Any, Any, Choice]:
        """The scores of the actions, less a share of what each scores when nothing is said."""
        choice: Choice = yield from self.asked(question)
        weight = float(self.value("weight"))
        if choice.scores is None or not weight:
            return choice
        known = yield from priors(self, [prompt._replace(task=NOTHING)], question.options)
        return picked(question.options, [s - weight * p for s, p in zip(choice.scores, known, strict=True)])
