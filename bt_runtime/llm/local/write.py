"""Writing: one token after another, under a grammar when there is one. Forced tokens are not sampled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.llm.decoding.grammar import SLICES, compile_for
from bt_runtime.llm.local.llama import Weights
from bt_runtime.llm.local.task import LocalTask, Run, TaskWork
from bt_runtime.types import Grammar, Question, Writing

_KEPT = 64  # grammars that stay compiled
_COLDEST = 1e-6  # a smaller temperature is zero in 32 bits, and nothing can be divided by it
_LIKELIEST = 1024  # tokens among which nearly always all are that `top_p` leaves
_SPARE = 32  # idle matchers of each
_REPORT = "this is a bug of bt_runtime or of llguidance: please report it, with the grammar"


def sample(row: Any, allowed: Any, how: Question, dice: np.random.Generator) -> int:
    """Samples a token. `allowed` holds token numbers, or None for all. Of equally likely tokens the first one is
    taken."""
    logits = row if allowed is None else row[allowed]
    at = int(np.argmax(logits))
    if how.temperature > 0:
        weights = np.exp((logits - logits[at]) / np.float32(max(how.temperature, _COLDEST)))
        weights[weights < how.min_p] = 0.0  # relative to the likeliest, whose weight is 1
        if 0 < how.top_k < len(weights):
            edge = np.partition(weights, -how.top_k)[-how.top_k]
            weights[weights < edge] = 0.0
        if how.top_p < 1.0:
            _cut_tail(weights, how.top_p * weights.sum())
        edges = np.cumsum(weights, dtype=np.float64)
        at = min(int(np.searchsorted(edges, dice.random() * edges[-1], side="right")), len(edges) - 1)
    return at if allowed is None else int(allowed[at])


def _cut_tail(weights: Any, share: Any) -> None:
    """Top-p sampling: keeps the likeliest tokens that together have this share. It sorts all tokens only when the first
    few do not suffice."""
    top = np.flatnonzero(weights)
    if len(top) > _LIKELIEST:
        some = np.flatnonzero(weights >= np.partition(weights, -_LIKELIEST)[-_LIKELIEST])
        top = some if weights[some].sum() > share * 1.0001 else top
    order = top[np.argsort(-weights[top], kind="stable")]
    ordered = weights[order]
    kept = order[np.cumsum(ordered) - ordered < share]
    held = weights[kept]
    weights[:] = 0.0
    weights[kept] = held


def pick(row: Any, matcher: Any, how: Question, dice: np.random.Generator) -> int:
    """Chooses the next token. When the grammar allows the greedy token, no mask is computed."""
    if matcher is None:
        return sample(row, None, how, dice)
    if how.temperature <= 0:
        likeliest = int(np.argmax(row))
        if matcher.validate_tokens([likeliest]) == 1:
            return likeliest
    return sample(row, allowed_tokens(matcher, len(row)), how, dice)


def closes_line(row: Any, matcher: Any, weights: Weights) -> bool:
    """True when the model would end its turn here, and a line break is all that the grammar still asks for. A chat
    model ends its turn at once after the last line; held back from that, it writes on at random."""
    if matcher is None or not weights.ends(int(np.argmax(row))) or matcher.is_accepting() or weights.newline < 0:
        return False
    after = matcher.deep_copy()
    return bool(after.consume_token(weights.newline) and after.is_accepting())


def allowed_tokens(matcher: Any, size: int) -> Any:
    """The token numbers that the grammar allows next."""
    bits = np.frombuffer(matcher.compute_bitmask(), np.uint8)
    allowed = np.flatnonzero(np.unpackbits(bits, count=min(size, 8 * len(bits)), bitorder="little").view(np.bool_))
    if not len(allowed):
        raise BtError(
            f"the grammar allows nothing here: {matcher.get_error() or matcher.stop_reason()}",
            "does the beginning of the answer fit the grammar?",
        )
    return allowed


class GrammarGuide:
    """Compiles grammars for one vocabulary with llguidance. Matchers are reused, because they cache what they
    computed."""

    def __init__(self, weights: Weights) -> None:
        with Extra("llm", "a grammar"):
            from llguidance.llamacpp import lltokenizer_from_vocab
        self._tokenizer = lltokenizer_from_vocab(weights.vocab, eos_token=weights.enders or None, slices=[*SLICES])
        self._idle: OrderedDict[Grammar, list[Any]] = OrderedDict()

    def start(self, grammar: Grammar) -> Any:
        """Returns a matcher at its initial state."""
        idle = self._idle.setdefault(grammar, [])
        self._idle.move_to_end(grammar)
        if len(self._idle) > _KEPT:
            self._idle.popitem(last=False)
        return idle.pop() if idle else compile_for(self._tokenizer, grammar)

    def done(self, grammar: Grammar, matcher: Any) -> None:
        idle = self._idle.get(grammar)
        if idle is not None and len(idle) < _SPARE and not matcher.is_error() and matcher.reset():
            idle.append(matcher)


class TextSoFar:
    """The bytes written so far, and when to stop."""

    def __init__(self, weights: Weights, stop: Sequence[str], most: int) -> None:
        self.weights, self.most = weights, most
        self.stop = [s.encode() for s in stop if s]
        self.ends = {weights.steers(s) for s in stop} - {-1}  # a control token has no bytes to look for
        self._longest = max(map(len, self.stop), default=0)
        self.tokens: list[int] = []
        self.data = bytearray()

    def add(self, token: int) -> bool:
        """True when a stop text has come; it and what follows are cut off."""
        piece = self.weights.piece(token)
        self.tokens.append(token)
        seen = max(0, len(self.data) - self._longest)
        self.data += piece
        found = [at for at in (self.data.find(s, seen) for s in self.stop) if at >= 0]
        if found:
            del self.data[min(found) :]
        return bool(found) or token in self.ends

    def written(self, ended: Any) -> Writing:
        return Writing(self.data.decode("utf-8", "replace"), ended, len(self.tokens))


def write(task: LocalTask, text: TextSoFar, how: Question, matcher: Any = None) -> Run:
    """The job of a text: computes the prompt, then generates tokens until the text ends."""
    dice = np.random.Generator(np.random.PCG64(how.seed))
    held: list[int] = []  # the token decided on when the row was there
    closing: list[bool] = []  # … and whether it is the last one

    def decide(_k: int, row: Any) -> None:
        closing.append(closes_line(row, matcher, text.weights))
        held.append(text.weights.newline if closing[-1] else pick(row, matcher, how, dice))

    forced = _forced(matcher)
    for token in forced:
        text.add(token)
    tokens = [*task.prompt[task.reused :], *forced]
    start = task.reused
    task.kept = text.tokens  # grows with the text; cut to what was run when the job ends
    while True:
        ended = _ended(text, matcher)
        if ended:
            return text.written(ended)
        if tokens:
            yield [TaskWork(tokens, start, (task.seq,), 1, decide)]
        else:
            decide(0, task.row)  # the whole prompt is in the cache, and what comes after it is known
        start += len(tokens)
        token = held.pop()
        if text.weights.ends(token):
            return text.written("grammar" if matcher is not None else "stop")
        tokens = [token]
        if text.add(token):
            return text.written("stop")
        if matcher is not None:
            if not matcher.consume_token(token):
                raise BtError(f"the grammar refused a token: {matcher.get_error()}", _REPORT)
            if closing[-1]:
                return text.written("grammar")
            tokens += _forced(matcher)
            if any(text.add(t) for t in tokens[1:]):
                return text.written("stop")


def _forced(matcher: Any) -> list[int]:
    """Returns the tokens that the grammar forces."""
    if matcher is None or matcher.is_stopped():
        return []
    forced: list[int] = matcher.compute_ff_tokens()
    if forced and not matcher.consume_tokens(forced):
        raise BtError(f"the grammar refused its own tokens: {matcher.get_error()}", _REPORT)
    return forced


def _ended(text: TextSoFar, matcher: Any) -> str:
    if matcher is not None and matcher.is_error():
        raise BtError(f"the grammar failed: {matcher.get_error()}", _REPORT)
    if matcher is not None and matcher.is_stopped():
        return "grammar"
    return "length" if len(text.tokens) >= text.most else ""
