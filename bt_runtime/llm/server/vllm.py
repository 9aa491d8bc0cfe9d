"""vLLM: grammars, probabilities, and a prompt that ends with the assistant's own words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.chat_server import LONGEST, ChatServer, Exchange, Scored
from bt_runtime.llm.server.flavour import Greeting
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.types import Grammar

TOP = 20  # probabilities of one place; it refuses more
_FORMS = {"json_schema": "json", "regex": "regex", "lark": "grammar"}
Row = tuple[str, float, dict[str, float]]  # a token, its log-probability, and those of what was likely there


class Vllm(ChatServer):
    flavour = "vllm"
    constrains = True
    refuses = frozenset()
    continues = True  # continues the assistant's own words (refused for gpt-oss)

    @classmethod
    def knows(cls, greeting: Greeting) -> bool:
        return any(row.get("owned_by") == "vllm" for row in greeting.models)

    def body(self, prompt: str) -> dict[str, Any]:
        body = super().body(prompt) | {"chat_template_kwargs": {"enable_thinking": False}}
        if self.continues and body["messages"][-1]["role"] == "assistant":
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        return body

    def sent(self, line: RequestLine, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None) -> Exchange:
        try:
            return super().sent(line, prompt, ask, most, schema)
        except Unanswered as fault:
            if fault.status != 400 or not self.continues or "continue_final_message" not in str(fault):
                raise
            self.continues = False
            return super().sent(line, prompt, ask, most, schema)

    def option(self, line: RequestLine, prompt: str, options: Sequence[str], sample: Mapping[str, Any]) -> Scored:
        ask = {**sample, "structured_outputs": {"choice": [*options]}, "logprobs": True, "top_logprobs": TOP}
        said = self.exchange(line, prompt, ask, LONGEST)
        if (found := said.text.strip()) not in options or said.thought:
            return Scored(said.text, thought=said.thought, cut=said.cut)
        return Scored(said.text, *_margin(options, [*options].index(found), _rows(said.answer)))

    def constrained(self, ask: dict[str, Any], grammar: Grammar) -> Any:
        kind = _FORMS[grammar.kind]
        ask["structured_outputs"] = {kind: super().constrained(ask, grammar) if kind == "json" else grammar.text}


def _rows(said: Mapping[str, Any]) -> list[Row]:
    """The tokens of an answer with the likely alternatives at each position; empty when the server does not report
    them."""
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


def _margin(options: Sequence[str], chosen: int, rows: Sequence[Row]) -> tuple[float, float]:
    """Returns the answer's log-probability, and its least lead over any path to another option."""
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
