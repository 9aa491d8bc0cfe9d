"""Documents from recorded runs: what was asked and answered, as it was said, in runs that came out well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.agents.prompt import chat
from bt_runtime.distill.documents import Document
from bt_runtime.journal import codec
from bt_runtime.journal.reading import Recording

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
    for event, body in recording.of("ask", "answer", "refused", "end"):
        if event.kind == "ask" and body["what"] in ("choose", "decide", "write"):
            asked[body["job"]] = body
        elif event.kind == "answer" and body["job"] in asked and "value" in body:
            question = asked.pop(body["job"])
            template = (models.get(question["model"]) or {}).get("template")
            life = lives.setdefault(question["path"], Life(kind))
            yield from life.answered(plain(question["prompt"], template), codec.full(body["value"]).text)
        elif event.kind == "refused" and body["path"] in lives:
            lives[body["path"]].refused()
        elif event.kind == "end" and body["path"] in lives:
            life = lives.pop(body["path"])
            if body["why"] in _GOOD:
                yield from life.document()


class Life:
    """What one node was asked, for as long as each prompt goes on where the one before it ended."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text = ""
        self.spans: list[tuple[int, int]] = []

    def answered(self, prompt: str, answer: str) -> Iterator[Document]:
        """Takes in an answer; yields what came before when this prompt does not go on from there."""
        if not prompt.startswith(self.text.rstrip("\n")):
            yield from self.document()
            self.text, self.spans = "", []
        start = len(prompt)
        self.text = prompt + answer.rstrip("\n") + "\n"
        if self.spans and self.spans[-1][1] > start:  # a move that was chosen, and then its text was written
            self.spans[-1] = (self.spans[-1][0], start)
        self.spans.append((start, len(self.text)))

    def refused(self) -> None:
        """The latest plan was not accepted: it stands there, and is not learnt."""
        if self.spans:
            del self.spans[-1]

    def document(self) -> Iterator[Document]:
        spans = joined(self.spans)
        if spans:
            yield Document(self.kind, self.text, spans)


def joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans that touch are one."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and found[-1][1] >= start:
            start = found.pop()[0]
        found.append((start, end))
    return tuple(found)


def plain(prompt: str, template: str | None) -> str:
    """A prompt without what the recorded model's chat template put around its parts; as it is when that is unclear."""
    if not template:
        return prompt
    system, user = f"the system {_ASKED}", f"the user {_ASKED}"
    said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    before, found, rest = chat(template, said).partition(system)
    between, found_too, after = rest.partition(user)
    if not (found and found_too and between and after and prompt.startswith(before)):
        return prompt
    first, middle, rest = prompt[len(before) :].partition(between)
    second, end, steps = rest.partition(after)
    return f"{first}\n\n{second}\n{steps}" if middle and end else prompt
