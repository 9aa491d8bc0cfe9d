"""Makes documents from recorded runs that succeeded: their prompts and answers, unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill.called import prompted
from bt_lab.distill.documents import Document
from bt_runtime.agents.growing import CUT_OFF, UNUSABLE
from bt_runtime.journal import codec
from bt_runtime.journal.reading import Recording
from bt_runtime.llm.chat.calls import CallForm
from bt_runtime.llm.chat.chat import Chat, recalled

_GOOD = frozenset({"done", "expanded", "failure"})  # ends of a node that are its own decision; in a run that succeeded
_ASKED = "asked"  # a model's sentence that stands in for a text, to see what a template puts around it


def told(paths: Iterable[Path]) -> Iterator[Document]:
    """The documents of every run that succeeded; other runs, and unreadable ones, are skipped."""
    for path in paths:
        recording = Recording(path)
        if met(recording):
            yield from of_run(recording)


def met(recording: Recording) -> bool:
    """True when the run succeeded and, where the world gave a verdict, the goal was reached."""
    verdict = recording.verdict
    return recording.result == "SUCCESS" and (verdict is None or verdict[0] == verdict[1])


def of_run(recording: Recording) -> Iterator[Document]:
    """Returns one document for each life of a node: its last prompt, and every answer before it. Nodes with `form:
    tools` are left out: the models that learn from documents have no tools."""
    for life in lives(recording):
        if life.form is None:
            yield from life.documents


def lives(recording: Recording) -> Iterator[Life]:
    """Yields the questions of each node, ordered by when the node ended; unfinished nodes come last."""
    kind = str(recording.head["tree"])
    models: Mapping[str, Any] = recording.head.get("models") or {}
    templates = {name: recalled(about.get("template")) for name, about in models.items()}
    asked: dict[int, dict[str, Any]] = {}
    found: dict[str, Life] = {}
    for event, body in recording.of("ask", "answer", "end"):
        if event.kind == "ask" and body["what"] in ("choose", "decide", "write") and not body.get("aside"):
            asked[body["job"]] = body
        elif event.kind == "answer" and body["job"] in asked and "value" in body:
            question = asked.pop(body["job"])
            chat = templates.get(question["model"])
            life = found.setdefault(question["path"], Life(kind, question["path"]))
            prompt = life.calling(question["prompt"], chat) or plain(question["prompt"], chat)
            life.answered(Decision(question["what"], prompt, codec.full(body["value"]).text))
        elif event.kind == "end" and body["path"] in found:
            life = found.pop(body["path"])
            life.good = body["why"] in _GOOD
            if life.good:
                life.ended()
            yield life
    yield from found.values()


class Decision(NamedTuple):
    what: str  # choose, decide or write
    prompt: str
    answer: str


class Life:
    """One node's questions, as long as each prompt continues the one before. The next prompt shows how an answer is
    spaced, since the runtime writes it there. A refused plan is there too, and is not learnt. `form`: that of its
    calls, if it makes calls."""

    def __init__(self, kind: str, path: str = "") -> None:
        self.kind, self.path, self.good = kind, path, False
        self.form: CallForm | None = None
        self.prompt = self.answer = ""  # the latest
        self.spans: list[tuple[int, int]] = []
        self.documents: list[Document] = []
        self.decisions: list[Decision] = []
        self.refused: set[int] = set()  # which of them were

    def calling(self, prompt: str, chat: Chat | None) -> str | None:
        """A prompt with calls, such that the next one continues it; None for one without."""
        if chat is None or not isinstance(chat.calls, CallForm):
            return None
        found = prompted(chat.calls, prompt)
        self.form = chat.calls if found is not None else self.form
        return found

    def answered(self, decision: Decision) -> None:
        """Adds an answer; starts a new document when this prompt does not continue the last one."""
        prompt = decision.prompt
        if self.prompt:
            end = told_in(prompt[len(self.prompt) :], self.answer) if prompt.startswith(self.prompt) else 0
            if not end:
                self.ended()
                self.spans = []
            elif prompt.startswith((UNUSABLE, CUT_OFF), len(self.prompt) + end):
                self.refused.add(len(self.decisions) - 1)
            else:
                self.spans.append((len(self.prompt), len(self.prompt) + end))
        self.prompt, self.answer = prompt, decision.answer
        self.decisions.append(decision)

    def ended(self) -> None:
        self.documents += self.document()

    def whole(self) -> list[Document]:
        """The life including its last answer, even if that was no decision of its own."""
        return self.documents if self.good else [*self.documents, *self.document()]

    def document(self) -> Iterator[Document]:
        answer = self.answer.strip("\n")
        gap = " " if self.prompt.endswith(":") and not answer[:1].isspace() else ""
        text = f"{self.prompt}{gap}{answer}\n"
        last = [(len(self.prompt), len(text))] if answer else []
        spans = joined([*self.spans, *last])
        if spans:
            yield Document(self.kind, text, spans)


def told_in(text: str, answer: str) -> int:
    """Returns the end of the answer in the text that begins with it, line break included; 0 when the text begins
    otherwise."""
    at = 0
    for word in answer.split():
        at += len(text[at:]) - len(text[at:].lstrip())
        if not text.startswith(word, at):
            return 0
        at += len(word)
    return at + (text[at : at + 1] == "\n")


def joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Merges spans that touch."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and found[-1][1] >= start:
            start = found.pop()[0]
        found.append((start, end))
    return tuple(found)


def plain(prompt: str, chat: Chat | None) -> str:
    """A prompt without the parts of the recorded model's chat template; unchanged when these cannot be told apart."""
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
