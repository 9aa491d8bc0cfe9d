"""A server that takes messages and returns no tokens: any that speaks OpenAI's protocol; the base class of other
flavours. It chooses one option by a structured answer, which is then looked up. `endpoint.py` checks every answer."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.decoding.choice import combine
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.flavour import Flavour, Greeting, Setup, Written
from bt_runtime.llm.server.http import SAID
from bt_runtime.llm.server.request import Line
from bt_runtime.llm.server.served_chat import ROLES, messages
from bt_runtime.types import Choice, Grammar, Question

TRIES = 3  # how often an answer that is not in order is asked for
LIKE = 0.8  # how near to an option an answer has to be
LONGEST = 64  # tokens of an option
TOKEN_BYTES = 32  # of a token's text, on the average of an answer: a longer answer is cut off there
_NO_CHAT = frozenset({400, 404, 405, 422, 501})
_NAMED = 8  # models of a server that a fault names


class Exchange(NamedTuple):
    answer: Mapping[str, Any]  # with OpenAI's `usage`
    text: str
    cut: bool  # at the most tokens that were asked for


class Scored(NamedTuple):
    """A server's answer with its likelihoods, for an answer that is one of the options."""

    text: str
    logprob: float = math.nan
    margin: float = math.nan


class ChatServer(Flavour):
    """The base of the flavours. A subclass defines which servers it `knows`, and overrides what its server does
    differently."""

    flavour = "openai"
    refuses: frozenset[str] = frozenset({"min_p", "top_k"})  # sampling that the server would not take

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.forms = [_strict, _loose]  # of a structured answer, in which it is asked: those that it has not refused

    @classmethod
    def knows(cls, greeting: Greeting) -> bool:
        """Returns False: this flavour is the fallback when no other knows the server."""
        return False

    def open(self, line: Line, greeting: Greeting) -> None:
        self.name = self._listed(line, greeting)
        chat = self.setup.chat
        self.chat = ROLES if chat or (chat is None and self.takes_messages(line)) else None

    def takes_messages(self, line: Line) -> bool:
        """Asks for one token, to find out whether the server accepts messages."""
        hello = [{"role": "user", "content": "Hello"}]
        try:
            line.post("/v1/chat/completions", {"model": self.name, "messages": hello, "max_tokens": 1})
        except Unanswered as fault:
            if fault.status not in _NO_CHAT:
                raise
            return False
        return True

    def _listed(self, line: Line, greeting: Greeting) -> str:
        """Checks that the server has the named model. Without a name the server must have exactly one."""
        address, name = line.server.address, self.name
        names = [line.server.quoted(str(row.get("id", "")), SAID) for row in greeting.models]
        listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        if not name and len(names) > 1:
            raise BtError(
                f"{address} has {len(names)} models: {listed}", f"name one: `model: {{server: {address}, name: …}}`"
            )
        if name and names and not {name, f"{name}:latest"} & {*names}:
            raise BtError(f"{address} has no model `{name}`; it has {listed}", "name one of these")
        return name or (names[0] if names else "")

    # choosing

    def choose(self, line: Line, question: Question) -> Choice:
        if question.mode == "scores":
            raise BtError(
                f"{line.server.address} {NO_SCORES} of all options",
                "ask for another mode, or use a llama-server or a local model",
            )
        options, stripped = question.options, [option.strip() for option in question.options]
        hint = "\n(Answer with one of these, and nothing else: " + "; ".join(stripped) + ")\n"
        said, told = "", False
        for attempt in range(TRIES):
            sample = {"temperature": 0.0 if attempt == 0 else 0.7, "seed": attempt}
            found = self.option(line, question.prompt + (hint if told else ""), stripped, sample)
            said, told = found.text.strip(), True
            like = [said] if said in stripped else difflib.get_close_matches(said, stripped, 1, LIKE)
            if like:
                index = stripped.index(like[0])
                told_of = found if said == like[0] else Scored(said)
                return Choice(options[index], index, told_of.logprob, told_of.margin)
            self.setup.asked_again()
        raise BtError(
            f"{line.server.address} chose none of the {len(options)} options in {TRIES} tries; "
            f"last: {line.server.quoted(repr(said))}",
            "a larger model, or a llama-server, which is asked for probabilities",
        )

    def decide(self, line: Line, question: Question) -> Choice:
        move = self.choose(line, question._replace(options=tuple(question.moves)))
        before, options = question.before(move.text), question.moves[move.text]
        if not options:
            return Choice(move.text, before, move.logprob, move.margin)
        then = self.choose(line, question._replace(prompt=question.prompt + move.text, options=options))
        return combine(move, then, before)

    def option(self, line: Line, prompt: str, options: Sequence[str], sample: Mapping[str, Any]) -> Scored:
        """Asks for one of the options as an object of a schema, and repeats after an invalid answer."""
        schema = {"type": "object", "properties": {"choice": {"enum": [*options]}}, "required": ["choice"]}
        stop = {} if self.forms and self.chat else {"stop": ["\n"]}
        _, text, _ = self.exchange(line, prompt, {**sample, **stop}, LONGEST, schema if self.chat else None)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return Scored(text)
        return Scored(str(found.get("choice", text)) if isinstance(found, dict) else text)

    # writing

    def write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> Written:
        prompt = ask.pop("prompt")
        schema = self.constrained(ask, grammar) if grammar is not None else None
        said, text, cut = self.exchange(line, prompt, ask, most, schema)
        return Written(said, {"text": text}, "text", cut, len(prompt))

    def constrained(self, ask: dict[str, Any], grammar: Grammar) -> Any:
        """Puts into `ask` what the server knows of the grammar, or gives the JSON schema to ask with, or None."""
        return json.loads(grammar.text) if grammar.kind == "json_schema" else None

    def exchange(self, line: Line, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None) -> Exchange:
        """Sends one request to continue a prompt by at most `most` tokens."""
        kept = {name: value for name, value in ask.items() if name not in self.refuses and value not in ([], None)}
        body: dict[str, Any] = {"model": self.name, "max_tokens": most, **kept}
        if self.chat is None:
            said = line.post("/v1/completions", {**body, "prompt": prompt})
            entry = answer.entry(said, "choices")
            return Exchange(said, answer.text(entry, "text", longest(most)), entry.get("finish_reason") == "length")
        said = self._structured(line, body | self.body(prompt), schema)
        entry = answer.entry(said, "choices")
        message = entry.get("message")
        if not isinstance(message, dict):
            raise Unanswered("the answer's `message` is not an object", 200)
        text = answer.text({"text": message.get("content") or ""}, "text", longest(most))
        return Exchange(said, text, entry.get("finish_reason") == "length")

    def body(self, prompt: str) -> dict[str, Any]:
        """Puts the prompt into the body of a chat request."""
        return {"messages": messages(prompt)}

    def _structured(self, line: Line, body: dict[str, Any], schema: Any) -> dict[str, Any]:
        while schema is not None and self.forms:
            form = self.forms[0]
            try:
                return line.post("/v1/chat/completions", {**body, "response_format": form(schema)})
            except Unanswered as fault:
                refused = fault.status in (400, 422) or (fault.status == 500 and "response_format" in str(fault))
                if not refused or answer.too_long(str(fault)) is not None:
                    raise
                self.forms = [other for other in self.forms if other is not form]  # without any it is asked in words
        return line.post("/v1/chat/completions", body)


def longest(most: int) -> int:
    """Returns the most bytes that a text of so many tokens can have."""
    return 4 * most * TOKEN_BYTES


def _strict(schema: Any) -> dict[str, Any]:
    """Returns a schema in OpenAI's request format."""
    form = {"name": "answer", "schema": {**schema, "additionalProperties": False}, "strict": True}
    return {"type": "json_schema", "json_schema": form}


def _loose(schema: Any) -> dict[str, Any]:
    """Returns a schema in the request format of llama-cpp-python's server."""
    return {"type": "json_object", "schema": {**schema, "additionalProperties": False}}
