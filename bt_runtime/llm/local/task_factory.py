"""Turns a worker's requests into tasks for its batch: checked, tokenised, some with a second part."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.llm import picture
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.decoding.choice import check_apart, combine, ended
from bt_runtime.llm.decoding.grammar import accepts
from bt_runtime.llm.decoding.token_boundary import BoundaryFinder
from bt_runtime.llm.local.branches import choose
from bt_runtime.llm.local.header import ModelHeader, read_header
from bt_runtime.llm.local.llama import Weights
from bt_runtime.llm.local.task import LocalTask, Run
from bt_runtime.llm.local.write import GrammarGuide, TextSoFar, write
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Choice, Grammar, Question, Writing

if TYPE_CHECKING:
    from bt_runtime.llm.local.projector import Projector

_MOST_EXTRA = 4096  # cells that the branches of one choice may take
_PROMPTS = 32  # prompts whose tokens are remembered


def _marks(header: ModelHeader) -> bool:
    """True when the model's template separates turns by tokens of the vocabulary."""
    template = header.chat_template or ""
    return "eos_token" in template or any(marker in template for marker in header.markers)


def _as_it_is(text: str) -> str:
    return text


class TaskFactory:
    def __init__(
        self, weights: Weights, room: int, settings: WorkerSettings, limit: int, projector: Projector | None = None
    ) -> None:
        """Creates a factory. `room`: cells for one job. `limit`: tokens of the longest prompt with its answer."""
        self.projector = projector
        self.weights, self.room, self.settings, self.limit = weights, room, settings, limit
        # what a chat template puts between the messages are control tokens; in any other prompt they stay letters
        self.special = settings.chat and read_header(settings.model).chat_template is not None
        header = read_header(settings.model) if self.special else None
        self.harmless = Chat({}, header.markers).harmless if header is not None else _as_it_is
        # a chat model that ends its turns by a token of their own may end an option by it, too
        self.enders = weights.enders if header is not None and _marks(header) else []
        self.boundaries = BoundaryFinder(weights.tokens, lambda token: weights.piece(token) if token >= 0 else b"")
        self.following: dict[int, Callable[[Choice], Choice | LocalTask]] = {}  # job → what makes its second part
        self.prompts: OrderedDict[str, list[int]] = OrderedDict()
        self._guide: Future[GrammarGuide] | None = None

    def prepare(self) -> None:
        """Builds the tables of the vocabulary in the background, because a large one takes seconds."""
        made = self._guide = Future[GrammarGuide]()

        def build() -> None:
            try:
                made.set_result(GrammarGuide(self.weights))
            except BaseException as fault:
                made.set_exception(fault)

        threading.Thread(target=build, name="tables", daemon=True).start()

    def guide(self) -> GrammarGuide:
        """Returns the guide; its tables were started when the model was loaded."""
        if self._guide is None:
            self.prepare()
        assert self._guide is not None
        return self._guide.result()

    def task(self, id: int, question: Question) -> LocalTask:
        """Raises a BtError where the order cannot be carried out."""
        make = {"choose": self.choice, "decide": self.decision, "write": self.writing}[question.kind]
        task = make(id, question)
        self._check_length(task)
        return task

    def forget(self, id: int) -> None:
        self.following.pop(id, None)
        if self.projector is not None:
            self.projector.release(id)

    def follow(self, id: int, value: Any) -> Any:
        """The task of the second part after a job's first part, or the value unchanged."""
        then = self.following.pop(id, None)
        found = value if then is None else then(value)
        if not isinstance(found, LocalTask):
            self.forget(id)
        return found

    def _check_length(self, task: LocalTask) -> None:
        longest = self.limit - 1
        if len(task.prompt) > longest:
            raise TooLong(
                f"a prompt of {len(task.prompt)} tokens; {Path(self.settings.model).name} is open for {self.limit}",
                f"shorten the prompt to {longest} tokens, or open the model with a longer `context`",
                len(task.prompt) + 1,
                self.limit,
            )

    def choice(self, id: int, question: Question, end: str | None = None) -> LocalTask:
        options, mode, end = question.options, question.mode, self.settings.terminator if end is None else end
        tokens = self._prompt(id, question)
        boundary = self.boundaries.join(tokens, ended([*map(self.harmless, options)], end))
        trie, longest = boundary.trie, boundary.trie.longest[0]
        if mode == "scores":
            check_apart(options, trie)
        if len(boundary.prompt) + longest > self.limit:
            raise TooLong(
                f"the prompt has {len(tokens)} tokens and the longest option {longest}, the context {self.limit}",
                f"shorten the prompt to {self.limit - longest} tokens, or open the model with a longer `context`",
                len(boundary.prompt) + longest,
                self.limit,
            )
        extra = max(longest, min(len(trie) + 64, _MOST_EXTRA, self.room - len(boundary.prompt)))
        ending = (self.weights.newline, *self.enders) if end == "\n" and self.enders else ()
        width, normalise = self.settings.width, question.normalise
        return LocalTask(
            id,
            boundary.prompt,
            extra,
            lambda task, batch: choose(task, batch, trie, options, mode, width, normalise, ending),
        )

    def decision(self, id: int, question: Question) -> LocalTask:
        """Decides a move and its argument in one task, without a round trip to the tick's process between them."""

        def follow(move: Choice) -> Choice | LocalTask:
            before, options = question.before(move.text), question.moves[move.text]
            if not options:
                return move._replace(index=before)
            self.following[id] = lambda choice: combine(move, choice, before)
            return self.choice(id, question._replace(prompt=question.prompt + move.text, options=options))

        self.following[id] = follow
        return self.choice(id, question._replace(options=tuple(question.moves)), end="")

    def writing(self, id: int, question: Question) -> LocalTask:
        grammar = question.grammar
        matcher = self.guide().start(grammar) if grammar is not None else None
        tokens = self._prompt(id, question)
        extra = max(1, min(question.max_tokens, self.limit - len(tokens)))
        text = TextSoFar(self.weights, question.stop, extra)
        # forced tokens come in bunches: the last may go beyond the limit, never beyond the room
        return LocalTask(
            id,
            tokens,
            extra + 64,
            lambda task, _: self._checked(write(task, text, question, matcher), grammar, matcher),
        )

    def _checked(self, run: Run, grammar: Grammar | None, matcher: Any) -> Run:
        """Checks the finished answer against the grammar again, as text: token masks alone are not trusted."""
        written: Writing = yield from run
        if grammar is not None:
            self.guide().done(grammar, matcher)
            if written.ended == "grammar" and not accepts(grammar, written.text):
                raise BtError(
                    "the model's answer is not in the language of its grammar", "ask again, or report this grammar"
                )
        return written

    def _prompt(self, id: int, question: Question) -> list[int]:
        """Returns the tokens of a question's prompt; each mark becomes what stands for its picture."""
        if not question.pictures or self.projector is None:
            return self._tokens(question.prompt)
        files = {Path(file).stem: file for file in question.pictures}
        text, *rest = picture.parts(question.prompt, files)
        tokens = [*self.weights.tokens(text, begin=True, special=self.special)]
        for digest, after in zip(rest[::2], rest[1::2], strict=True):
            tokens += self.projector.tokens(id, files[digest])
            tokens += self.weights.tokens(after, special=self.special) if after else ()
        return tokens

    def _tokens(self, prompt: str) -> list[int]:
        """Returns a prompt's tokens; caches recent ones, because a step asks about one prompt several times."""
        known = self.prompts.get(prompt)
        if known is None:
            known = self.prompts[prompt] = self.weights.tokens(prompt, begin=True, special=self.special)
            if len(self.prompts) > _PROMPTS:
                self.prompts.popitem(last=False)
        if not known:
            raise BtError("the prompt is empty", "give it some text")
        return known
