"""Documents from recorded runs: what was asked and answered, as it was said, in runs that came out well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.agents.growing import CUT_OFF, UNUSABLE
from bt_runtime.distill.documents import Document
from bt_runtime.journal import codec
from bt_runtime.journal.reading import Recording
from bt_runtime.llm.chat import recalled

_GOOD = frozenset({"done", "expanded", "failure"})  # ends of a node that are its own decision; in a run that succeeded
_ASKED = "asked"  # a model's sentence that stands in for a text, to see what a template puts around it


def told(paths: Iterable[Path]) -> Iterator[Document]:
    """Of every run that succeeded; the others, and what cannot be read, teach nothing."""
    for path in paths:
        recording = Recording(path)
        met = recording.verdict
        if recording.result == "SUCCESS" and (met is None or met[0] == met[1]):
            yield from of_run(recording)


def of_run(recording: Recording) -> Iterator[Document]:
    """One document for each life of a node: its last prompt, and every answer on the way to it."""
    kind = str(recording.head["tree"])
    models: Mapping[str, Any] = recording.head.get("models") or {}
    asked: dict[int, dict[str, Any]] = {}
    lives: dict[str, Life] = {}
    for event, body in recording.of("ask", "answer", "end"):
        if event.kind == "ask" and body["what"] in ("choose", "decide", "write"):
            asked[body["job"]] = body
        elif event.kind == "answer" and body["job"] in asked and "value" in body:
            question = asked.pop(body["job"])
            template = (models.get(question["model"]) or {}).get("template")
            life = lives.setdefault(question["path"], Life(kind))
            yield from life.answered(plain(question["prompt"], template), codec.full(body["value"]).text)
        elif event.kind == "end" and body["path"] in lives:
            life = lives.pop(body["path"])
            if body["why"] in _GOOD:
                yield from life.document()


class Life:
    """What one node was asked, for as long as each prompt goes on where the one before it ended.

    How an answer is spaced is seen in the prompt that comes after it: there it stands as the runtime writes it. A plan
    that was refused stands there too, and is not learnt.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.prompt = self.answer = ""  # the latest
        self.spans: list[tuple[int, int]] = []

    def answered(self, prompt: str, answer: str) -> Iterator[Document]:
        """Takes in an answer; yields what came before when this prompt does not go on from there."""
        if self.prompt:
            end = told_in(prompt[len(self.prompt) :], self.answer) if prompt.startswith(self.prompt) else 0
            if not end:
                yield from self.document()
                self.spans = []
            elif not prompt.startswith((UNUSABLE, CUT_OFF), len(self.prompt) + end):
                self.spans.append((len(self.prompt), len(self.prompt) + end))
        self.prompt, self.answer = prompt, answer

    def document(self) -> Iterator[Document]:
        answer = self.answer.strip("\n")
        gap = " " if self.prompt.endswith(":") and not answer[:1].isspace() else ""
        text = f"{self.prompt}{gap}{answer}\n"
        last = [(len(self.prompt), len(text))] if answer else []
        spans = joined([*self.spans, *last])
        if spans:
            yield Document(self.kind, text, spans)


def told_in(text: str, answer: str) -> int:
    """Where the answer ends in the text that begins with it, its line break included; 0 when it does not."""
    at = 0
    for word in answer.split():
        at += len(text[at:]) - len(text[at:].lstrip())
        if not text.startswith(word, at):
            return 0
        at += len(word)
    return at + (text[at : at + 1] == "\n")


def joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans that touch are one."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and found[-1][1] >= start:
            start = found.pop()[0]
        found.append((start, end))
    return tuple(found)


def plain(prompt: str, template: Any) -> str:
    """A prompt without what the recorded model's chat template put around its parts; as it is when that is unclear."""
    chat = recalled(template)
    if chat is None:
        return prompt
    system, user = f"the system {_ASKED}", f"the user {_ASKED}"
    before, found, rest = chat.say(system, user).partition(system)
    between, found_too, after = rest.partition(user)
    if not (found and found_too and between and after and prompt.startswith(before)):
        return prompt
    first, middle, rest = prompt[len(before) :].partition(between)
    if chat.turns is not None and middle and after in rest:
        for part in sorted((after, *chat.turns), key=len, reverse=True):  # one may begin with another
            rest = rest.replace(part, "\n")
        return f"{first}\n\n{rest}"
    second, end, steps = rest.partition(after)
    return f"{first}\n\n{second}\n{steps}" if middle and end else prompt
