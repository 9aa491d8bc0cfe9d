"""A server that takes messages and returns no tokens: any that speaks OpenAI's protocol; the base class of other
flavours. It chooses one option by a structured answer, which is then looked up. `endpoint.py` checks every answer."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.decoding.choice import combine
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.llm.server import answer, thought
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.flavour import Flavour, Greeting, ServerText, Setup
from bt_runtime.llm.server.http import SAID
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.llm.server.served_chat import ROLES, messages
from bt_runtime.types import Choice, Grammar, Question

TRIES = 3  # how often an answer that is not in order is asked for
LIKE = 0.8  # how near to an option an answer has to be
LONGEST = 64  # tokens of an option
TOKEN_BYTES = 32  # average bytes of a token's text: a longer answer is cut off
_NO_CHAT = frozenset({400, 404, 405, 422, 501})
_NAMED = 8  # models of a server that a fault names


class Exchange(NamedTuple):
    answer: Mapping[str, Any]  # in OpenAI's form, with `usage`
    text: str
    cut: bool  # at the most tokens that were asked for
    thought: str = ""
    thinks: bool = False


class Scored(NamedTuple):
    """A server's answer with its likelihoods, for an answer that is one of the options."""

    text: str
    logprob: float = math.nan
    margin: float = math.nan
    thought: str = ""
    cut: bool = False


