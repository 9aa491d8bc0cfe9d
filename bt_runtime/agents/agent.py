"""The agent: decides step by step for one goal. It thinks, acts, asks, and may expand into a subtree."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal

from py_trees.common import Status

from bt_runtime.agents import calling, finish, pictures, recalling, thought
from bt_runtime.agents.actions import Actions
from bt_runtime.agents.end import Ending
from bt_runtime.agents.growing import PlanGrowing, family_of
from bt_runtime.agents.loops import cycle
from bt_runtime.agents.model_node import PAUSE, Life
from bt_runtime.agents.prompt import Prompt, agent_prompt, equipped, example_block, guided
from bt_runtime.agents.prompt_holes import holes
from bt_runtime.agents.scoring import scored
from bt_runtime.agents.services import agent_services
from bt_runtime.agents.story import ACT, OPENINGS, Family, StoryStep, written
from bt_runtime.agents.surroundings import DONE, FAILURE, RECALL, Surroundings
from bt_runtime.agents.trimming import KEPT, cut_off, too_many
from bt_runtime.agents.withholding import Withholding
from bt_runtime.agents.worked_example import ExampleShape, steps_of
from bt_runtime.events import Acting, Decided, Reasoned, Stepped, Trimmed
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.tree.node import RUNNING, SUCCESS
from bt_runtime.types import Choice, End, Grammar, Observation, Question

Turn = Generator[Any, Any, Ending | None]
_AS_END: dict[str, End] = {"done": "success", "expanded": "expand"}
_ENDS = (DONE, FAILURE)
_LAST_LINE = {"success": f"{ACT} {DONE}\n", "failure": f"{ACT} {FAILURE}\n"}


class Agent(PlanGrowing):
    ROUND = (
        "steps", "trail", "thoughtless", "omitted", "invalid", "moves", "system", "texts", "notes", "opening", "family",
        "examples", "toolbox", "reasoned", "aloud", "around", "withheld",
    )  # fmt: skip
    steps: list[StoryStep]
    trail: list[tuple[StoryStep, str]]  # (step, state of the world after it): a repeated pair is a loop
    system = ""
    texts: Mapping[str, str] = {}  # texts of prompts when `system` was written
    notes: Sequence[str] = ()
    opening = ""
    family: Family | None = None
    examples: tuple[str, ...] = ()
    toolbox: calling.Toolbox | None = None  # the tools, with `form: tools`
    reasoned = ""  # the model's thought before this decision, at the end of the prompt
    aloud = False  # … and whether it was let
    thoughtless = False  # the latest move was an empty or a repeated thought: the next one is no thought
    omitted = 0  # number of oldest steps left out of the prompt

    # Life ------------------------------------------------------------------------------------

    def prepare(self) -> Generator[Any, Any, None]:
        """Prepares the first decision: actions, the first observation, the prompt, examples."""
        self.steps, self.trail, self.plans, self.warned = [], [], [], set()
        self.reasoned, self.aloud, self.omitted = "", False, 0
        self.invalid, self.thoughtless, self.toolbox = 0, False, None
        self.moves = [str(m) for m in self.value("moves")]
        self.notes = [str(n) for n in self.value("notes")]
        self.actions = Actions(self)
        self.around = Surroundings(self.context, self.path, bool(self.spec.values["recall"]), self.actions)
        self.withheld = Withholding(self)
        self.opening = yield from self.seen(self.around.opening() + self.last_action())
        told = self.introduce()
        self.family = family_of(self)
        shape = ExampleShape(tuple(self.moves), "", told["recall"], self.spec.values["show"] == "all")
        self.examples = yield from recalling.examples(self, shape)

    def introduce(self) -> dict[str, Any]:
        """Writes the fixed part of the prompt; returns what filled its holes."""
        self.texts = agent_services(self.context).texts
        told = holes(self, self.moves, "act" in self.moves and bool(self.around.kinds()))
        tools = self.spec.values.get("form") == "tools"
        ends = () if self.judges else _ENDS
        if tools:
            self.toolbox = calling.toolbox(self, self.moves, self.text, told["recall"], ends)
        named = self.spec.values["prompt"] or ("tools" if tools else "agent")
        system = equipped(self.instructions(named, told), [] if tools else self.actions.described())
        self.system = guided(system, self.guide())
        return told

    def live(self) -> Life:
        yield from self.prepare()
        while True:
            self.afford()
            ending = yield from self.turn()
            if ending is not None:
                return ending
            if self.invalid >= self.budget.invalid:
                return Ending("invalid", self.steps[-1].observation)
            period = cycle(self.trail, int(self.spec.values["patience"]))
            if period:
                return Ending("loop", f"the last {period} steps, again and again")
            yield PAUSE

    def turn(self) -> Turn:
        """Chooses and makes one move; returns an Ending after the last one."""
        if self.texts is not agent_services(self.context).texts:  # a fork has others
            self.introduce()
        if self.judges and (ending := (yield from self.finished())) is not None:
            return ending
        offered = [m for m in self.moves if m != "think" or not self.thoughtless]
        policy = self.context.services.policy
        if policy is not None and policy.objection(self):
            offered = [m for m in offered if m != "expand"]
        self.thoughtless = False
        yield from self.reason()
        sentences = self.sentences()
        opening, sentence, choice = yield from self.chosen(offered, sentences)
        if sentence in _ENDS and self.spec.values.get("finish") == "likely":
            acts = _acts(sentences)
            if acts and math.exp(choice.logprob) < self.value("sure"):
                opening, sentence, choice = yield from self.chosen(offered, acts)
        self.context.emit(Decided(self.path, opening, sentence.strip(), choice.logprob, choice.margin))
        move = OPENINGS[opening]
        if move == "act":
            return (yield from self.act(sentence))
        if move == "think":
            return (yield from self.think(opening))
        if move == "expand":
            return (yield from self.expand(opening))
        return (yield from self.ask(opening))

    def chosen(self, offered: Sequence[str], sentences: Sequence[str]) -> Generator[Any, Any, tuple[str, str, Choice]]:
        """Chooses a move, and of `act` one of the sentences. Returns the opening, the sentence, and the choice."""
        said = tuple([f" {sentence}" for sentence in sentences])  # a list first: no call for each of them
        moves = {o: said if o == ACT else () for o, move in OPENINGS.items() if move in offered or o == ACT}
        how, prompt = self.spec.values["choose"], self.text()
        if self.toolbox is not None:
            return (yield from calling.chosen(self, self.toolbox, sentences, moves))
        if len(moves) == 1:
            choice = yield from self.sentence(said)
            return ACT, choice.text.removeprefix(" "), choice
        if self.spec.values.get("score", "sum") != "sum":
            choice = yield from self.asked(Question("decide", prompt, moves=dict.fromkeys(moves, ())))
            if choice.text != ACT:
                return choice.text, "", choice
            choice = yield from self.sentence(said)
            return ACT, choice.text.removeprefix(" "), choice
        mode: Literal["exact", "greedy"] = "greedy" if how == "greedy" else "exact"
        choice = yield from self.asked(Question("decide", prompt, moves=moves, mode=mode))
        opening = next(o for o in moves if choice.text.startswith(o))
        return opening, choice.text[len(opening) :].removeprefix(" "), choice

    @property
    def judges(self) -> bool:
        """True when a judge decides about the end: `done` and `failure` are then not offered."""
        return bool(self.spec.values.get("finish") == "judge") and "act" in self.moves

    def sentences(self) -> list[str]:
        """Returns the sentences that the agent may choose now."""
        if "act" not in self.moves:
            return [*_ENDS]
        found = self.withheld.offered(self.around.sentences())
        return _acts(found) if self.judges else found

    def finished(self) -> Turn:
        """Ends the agent if the goal is judged reached after an act, or if no sentence is left."""
        if self.steps and self.steps[-1].move == "act":
            share = yield from finish.gained(self, self.goal, self.steps)
            if share >= self.value("sure"):
                return Ending("done", f"judged: {share:.2f}")
        return None if self.sentences() else Ending("failure", "nothing can be done")

    def sentence(self, said: tuple[str, ...]) -> Generator[Any, Any, Choice]:
        """Chooses one of the sentences by this node's `score`."""
        question = Question("choose", self.text() + ACT, options=said, mode=self.spec.values["choose"])
        return (yield from scored(self, question, ACT))

    def reason(self) -> Generator[Any, Any, None]:
        """Lets a reasoning model think before it decides, if `think: model`. The next prompt omits the thoughts."""
        chat = self.chat
        self.reasoned, self.aloud = "", False
        if self.spec.values["think"] != "model" or chat is None or not chat.thinks:
            return
        self.aloud = True
        values, (stop, close) = self.spec.values, chat.thought
        wrote = yield from self.asked(Question(
            "write", self.text(), stop=(stop,), max_tokens=values["think_tokens"],
            temperature=self.temperature, seed=self.seed(),
        ))  # fmt: skip
        self.reasoned = chat.harmless(wrote.text) + close
        self.context.emit(Reasoned(self.path, wrote.text.strip()))

    def think(self, opening: str) -> Turn:
        said = yield from self.line(opening)
        before = next((step.text for step in reversed(self.steps) if step.move == "think"), None)
        self.thoughtless = not said or (said == before and not self.register.repeats)
        if said:
            self.invalid = 0
            self.add(StoryStep("think", said))
        return None

    def act(self, begun: str) -> Turn:
        sentence, written = begun.strip(), ""
        if sentence == DONE:
            return Ending("done")
        if sentence == FAILURE:
            last = self.steps[-1] if self.steps else None
            return Ending("failure", last.text if last is not None and last.move == "think" else "")
        phrase = self.actions.unfinished(begun)
        if phrase is not None:
            if self.toolbox is not None:
                written = yield from calling.rest(self, self.toolbox, *self.actions.begun[begun])
            else:
                written = yield from self.line(f"{ACT} {sentence}", Grammar("regex", phrase.pattern()))
            sentence = phrase.joined(begun, written)
        for spent in (self.spent, self.whole):
            spent.steps += 1
        self.context.emit(Acting(self.path, sentence))
        before = self.withheld.before(begun)
        done = yield self.around.act(begun, written)
        observation: Observation = done.value
        self.around.noticed(sentence, observation)
        self.withheld.after(begun, before, observation.ok)
        shown = self.spec.values["show"]
        told = shown == "all" or (shown == "failures" and not observation.ok)
        self.add(StoryStep("act", sentence, (yield from self.seen(observation.text)) if told else ""))
        self.invalid = 0 if observation.ok else self.invalid
        if observation.ok:
            self.plans.clear()  # something may have been learnt: the same plan may make sense again
            agent_services(self.context).did(sentence, observation.text, sentence.startswith(RECALL))
        return None

    def seen(self, text: str) -> Generator[Any, Any, str]:
        """Returns an observation with the marks of its pictures, if this agent is shown any."""
        return (yield from pictures.observed(self, text)) if self.spec.values.get("pictures") else text

    def ask(self, opening: str) -> Turn:
        """Asks the person, and returns the answer."""
        question = yield from self.line(opening)
        person = self.context.services.person
        answer = "Nobody is there to answer." if person is None else (yield person.ask(question))
        if (policy := self.context.services.policy) is not None:
            policy.heard(self, ("operator",))
        self.add(StoryStep("ask", question, " ".join(str(answer).split())))
        return None

    def expand(self, opening: str) -> Turn:
        """Grafts a subtree below; objections to it become the next observation."""
        plan, refused = yield from self.plan(f"{self.text()}{opening}\n")
        self.add(StoryStep("expand", plan, refused))
        self.invalid = self.invalid + 1 if refused else 0
        return None

    def line(self, opening: str, grammar: Grammar | None = None) -> Generator[Any, Any, str]:
        """Asks for the rest of a line, free or under a grammar."""
        if self.toolbox is not None:
            return (yield from calling.line(self, self.toolbox, opening))
        values = self.spec.values
        return (yield from thought.line(self, lambda: Question(
            "write", self.text() + opening, grammar=grammar, stop=("\n",), max_tokens=values["think_tokens"],
            temperature=self.temperature, seed=self.seed(),
        )))  # fmt: skip

    # Prompt and record -----------------------------------------------------------------------

    def prompt(self) -> Prompt:
        told = agent_prompt(
            self.system,
            self.goal,
            self.opening,
            self.steps,
            family=self.family,
            examples=self.examples,
            notes=self.notes,
            omitted=self.omitted,
        )
        if self.toolbox is not None:
            calls = tuple([self.toolbox.told(step) for step in self.steps[self.omitted :]])
            examples = example_block([self.toolbox.example(text) for text in self.examples])
            return told._replace(examples=examples, tools=self.toolbox.tools, calls=calls)
        if self.spec.values.get("example_form") == "turns":
            shown = [(head, tuple([step.turn() for step in steps])) for head, steps in map(steps_of, self.examples)]
            return told._replace(shown=tuple([each for each in shown if each[1]]))
        return told

    def text(self) -> str:
        return self.prompted(self.prompt(), self.aloud) + self.reasoned

    def asked(self, question: Question) -> Generator[Any, Any, Any]:
        """Asks a question. When the story is too long for the model, drops its oldest steps and asks again."""
        again = True
        while True:
            try:
                answer = yield from super().asked(question)
                fault = cut_off(question, answer)
                if fault is None or not again or not self.omittable():
                    return answer
                again = False
            except TooLong as told:
                if not self.omittable():
                    raise
                fault = told
            question = self.shortened(question, fault)

    def omittable(self) -> bool:
        return len(self.steps) - self.omitted > KEPT

    def shortened(self, question: Question, fault: TooLong) -> Question:
        """Returns the question with a shorter story."""
        before = self.text()
        if not question.prompt.startswith(before):  # not the story that can be shortened
            raise fault
        sizes = [len(step.written()) for step in self.steps[self.omitted :]]
        self.omitted += too_many(sizes, len(before), fault)
        self.context.emit(Trimmed(self.path, self.omitted, len(self.steps), fault.tokens, fault.limit))
        return question._replace(prompt=self.text() + question.prompt.removeprefix(before))

    def add(self, step: StoryStep) -> None:
        self.reasoned, self.aloud = "", False
        self.steps.append(step)
        self.trail.append((step, self.around.state() if step.move == "act" else ""))
        self.feedback_message = step.written().partition("\n")[0]
        self.context.emit(Stepped(self.path, step.move, step.text, step.observation))

    def last_action(self) -> str:
        told = agent_services(self.context).last_action if self.spec.values["inform"] == "last_action" else None
        return f"\nBefore this, `{told[0]}` was done: {told[1]}" if told else ""

    def child_ended(self, status: Status) -> Status:
        if not self.spec.values["resume"]:
            return super().child_ended(status)
        said = "The plan was carried out." if status is SUCCESS else "The plan failed."
        self.steps[-1] = self.steps[-1]._replace(observation=said)
        self.remove_expansion()
        return RUNNING

    def conclude(self, ending: Ending) -> None:
        """Hands the attempt to the notebook and to the reflecting node. Cancelled attempts are not stored."""
        super().conclude(ending)
        if not hasattr(self, "steps"):
            return
        end = _AS_END.get(ending.why, "failure")
        text = self.prompt().task + written(self.steps) + _LAST_LINE.get(end, "")
        agent_services(self.context).stories[self.goal] = (text, str(ending))
        notebook = agent_services(self.context).notebook
        if notebook is not None and ending.why != "cancelled":
            policy = self.context.services.policy
            labels = () if policy is None else (policy.labels(self),)
            notebook.note(self.path, self.goal, text, end, *labels)


def _acts(sentences: Sequence[str]) -> list[str]:
    """The sentences that do not end an agent."""
    return [said for said in sentences if said not in _ENDS]
