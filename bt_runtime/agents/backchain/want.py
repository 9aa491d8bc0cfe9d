"""`want`: a model says which facts shall be true, by an exact choice for each part of what was said."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from bt_runtime.agents.actions import Actions, known_skills
from bt_runtime.agents.backchain.ground import GroundFact, ground, relevant
from bt_runtime.agents.backchain.meaning import again, all_of, fitting, in_own_words, names
from bt_runtime.agents.backchain.shown import example_goals
from bt_runtime.agents.backchain.step import NOT
from bt_runtime.agents.backchain.tellable import tellable
from bt_runtime.agents.backchain.wish import Wish, joined
from bt_runtime.agents.backchain.wording import GoalPart, parts, unsayable
from bt_runtime.agents.end import Ending
from bt_runtime.agents.judging import JudgingNode
from bt_runtime.agents.model_node import Life
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.scoring import picked, priors
from bt_runtime.events import Stepped
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.tree.nodes.interlocks import allows
from bt_runtime.types import Choice, Question

LINE = "Do:"
FACT = "Fact:"
NOTHING = "Goal: Do it.\n"  # an empty goal: an action's score behind it is its prior
UNTOLD = "Said: It is so.\n"
NONE = "none of these"
NOBODY = "Nobody is there to confirm it."
NO_FACTS = "none of the skills here says what it brings"
WAY_OUT = "give them `brings:` in their manifest, and their slots `choices` or `from:`"


class NotMeant(Exception):
    """Raised where no option is meant."""


class Want(JudgingNode):
    """Asks for each part of the goal which action is meant; what that brings shall be true."""

    ROUND = ("actions", "skills", "named")
    chat = None  # asked as plain text, without the model's template
    skills: Mapping[str, str] = {}  # option → what it brings, with open slots
    named = False  # the part that is asked about names a thing
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
        try:
            stages = yield from self.wanted(facts)
        except NotMeant as none:
            return Ending("failure", str(none))
        count, most = sum(map(len, stages)), int(self.value("most"))
        if not 0 < count <= most:
            return Ending("failure", f"{count} facts, of {most} at most" if count else "nothing is asked for")
        said = [joined(stage) for stage in stages]
        if self.value("confirm") and (no := (yield from self.objection(", then ".join(said)))):
            return Ending("failure", no)
        self.scope[self.spec.values["into"]] = joined(wish for stage in stages for wish in stage)
        if "stages" in self.spec.values:
            self.scope[self.spec.values["stages"]] = said
        return Ending("done", ", then ".join(said))

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
        return self.actions.offered([kind for kind in known_skills(self) if names is None or kind.name in names])

    def wanted(self, facts: Sequence[GroundFact]) -> Generator[Any, Any, list[list[Wish]]]:
        """What the goal's parts mean, each fact once, in their order: a list for all that is asked for at once."""
        stages, known, last, spoken = [list[Wish]()], set[Wish](), list[GroundFact](), list[GroundFact]()
        for part in parts(self.goal):
            last = again(last, part, facts) or (yield from self.understood(part, facts, spoken))
            test = yield from self.tested(part)
            spoken = all_of(last, part, facts, spoken)
            new = dict.fromkeys(Wish(fact.said, test) for fact in spoken)
            if part.later and stages[-1]:
                stages.append([])
            for wish in (each for each in new if each not in known):
                self.context.emit(Stepped(self.path, "want", str(wish), ""))
                stages[-1].append(wish)
            known |= new.keys()
        return [stage for stage in stages if stage]

    def tested(self, part: GoalPart) -> Generator[Any, Any, str]:
        """The fact by which a part is asked for; "" for one that is asked for in any case."""
        if not part.test:
            return ""
        asked = GoalPart(part.test, "", f"{part.text}. {part.others}")
        known = tellable(self.actions, self.kinds())
        offered = [*dict.fromkeys(fact.said for fact in relevant(fitting(asked, known), part.test))]
        self.skills, self.named = {}, True
        told = Prompt(self.instructions("want_if"), "", f"Said: {asked.sentence}\n", FACT)
        index = yield from self.one_of(told, offered)
        if index is None:
            raise NotMeant(f"nothing here tells whether {part.test}")
        return NOT * part.denied + offered[index]

    def understood(
        self, part: GoalPart, facts: Sequence[GroundFact], last: Sequence[GroundFact]
    ) -> Generator[Any, Any, list[GroundFact]]:
        """What the action brings that the model takes the part for. `last`: what the part before it was taken for."""
        offered = in_own_words(part, relevant(fitting(part, facts, last), self.goal))
        acts = [*dict.fromkeys(fact.act for fact in offered)]
        self.skills = {f" {fact.act}": fact.template for fact in offered}
        self.named = names(part, facts)
        index = yield from self.one_of(self.question(part, facts), acts)
        if index is None and self.named:
            raise NotMeant(f"no skill here serves `{part.text}`")
        return [fact for fact in offered if index is not None and fact.act == acts[index]]

    def one_of(self, prompt: Prompt, options: Sequence[str]) -> Generator[Any, Any, int | None]:
        """The index of the option that is meant; None where none of them is. A single one is not asked for."""
        if len(options) < 2:
            return 0
        self.afford()
        index = (yield from self.chosen(prompt, [*options, NONE])).index
        return index if index < len(options) else None

    def question(self, part: GoalPart, facts: Sequence[GroundFact]) -> Prompt:
        """Goals as examples, of other trades and of this one, then the part. The system text stays the same."""
        examples = example_goals(facts, self.goal, int(self.value("examples")), self.context.services.seed)
        told = "\n".join(f"Goal: {goal}\n{LINE} {act}\n" for goal, act in examples)
        return Prompt(self.instructions(self.spec.values["system"] or "want"), told, f"Goal: {part.sentence}\n", LINE)

    def weighed(self, question: Question, prompt: Prompt) -> Generator[Any, Any, Choice]:
        """The scores of the options, less a share of what each scores when nothing is said. What names no thing means
        none of them where neither the best nor its skill, with whatever thing, is less surprising than then by the
        share `sure`."""
        choice: Choice = yield from self.asked(question)
        if choice.scores is None:
            return choice
        said = NOTHING if prompt.steps == LINE else UNTOLD
        known = yield from priors(self, [prompt._replace(task=said)], question.options)
        weight, pairs = float(self.value("weight")), [*zip(choice.scores, known, strict=True)][:-1]
        scores = [score - weight * prior for score, prior in pairs]
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        skills = [self.skills.get(option, option) for option in question.options[:-1]]
        same = [pair for pair, skill in zip(pairs, skills, strict=True) if skill == skills[best]]
        meant = self.named or max(gained([pairs[best]]), gained(same)) >= float(self.value("sure"))
        return picked(question.options, [*scores, -math.inf if meant else scores[best] + 1])


def gained(pairs: Sequence[tuple[float, float]]) -> float:
    """By which share options are less surprising together than when nothing is said; 1 where they surprised nobody."""
    score, prior = (math.log(sum(map(math.exp, each))) for each in zip(*pairs, strict=True))
    return (score - prior) / -prior if prior < 0 else 1.0