class ChatServer(Flavour):
    """The base of the flavours. A subclass defines which servers it `knows`, and overrides what its server does
    differently."""

    flavour = "openai"
    refuses: frozenset[str] = frozenset({"min_p", "top_k"})  # sampling that the server would not take

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.thinks = False  # true once an answer showed that the model thinks first
        self.efforts = ["reasoning_effort"] if setup.effort else []  # fields that it has not refused
        self.forms = [_strict, _loose]  # forms of structured answers that the server has not refused

    @classmethod
    def knows(cls, greeting: Greeting) -> bool:
        """Returns False: this flavour is the fallback when no other knows the server."""
        return False

    def open(self, line: RequestLine, greeting: Greeting) -> None:
        self.name = self._listed(line, greeting)
        chat = self.setup.chat
        self.chat = ROLES if chat or (chat is None and self.takes_messages(line)) else None

    def takes_messages(self, line: RequestLine) -> bool:
        """Asks for one token, to find out whether the server accepts messages."""
        hello = [{"role": "user", "content": "Hello"}]
        try:
            line.post("/v1/chat/completions", {"model": self.name, "messages": hello, "max_tokens": 1})
        except Unanswered as fault:
            if fault.status not in _NO_CHAT:
                raise
            return False
        return True

    def _listed(self, line: RequestLine, greeting: Greeting) -> str:
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

    def choose(self, line: RequestLine, question: Question) -> Choice:
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
            if found.cut and said not in stripped:
                self.thinks = True  # perhaps in the open, without a mark: the next try has room for it
            like = [said] if said in stripped else difflib.get_close_matches(said, stripped, 1, LIKE)
            if like:
                index = stripped.index(like[0])
                told_of = found if said == like[0] else Scored(said)
                return Choice(options[index], index, told_of.logprob, told_of.margin, thought=found.thought)
            self.setup.asked_again()
        raise BtError(
            f"{line.server.address} chose none of the {len(options)} options in {TRIES} tries; "
            f"last: {line.server.quoted(repr(said))}",
            "a larger model, or a llama-server, which is asked for probabilities",
        )

    def decide(self, line: RequestLine, question: Question) -> Choice:
        move = self.choose(line, question._replace(options=tuple(question.moves)))
        before, options = question.before(move.text), question.moves[move.text]
        if not options:
            return move._replace(index=before)
        then = self.choose(line, question._replace(prompt=question.prompt + move.text, options=options))
        thoughts = "\n".join(filter(None, (move.thought, then.thought)))
        return combine(move, then, before)._replace(thought=thoughts)

    def option(self, line: RequestLine, prompt: str, options: Sequence[str], sample: Mapping[str, Any]) -> Scored:
        """Asks for one of the options as an object of a schema, and repeats after an invalid answer."""
        schema = {"type": "object", "properties": {"choice": {"enum": [*options]}}, "required": ["choice"]}
        stop = {} if self.forms and self.chat else {"stop": ["\n"]}
        said = self.exchange(line, prompt, {**sample, **stop}, LONGEST, schema if self.chat else None)
        text = said.text
        with suppress(ValueError, RecursionError):
            found = json.loads(text)
            text = str(found.get("choice", text)) if isinstance(found, dict) else text
        return Scored(text, thought=said.thought, cut=said.cut)

    # writing

    def write(self, line: RequestLine, ask: dict[str, Any], grammar: Grammar | None, most: int) -> ServerText:
        prompt = ask.pop("prompt")
        schema = self.constrained(ask, grammar) if grammar is not None else None
        said = self.exchange(line, prompt, ask, most, schema)
        return ServerText(said.answer, {"text": said.text}, "text", said.cut, len(prompt), said.thought)

    def constrained(self, ask: dict[str, Any], grammar: Grammar) -> Any:
        """Puts into `ask` what the server knows of the grammar, or gives the JSON schema to ask with, or None."""
        return json.loads(grammar.text) if grammar.kind == "json_schema" else None

    def exchange(
        self, line: RequestLine, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None
    ) -> Exchange:
        """Continues a prompt by at most `most` tokens. A model that turns out to think is asked again, unless it has
        answered: with tokens to think for, and without texts that would end its thought."""
        known = self.thinks
        found = (
            self._thoughtful(line, prompt, ask, most, schema) if known else self.sent(line, prompt, ask, most, schema)
        )
        if found.thinks and not known:
            self.thinks = True
            if found.cut or not found.text.strip():
                found = self._thoughtful(line, prompt, ask, most, schema)
        return found

    def _thoughtful(self, line: RequestLine, prompt: str, ask: Mapping[str, Any], most: int, schema: Any) -> Exchange:
        stops = ask.get("stop") or ()
        found = self.sent(line, prompt, {**ask, "stop": []}, most + self.setup.think_tokens, schema)
        text = found.text.lstrip() if stops and found.thinks else found.text
        text, stopped = thought.stopped(text, [stops] if isinstance(stops, str) else stops)
        return found._replace(text=text, cut=found.cut and not stopped)

    def sent(self, line: RequestLine, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None) -> Exchange:
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
        return Exchange(said, *parts(message, text, entry.get("finish_reason") == "length"))

    def body(self, prompt: str) -> dict[str, Any]:
        """Puts the prompt into the body of a chat request."""
        return {"messages": messages(prompt)}

    def _structured(self, line: RequestLine, body: dict[str, Any], schema: Any) -> dict[str, Any]:
        while self.thinks and self.efforts:
            try:
                return self._formed(line, body | {self.efforts[0]: self.setup.effort}, schema)
            except Unanswered as fault:
                if fault.status not in (400, 422) or self.efforts[0] not in str(fault):
                    raise
                self.efforts = []
        return self._formed(line, body, schema)

    def _formed(self, line: RequestLine, body: dict[str, Any], schema: Any) -> dict[str, Any]:
        while schema is not None and self.forms:
            form = self.forms[0]
            try:
                return line.post("/v1/chat/completions", {**body, "response_format": form(schema)})
            except Unanswered as fault:
                refused = fault.status in (400, 422) or (fault.status == 500 and "response_format" in str(fault))
                other = any(field in str(fault) for field in self.efforts)  # another field is refused
                if not refused or other or answer.too_long(str(fault)) is not None:
                    raise
                self.forms = [each for each in self.forms if each is not form]  # with none left: in words
        return line.post("/v1/chat/completions", body)


def parts(message: Mapping[str, Any], text: str, cut: bool) -> tuple[str, bool, str, bool]:
    """The rest of an `Exchange`: the answer, whether it is cut, the thought, and whether there is one."""
    found = thought.parted(message, text)
    return found.answer, cut, found.thought[: longest(thought.TOKENS)], found.thinks


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
