"""Reflection: what an attempt teaches, in one line each: a lesson, or AutoPlan's summary, flaw and revision."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from bt_runtime.agents import autoplan
from bt_runtime.agents.end import Ending
from bt_runtime.agents.model_node import Life, ModelNode
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.services import agent_services
from bt_runtime.agents.trimming import shorter
from bt_runtime.events import Reflected
from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.language.guide import text_of
from bt_runtime.llm.model_wrapper import counting
from bt_runtime.types import Json, Question


class Reflect(ModelNode):
    seeds = False

    def live(self) -> Life:
        parts = [str(part) for part in self.value("parts")]
        unknown = [part for part in parts if part not in autoplan.CUES]
        if unknown or not parts:
            raise BtError(
                f"`parts` of a reflection are some of {', '.join(autoplan.CUES)}, not {', '.join(unknown) or 'none'}",
                "leave `parts` out: one lesson is written then",
            )
        said = yield from self.whole_or_shorter(parts)
        self.keep(said, alone=parts == [autoplan.LESSON])
        self.context.emit(Reflected(self.path, said))
        return Ending("done", next(reversed(said.values())))

    def whole_or_shorter(self, parts: list[str]) -> Generator[Any, Any, dict[str, str]]:
        """Asks about the attempt. When it is too long for the model, its middle is left out."""
        story, ended = self.story()
        while True:
            try:
                return (yield from (
                    self.lesson(story, ended) if parts == [autoplan.LESSON] else self.examined(parts, story, ended)
                ))  # fmt: skip
            except TooLong as fault:
                story = shorter(story, fault)

    def lesson(self, story: str, ended: str) -> Generator[Any, Any, dict[str, str]]:
        """Writes one line of advice for the next attempt at the same task."""
        system = self.instructions(self.spec.values["prompt"] or "reflect")
        prompt = Prompt(system, "", autoplan.attempt(story, ended, self.goal), autoplan.CUES[autoplan.LESSON])
        return {autoplan.LESSON: (yield from self.line(prompt, None))}

    def examined(self, parts: list[str], story: str, ended: str) -> Generator[Any, Any, dict[str, str]]:
        """Writes one part after the other; the prompt of each shows the parts before it."""
        values = self.spec.values
        story = autoplan.cut(story, int(values["story_line"]))
        if budget := int(values["story_tokens"]):
            texts = autoplan.countable(story)
            counts = yield counting(self.model(), texts, self.context.wake)
            story = autoplan.shortened(story, budget, dict(zip(texts, counts, strict=True)).__getitem__)
        told = autoplan.attempt(story, ended, self.goal) + autoplan.judged(self.value("experience"))
        system = self.instructions(values["prompt"] or "reflect_plan")
        guide = text_of(str(self.value("guide")))
        said: dict[str, str] = {}
        for part in parts:
            prompt = autoplan.reflection(system, guide, told, said)
            said[part] = yield from self.line(
                prompt._replace(steps=prompt.steps + autoplan.CUES[part]), int(values["line_length"])
            )
        return said

    def story(self) -> tuple[str, str]:
        """The text of the given experience, else of the latest attempt at this goal in this run."""
        experience = self.value("experience")
        if experience:
            return str(experience.get("story", "")), str(experience.get("ended") or "nothing is known of it")
        return agent_services(self.context).stories.get(self.goal, ("", "nothing is known of it"))

    def line(self, prompt: Prompt, limit: int | None) -> Generator[Any, Any, str]:
        self.afford()
        values = self.spec.values
        grammar = autoplan.line_grammar(limit) if limit is not None else None
        wrote = yield from self.asked(Question(
            "write", self.prompted(prompt), grammar=grammar, stop=("\n",), max_tokens=values["max_tokens"],
            temperature=self.temperature,
        ))  # fmt: skip
        return " ".join(wrote.text.split())

    def keep(self, said: dict[str, str], alone: bool) -> None:
        values, experience = self.spec.values, self.value("experience")
        kept: Json = said[autoplan.LESSON] if alone else {"goal": self.goal, **said}
        if experience and not alone:
            kept["reached"] = bool(experience.get("reached"))
        if values.get("into") is not None:
            into = values["into"]
            entries: list[Any] = [*(self.scope.get(into) or []), *([kept] if kept else [])]
            self.scope[into] = entries[-int(values["keep"]) :]
        if values.get("reflection") is not None:
            self.scope[values["reflection"]] = kept
