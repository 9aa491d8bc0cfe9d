"""Servers that take messages and tell no tokens: vLLM, Ollama, and whatever speaks OpenAI's protocol.

They are asked for one option as a structured answer, and what they answer is looked up; for plans, a grammar goes along
where they read one. Nothing is believed: `endpoint.py` reads every answer again.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import answer
from bt_runtime.llm.answer import Unanswered
from bt_runtime.llm.chat import Chat
from bt_runtime.llm.choice import combine
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.llm.request import Line
from bt_runtime.llm.served_chat import ROLES, messages
from bt_runtime.types import Choice, Grammar, Question

TRIES = 3  # how often an answer that is not in order is asked for
LIKE = 0.8  # how near to an option an answer has to be
LONGEST = 64  # tokens of an option
TOP = 20  # probabilities of one place; more are refused by OpenAI and vLLM
USUAL_CONTEXT = 8192  # of an Ollama that nobody told: its own is 4,096, and it drops what is longer without a word
TOKEN_BYTES = 32  # of a token's text, on the average of an answer: a longer answer is cut off there
_NO_CHAT = frozenset({400, 404, 405, 422, 501})
Flavour = Literal["openai", "vllm", "ollama"]


class ChatServer:
    """`chat`: the roles of a prompt's parts; None for a model that goes on with a bare text."""

    def __init__(self, flavour: Flavour, name: str, context: int, asked_again: Callable[[], None]) -> None:
        self.flavour, self.name, self.context, self.asked_again = flavour, name, context, asked_again
        self.chat: Chat | None = None
        self.forms = [_strict, _loose]  # of a structured answer, in which it is asked: those that it has not refused
        self.able = ("asked and checked",)
        self.writes = "asked and checked"

    def open(self, line: Line, chat: bool | None) -> None:
        """Does it take messages? Asked by one that wants one token; Ollama always does."""
        if chat is None and self.flavour != "ollama":
            try:
                hello = [{"role": "user", "content": "Hello"}]
                line.post("/v1/chat/completions", {"model": self.name, "messages": hello, "max_tokens": 1})
            except Unanswered as fault:
                if fault.status not in _NO_CHAT:
                    raise
                chat = False
        self.chat = None if chat is False else ROLES

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
            found, rows = self._option(line, question.prompt + (hint if told else ""), stripped, sample)
            said, told = found.strip(), True
            like = [said] if said in stripped else difflib.get_close_matches(said, stripped, 1, LIKE)
            if like:
                index = stripped.index(like[0])
                logprob, margin = _margin(stripped, index, rows) if said == like[0] else (math.nan, math.nan)
                return Choice(options[index], index, logprob, margin)
            self.asked_again()
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

    def _option(
        self, line: Line, prompt: str, options: Sequence[str], sample: Mapping[str, Any]
    ) -> tuple[str, Sequence[Any]]:
        """What it says, and the probabilities of its tokens where it tells them."""
        if self.flavour == "vllm":
            ask = {**sample, "structured_outputs": {"choice": [*options]}, "logprobs": True, "top_logprobs": TOP}
            said, text, _ = self._said(line, prompt, ask, LONGEST)
            return text, _rows(said)
        schema = {"type": "object", "properties": {"choice": {"enum": [*options]}}, "required": ["choice"]}
        stop = {} if self.forms and self.chat else {"stop": ["\n"]}
        _, text, _ = self._said(line, prompt, {**sample, **stop}, LONGEST, schema if self.chat else None)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return text, ()
        return str(found.get("choice", text)) if isinstance(found, dict) else text, ()

    # writing

    def write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> tuple[Any, ...]:
        """What it said, the object with the text, its name there, and whether it was cut."""
        prompt = ask.pop("prompt")
        schema = json.loads(grammar.text) if grammar is not None and grammar.kind == "json_schema" else None
        if grammar is not None and self.flavour == "vllm":
            kind = {"json_schema": "json", "regex": "regex", "lark": "grammar"}[grammar.kind]
            ask["structured_outputs"], schema = {kind: schema if kind == "json" else grammar.text}, None
        said, text, cut = self._said(line, prompt, ask, most, schema)
        return said, {"text": text}, "text", cut, len(prompt)

    def _said(
        self, line: Line, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None
    ) -> tuple[dict[str, Any], str, bool]:
        """The answer, its text, and whether it was cut at `most` tokens."""
        if self.flavour == "ollama":
            return self._ollama(line, prompt, ask, most, schema)
        body: dict[str, Any] = {"model": self.name, "max_tokens": most, **self._known(ask)}
        if self.chat is None:
            said = line.post("/v1/completions", {**body, "prompt": prompt})
            entry = answer.entry(said, "choices")
            return said, answer.text(entry, "text", 4 * most * TOKEN_BYTES), entry.get("finish_reason") == "length"
        body["messages"] = messages(prompt)
        if self.flavour == "vllm":
            body["chat_template_kwargs"] = {"enable_thinking": False}
            if body["messages"][-1]["role"] == "assistant":
                body |= {"continue_final_message": True, "add_generation_prompt": False}
        said = self._structured(line, body, schema)
        entry = answer.entry(said, "choices")
        message = entry.get("message")
        if not isinstance(message, dict):
            raise Unanswered("the answer's `message` is not an object", 200)
        text = answer.text({"text": message.get("content") or ""}, "text", 4 * most * TOKEN_BYTES)
        return said, text, entry.get("finish_reason") == "length"

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

    def _known(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """OpenAI refuses what it does not know; vLLM knows these."""
        own = {"min_p", "top_k", "structured_outputs"} - ({*ask} if self.flavour == "vllm" else set())
        return {name: value for name, value in ask.items() if name not in own and value not in ([], None)}

    def _ollama(
        self, line: Line, prompt: str, ask: Mapping[str, Any], most: int, schema: Any
    ) -> tuple[dict[str, Any], str, bool]:
        options = {name: value for name, value in ask.items() if value not in ([], None)}
        options |= {"num_predict": most, "num_ctx": self.context or USUAL_CONTEXT}
        # it would leave out the oldest without a word; versions that know no such field go on doing so
        whole = {"truncate": False, "shift": False}
        body: dict[str, Any] = {"model": self.name, "stream": False, "options": options, **whole}
        if schema is not None:
            body["format"] = schema
        if self.chat is None:
            said = line.post("/api/generate", {**body, "prompt": prompt, "raw": True})
            text = answer.text(said, "response", 4 * most * TOKEN_BYTES)
        else:
            said = line.post("/api/chat", {**body, "messages": messages(prompt), "think": False})
            message = said.get("message")
            if not isinstance(message, dict):
                raise Unanswered("the answer's `message` is not an object", 200)
            text = answer.text(message, "content", 4 * most * TOKEN_BYTES)
        told = {"prompt_tokens": said.get("prompt_eval_count"), "completion_tokens": said.get("eval_count")}
        return {**said, "usage": told}, text, said.get("done_reason") == "length"


def _strict(schema: Any) -> dict[str, Any]:
    """As OpenAI has it."""
    form = {"name": "answer", "schema": {**schema, "additionalProperties": False}, "strict": True}
    return {"type": "json_schema", "json_schema": form}


def _loose(schema: Any) -> dict[str, Any]:
    """As llama-cpp-python's server has it."""
    return {"type": "json_object", "schema": {**schema, "additionalProperties": False}}


def _rows(said: Mapping[str, Any]) -> list[tuple[str, float, dict[str, float]]]:
    """The tokens of an answer with what was likely at each place; nothing where they are not told."""
    entry = answer.entry(said, "choices")
    told = entry.get("logprobs")
    content = told.get("content") if isinstance(told, dict) else None
    rows = []
    for one in content if isinstance(content, list) else ():
        top = one.get("top_logprobs") if isinstance(one, dict) else None
        if not isinstance(top, list) or not all(isinstance(other, dict) for other in top):
            return []
        likely = {answer.text(other, "token"): answer.logprob(other) for other in top}
        rows.append((answer.text(one, "token"), answer.logprob(one), likely))
    return rows


def _margin(options: Sequence[str], chosen: int, rows: Sequence[Any]) -> tuple[float, float]:
    """The answer's log-probability, and how far it is at least ahead of every way that leads to another option."""
    total, bound, said = 0.0, -math.inf, ""
    for text, logprob, likely in rows:
        if len(said) >= len(options[chosen]):
            break
        others = [o for i, o in enumerate(options) if i != chosen and o.startswith(said)]
        others = [o for o in others if not o.startswith(said + text.lstrip() if not said else said + text)]
        for other, value in likely.items():
            if other != text and any(o.startswith((said + other).lstrip()) for o in others):
                bound = max(bound, total + value)
        if others:
            bound = max(bound, total + min(likely.values(), default=0.0))
        total += logprob
        said = (said + text).lstrip()
    if not rows or not said.startswith(options[chosen]):
        return math.nan, math.nan
    return total, total - bound
