"""`infer` is a model as a leaf: a template over entries asks for typed values, which are written to entries."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.agents import pictures, recalling, thought
from bt_runtime.agents.answers import NodeAnswer, choices_of, described, grammar_of, read, settled, spoken
from bt_runtime.agents.end import Ending
from bt_runtime.agents.judging import JudgingNode
from bt_runtime.agents.model_node import Life
from bt_runtime.agents.prompt import Prompt, example_block
from bt_runtime.agents.story import THINK
from bt_runtime.agents.together import Together
from bt_runtime.events import Stepped
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.outputs import Output, misfit, sound_choices
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, computed
from bt_runtime.types import Json, Question

_NUMBER_TOKENS = 32  # tokens of a number: at most 16 digits, a sign, a point
Vote = dict[str, NodeAnswer]


class InferQuestion(NamedTuple):
    """The recorded question: everything that determines the answer, except memory and model."""

    prompt: str
    outputs: tuple[Output, ...]  # outputs with their computed choices
    shots: str  # cases, as they are shown
    picture: str = ""  # the picture's path or mark


class Around:
    """The entries of an example case; entries that the case does not set keep their present values."""

    def __init__(self, own: Mapping[str, Json], scope: Mapping[str, Json]) -> None:
        self.own, self.scope = own, scope

    def __getitem__(self, name: str) -> Json:
        return self.own[name] if name in self.own else self.scope[name]


class Infer(JudgingNode):
    STATE, ROUND = ("known",), ("now",)
    now: InferQuestion | None = None
    known: tuple[InferQuestion, dict[str, Json]] | None = None  # the latest question, and what was written for it

    def step(self) -> Status:
        """Answers the question; the answer stays until the question changes."""
        if self.status is RUNNING:
            return super().step()
        try:
            self.now = self.question()
            if self.known is None or self.known[0] != self.now:
                return super().step()
            self.write(self.known[1])
            status = SUCCESS if self.held() else FAILURE
        except Exception as error:
            status = self.crash(error)
        return self.finish(status)

    def aim(self) -> str:
        return self.now.prompt if self.now is not None else str(self.value("prompt"))

    def live(self) -> Life:
        asked = self.now or self.question()
        shown = example_block((yield from recalling.examples(self))) + asked.shots
        mark = f"{yield from pictures.marked(self, asked.picture)}\n" if asked.picture else ""
        seen = asked._replace(prompt=f"{mark}{asked.prompt.strip()}")
        votes = yield Together([self.vote(seen, shown, number) for number in range(int(self.value("votes")))])
        for vote in votes:
            if isinstance(vote, Ending):
                return vote
        written = self.result_of(asked, votes)
        self.write(written)
        self.known = (asked, written)
        return Ending("done", self.feedback_message) if self.held() else Ending("failure", "it does not hold")

    # The question ----------------------------------------------------------------------------

    def question(self) -> InferQuestion:
        values = self.spec.values
        outputs = tuple(self.resolved(output) for output in values["outputs"].values())
        shots = "".join(self.case(shot, outputs) for shot in self.value("shots"))
        picture = str(self.value("picture")).strip() if "picture" in values else ""
        return InferQuestion(str(self.value("prompt")), outputs, shots, picture)

    def resolved(self, output: Output) -> Output:
        if not hasattr(output.choices, "evaluate"):
            return output
        return output._replace(choices=sound_choices(computed(output.choices, self.scope), output.name))

    def case(self, shot: Json, outputs: tuple[Output, ...]) -> str:
        """Renders an example case as it would have been asked. Holes that it does not fill keep their present
        values."""
        if not isinstance(shot, Mapping):
            raise BtError(f"a case of `shots` is {shot!r:.60}, no mapping", "give outputs and holes by their names")
        lines = []
        for output in outputs:
            why = misfit(output, shot[output.name]) if output.name in shot else "it is missing"
            if why:
                raise BtError(f"`{output.name}` of a case of `shots` cannot be: {why}", "a case shows every output")
            lines.append(f"{output.name}: {spoken(output, shot[output.name])}\n")
        template = self.spec.values["prompt"]
        filled = template.evaluate(Around(shot, self.scope)) if hasattr(template, "evaluate") else template
        return f"{str(filled).strip()}\n{''.join(lines)}\n"

    # Answers ---------------------------------------------------------------------------------

    def vote(self, asked: InferQuestion, examples: str, number: int) -> Generator[Any, Any, Vote | Ending]:
        """Asks for all outputs in turn; returns an Ending when they cannot be had."""
        values, vote = self.spec.values, Vote()
        told = {"answers": "\n".join(map(described, asked.outputs)), "think": bool(values["think"])}
        system = self.instructions(values["system"] or "infer", told)
        prompt = Prompt(system, examples.strip("\n") + "\n" * bool(examples), f"{asked.prompt.strip()}\n", "")
        if values["think"]:
            self.afford()
            said = yield from thought.line(self, lambda: Question(
                "write", self.prompted(prompt._replace(steps=THINK)), stop=("\n",), max_tokens=int(values["think"]),
                temperature=self.temperature, seed=self.vote_seed(number),
            ))  # fmt: skip
            prompt = prompt._replace(steps=f"{THINK} {said}\n")
            self.context.emit(Stepped(self.path, "think", said, ""))
        for output in asked.outputs:
            self.afford()
            at = prompt._replace(steps=f"{prompt.steps}{output.name}:")
            answer = yield from self.answered(output, at, number)
            if answer is None:
                return Ending("invalid", f"`{output.name}` was cut off after {values['max_tokens']} tokens")
            vote[output.name] = answer
            prompt = at._replace(steps=f"{at.steps} {answer.text}\n")
        return vote

    def answered(self, output: Output, prompt: Prompt, number: int) -> Generator[Any, Any, NodeAnswer | None]:
        choices = choices_of(output)
        if choices:
            asks = [name for name in ("margin", "distribution") if self.spec.values.get(name) is not None]
            odds = yield from self.chosen(prompt, [*choices], sure=bool(asks) and self.value("votes") == 1)
            text = [*choices][odds.index]
            return NodeAnswer(choices[text], text, dict(zip(choices, odds.shares, strict=True)))
        most = _NUMBER_TOKENS if output.type in ("integer", "number") else int(self.value("max_tokens"))
        lines = output.type not in ("list", "object")
        try:
            wrote = yield from self.asked(Question(
                "write", self.prompted(prompt), grammar=grammar_of(output), stop=("\n",) if lines else (),
                max_tokens=most, temperature=self.temperature, seed=self.vote_seed(number),
            ))  # fmt: skip
        except BtError as fault:
            raise BtError(f"`{output.name}` was not answered: {fault.message}", fault.hint) from fault
        return None if wrote.ended == "length" else self.parsed(output, wrote.text)

    def parsed(self, output: Output, text: str) -> NodeAnswer:
        try:
            value = read(output, text)
            why = misfit(output, value)
        except ValueError:
            value, why = None, f"{text!r:.60} is no {output.type}"
        if why:
            raise BtError(
                f"`{output.name}` was answered with what it cannot be: {why}",
                "this model does not keep to grammars; use a local file, or a server that constrains its answers",
            )
        self.context.emit(Stepped(self.path, output.name, spoken(output, value), ""))
        return NodeAnswer(value, spoken(output, value))

    def vote_seed(self, number: int) -> int:
        """Returns a vote's seed: different for each vote, reproducible with the run's seed."""
        return int(self.context.services.seed) * 1_000_003 + number

    # What is written -------------------------------------------------------------------------

    def result_of(self, asked: InferQuestion, votes: list[Vote]) -> dict[str, Json]:
        written: dict[str, Json] = {}
        margins, told = list[float](), dict[str, Json]()
        for output in asked.outputs:
            answer, margin = settled([vote[output.name] for vote in votes], choices_of(output))
            written[output.name] = answer.value
            if margin is not None:
                margins.append(margin)
                told[output.name] = dict(answer.odds or {})
        values = self.spec.values
        if values.get("margin") is not None:
            written[values["margin"]] = min(margins)
        if values.get("distribution") is not None:
            written[values["distribution"]] = told
        self.feedback_message = ", ".join(
            f"{output.name}: {json.dumps(written[output.name], ensure_ascii=False)}" for output in asked.outputs
        )
        return written

    def write(self, written: Mapping[str, Json]) -> None:
        """Writes the answer's entries, except those that hold the same value already."""
        for name, value in written.items():
            if name not in self.scope or self.scope[name] != value or type(self.scope[name]) is not type(value):
                self.scope[name] = value

    def held(self) -> bool:
        return "holds" not in self.spec.values or bool(self.value("holds"))
