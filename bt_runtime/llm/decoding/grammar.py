"""Compiles and checks grammars for answers; `plans.py` writes those of plans. Grammars are built from data, never
from a person's or a model's text. A grammar that does not compile is an error and never becomes free text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.types import Grammar

LETTER = r"[A-Za-z0-9_'.,()\- ]"
SPACE = r"[ \n\r\t]{0,16}"  # between the parts of JSON: a small model would go on with it until it is cut off
# Sets of tokens whose place inside a text llguidance works out once, not at every token.
SLICES = (LETTER + "{1,10}", LETTER + "{1,30}", r'[^"\\\x00-\x1F\x7F]{1,10}', r'[^"\\\x00-\x1F\x7F]{1,30}')


def check(grammar: Grammar) -> None:
    """Raises a BtError when it cannot be compiled."""
    _compiled(grammar)


def accepts(grammar: Grammar, text: str) -> bool:
    """True when the whole text matches the grammar. Every answer is checked, whoever gave it."""
    matcher = _compiled(grammar).deep_copy()
    tokens = [*text.encode("utf-8", "surrogatepass")]
    return bool(matcher.consume_tokens(tokens) and matcher.is_accepting()) if tokens else bool(matcher.is_accepting())


@lru_cache(maxsize=64)
def _compiled(grammar: Grammar) -> Any:
    """Compiles a grammar to a matcher over bytes, so that a text can be checked without any model's vocabulary."""
    return compile_for(_bytes(), grammar)


@lru_cache(maxsize=1)
def _bytes() -> Any:
    return _library().LLTokenizer("byte")


def compile_for(tokenizer: Any, grammar: Grammar) -> Any:
    """Returns a matcher for a model's tokenizer. Raises BtError when the grammar does not compile: free text never
    replaces it."""
    maker = _library().LLMatcher
    make = {
        "lark": maker.grammar_from_lark,
        "json_schema": partial(maker.grammar_from_json_schema, defaults={"whitespace_pattern": SPACE}),
        "regex": maker.grammar_from_regex,
    }.get(grammar.kind)
    if make is None:
        raise BtError(f"no grammar of kind {grammar.kind!r}", "lark, json_schema or regex")
    if not grammar.text.strip():
        raise BtError("an empty grammar allows nothing", "give it a rule: `start: /[a-z]+/`")
    try:
        matcher = maker(tokenizer, make(grammar.text), log_level=0)
    except ValueError as fault:
        raise BtError(
            f"the grammar cannot be read: {fault}", "it is written in Lark's notation, and begins at `start`"
        ) from fault
    if matcher.is_error():
        raise BtError(
            f"the grammar cannot be compiled: {matcher.get_error().strip().splitlines()[0]}",
            "it is written in Lark's notation, and begins at `start`",
        )
    return matcher


def _library() -> Any:
    with Extra("llm", "a grammar"):
        import llguidance
    return llguidance


def literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def any_of(texts: Sequence[str]) -> str:
    return " | ".join(literal(text) for text in dict.fromkeys(texts))
