"""`btr view prompt --scores`: shows how likely a model finds each option of a question, token by token."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from bt_runtime.agents.scoring import NEUTRAL, neutral
from bt_runtime.cli.terminal import json_text
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.llm.chat.chat import chat_of
from bt_runtime.types import Json, Model

TOP = 10  # options of each place that are shown token by token
WAIT = 600.0
_WORDS = re.compile(r"\S+")


class Piece(NamedTuple):
    text: str
    probability: float


class OptionRow(NamedTuple):
    """An option. `end`: the log-probability of ending there, by a line break or the end of a turn; None for a move."""

    option: str
    score: float
    pieces: tuple[Piece, ...]
    end: float | None
    prior: float
    merged: int  # tokens of the prompt's end that are others before this option
    broken: bool  # held a mark of the template, which was broken up


class AnswerPlace(NamedTuple):
    """One position in the answer, with the options that the model chooses from there."""

    opening: str
    rows: tuple[OptionRow, ...]
    left_out: int


def show(kind: str, prompt: str, offered: Any, named: str | None, as_json: bool) -> None:
    if kind == "write" or not offered:
        raise BtError("this question has no options to score: it is answered in free words", "choose another --step")
    from bt_runtime.llm import open_model

    with open_model(named) as model:
        places = list(scored(model, prompt, offered))
    if as_json:
        print(json_text([_plain(place) for place in places], indent=2))
        return
    print("\n".join(line for place in places for line in lines(place)))


def scored(model: Model, prompt: str, offered: Any) -> Iterator[AnswerPlace]:
    """Scores the moves, where there are several, and the options of each; the likeliest first."""
    moves = offered if isinstance(offered, Mapping) else {"": offered}
    if "" not in moves:
        yield _place(model, prompt, "", [*moves], ends=False)
    for move, options in moves.items():
        if options:
            yield _place(model, prompt, move, options)


def _place(model: Model, prompt: str, move: str, options: Sequence[str], ends: bool = True) -> AnswerPlace:
    before = prompt + move
    opening = move or (prompt.rpartition("\n")[2] if ends else "")
    asked = [*dict.fromkeys(option if ends else f"{option} " for option in options)]
    scores = _scores(model, before, asked)
    first = sorted(asked, key=lambda option: -scores[option])[:TOP]
    told = _pieces(model, before, [option.rstrip(" ") for option in first])
    prefixes = {p for option in first for p in _prefixes(told[option.rstrip(" ")][0])}
    parts = _scores(model, before, sorted(f"{prefix} " for prefix in prefixes))
    chat = chat_of(model)
    priors = _scores(model, neutral(opening).text(chat), first)
    rows = []
    for option in first:
        (pieces, merged), ended = told[option.rstrip(" ")], not option.endswith(" ")
        sums = [0.0, *(parts[f"{prefix} "] for prefix in _prefixes(pieces))]
        end = math.exp(min(0.0, scores[option] - sums[-1])) if ended else None
        shares = [Piece(p, math.exp(min(0.0, b - a))) for p, a, b in zip(pieces, sums, sums[1:], strict=False)]
        broken = chat is not None and not isinstance(chat, str) and chat.harmless(option) != option
        rows.append(OptionRow(option.rstrip(" "), scores[option], tuple(shares), end, priors[option], merged, broken))
    return AnswerPlace(opening, tuple(rows), len(asked) - len(first))


def _scores(model: Model, prompt: str, options: Sequence[str]) -> dict[str, float]:
    choice = model.choose(prompt, options, mode="scores").wait(WAIT)
    if choice.scores is None:
        raise BtError("this model tells no log-probabilities", "name a local file, or a llama-server")
    return dict(zip(options, choice.scores, strict=True))


def _prefixes(pieces: Sequence[str]) -> list[str]:
    return ["".join(pieces[: n + 1]) for n in range(len(pieces))]


def _pieces(model: Model, before: str, options: Sequence[str]) -> dict[str, tuple[list[str], int]]:
    """Returns the texts of each option's tokens; blank tokens are joined with the next one. A server that reveals no
    tokens gives words."""
    file = getattr(model.settings, "model", None)
    if file is None:
        return {option: (_worded(option), 0) for option in options}
    from bt_runtime.llm.local.tokenizer import tokens_of_each

    chat = model.chat_template is not None
    alone, *whole = tokens_of_each(file, [before, *(before + option for option in options)], chat)
    found = {}
    for option, tokens in zip(options, whole, strict=True):
        same = next((n for n, (a, b) in enumerate(zip(alone, tokens, strict=False)) if a != b), len(alone))
        text = "".join(token.text for token in tokens[same:])
        pieces = _joined([token.text for token in tokens[same:]]) if text == option else _worded(option)
        found[option] = pieces, len(alone) - same
    return found


def _joined(pieces: Sequence[str]) -> list[str]:
    found: list[str] = []
    for piece in pieces:
        if found and not found[-1].strip():
            found[-1] += piece
        else:
            found.append(piece)
    return found


def lines(place: AnswerPlace) -> Iterator[str]:
    yield f"{visible(place.opening) or 'moves'}"
    yield "     sum    mean   prior  sum - prior/2"
    for row in place.rows:
        count = len(row.pieces) + (row.end is not None)
        figures = (row.score, row.score / count, row.prior, row.score - row.prior / 2)
        tokens = " ".join(f"{visible(repr(piece.text))} {piece.probability:.3g}" for piece in row.pieces)
        end = "" if row.end is None else f" | end {row.end:.3g}"
        notes = [f"{row.merged} tokens of the prompt's end are others before it"] if row.merged else []
        notes += ["a sign of the template in it was broken up"] if row.broken else []
        columns = "".join(f"{figure:8.2f}" for figure in figures)
        yield "; ".join([f"{columns}       {tokens}{end}", *notes])
    if place.left_out:
        yield f"         and {place.left_out} less likely ones"
    yield f"         prior: behind {NEUTRAL.strip()!r}"


def _plain(place: AnswerPlace) -> dict[str, Json]:
    rows: list[Json] = [{**row._asdict(), "pieces": [piece._asdict() for piece in row.pieces]} for row in place.rows]
    return {"opening": place.opening, "options": rows, "left_out": place.left_out}


def _worded(text: str) -> list[str]:
    """Splits a text into words, each with the blanks before it."""
    ends = [0, *(found.end() for found in _WORDS.finditer(text))]
    return [text[begin:end] for begin, end in pairwise(ends)]
