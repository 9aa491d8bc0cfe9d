"""Describes to a model the values that it may answer, constrains its output, and parses it. Pure functions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bt_runtime.agents.autoplan import line_grammar
from bt_runtime.language.outputs import FARTHEST, Output, chosen, said, schema
from bt_runtime.types import Choice, Grammar, Json

YES, NO = "yes", "no"
MOST_MARGIN = 100.0  # nats: nothing else can be told apart from impossible
_DIGITS = 6  # digits of a probability in the journal


class Odds(NamedTuple):
    """The chosen value, and the probability of every option."""

    index: int  # type: ignore[assignment]  # as in `Choice`
    shares: tuple[float, ...]  # share of each choice; their sum is 1
    margin: float


class NodeAnswer(NamedTuple):
    value: Json
    text: str  # the choice in the model's words
    odds: Mapping[str, float] | None = None  # choice's text → odds; None: the answer was written


def choices_of(output: Output) -> dict[str, Json]:
    """The options of an output by their text; empty when the model writes the value freely."""
    if not chosen(output):
        return {}
    if output.choices:
        return {said(choice): choice for choice in output.choices}
    if output.type == "boolean":
        return {YES: True, NO: False}
    low, high = bounds(output)
    return {str(number): number for number in range(low, high + 1)}


def bounds(output: Output, scale: int = 1) -> tuple[int, int]:
    """Returns the least and the greatest allowed value, in units of 1/scale."""
    low = -FARTHEST if output.minimum is None else output.minimum
    high = FARTHEST if output.maximum is None else output.maximum
    return math.ceil(low * scale - 1e-9), math.floor(high * scale + 1e-9)


def described(output: Output) -> str:
    """Returns an output's line in the instructions."""
    return f"{output.name}: {_form(output)}" + (f" ({output.about})" if output.about else "")


def _form(output: Output) -> str:
    if output.choices:
        return f"one of {', '.join(choices_of(output))}"
    if output.type == "boolean":
        return f"{YES} or {NO}"
    if output.type == "list" and output.items is not None:
        return f"a JSON list, each of it {_form(output.items)}"
    if output.type == "object":
        return "a JSON object with " + ", ".join(f'"{field.name}" ({_form(field)})' for field in output.fields)
    if output.type == "string":
        return "one line of text"
    kind = "a whole number" if output.type == "integer" else f"a number with {output.decimals} decimals"
    low, high = output.minimum, output.maximum
    if low is not None and high is not None:
        return f"{kind} from {low:g} to {high:g}"
    return kind + (f", {low:g} or more" if low is not None else f", at most {high:g}" if high is not None else "")


def spoken(output: Output, value: Json) -> str:
    """A known answer as the model would say it: for examples."""
    if output.choices:
        return said(value)
    if output.type == "boolean":
        return YES if value else NO
    if output.type == "number":
        return f"{value:.{output.decimals}f}"
    return json.dumps(value, ensure_ascii=False) if output.type in ("list", "object") else str(value)


# What is written ---------------------------------------------------------------------------------


def grammar_of(output: Output) -> Grammar:
    """The grammar of a value after `name:` up to the end of the line, or of a JSON text."""
    if output.type in ("list", "object"):
        return Grammar("json_schema", json.dumps(schema(output)))
    if output.type == "string":
        return Grammar(
            "regex", f"{line_grammar(output.max_length).text.removesuffix(chr(92) + 'n')}\\n?".replace(" ", " ?", 1)
        )
    if output.type == "integer":
        low, high = bounds(output)
        return Grammar("regex", f" ?{_signed(low, high, lambda a, b: _between(a, b))}\\n?")
    scale = 10**output.decimals
    low, high = bounds(output, scale)
    return Grammar("regex", f" ?{_signed(low, high, lambda a, b: _decimal(a, b, output.decimals))}\\n?")


def read(output: Output, text: str) -> Json:
    """Parses a written value."""
    if output.type == "string":
        return " ".join(text.split())
    value: Json = json.loads(text.strip())
    return float(value) if output.type == "number" else value


def _signed(low: int, high: int, between: object) -> str:
    assert callable(between)
    parts = [f"-{between(max(1, -high), -low)}"] if low < 0 else []
    parts += [between(max(0, low), high)] if high >= 0 else []
    return _either(parts)


def _between(low: int, high: int) -> str:
    """A pattern for the whole numbers from `low` to `high`, none negative, without leading zeros."""
    parts = []
    while len(str(low)) < len(str(high)):
        end = 10 ** len(str(low)) - 1
        parts.append(_same_length(str(low), str(end)))
        low = end + 1
    return _either([*parts, _same_length(str(low), str(high))])


def _decimal(low: int, high: int, places: int) -> str:
    """A pattern for decimal numbers: bounds are in units of the last decimal place."""
    scale = 10**places
    (first, least), (last, most) = divmod(low, scale), divmod(high, scale)
    if first == last:
        return f"{first}[.]{_same_length(f'{least:0{places}}', f'{most:0{places}}')}"
    parts = [f"{first}[.]{_same_length(f'{least:0{places}}', '9' * places)}"]
    if last - first > 1:
        parts.append(f"{_between(first + 1, last - 1)}[.][0-9]{{{places}}}")
    return _either([*parts, f"{last}[.]{_same_length('0' * places, f'{most:0{places}}')}"])


def _same_length(low: str, high: str) -> str:
    """A pattern for the digit strings from `low` to `high`, which have the same length."""
    if not low:
        return ""
    if low[0] == high[0]:
        return low[0] + _same_length(low[1:], high[1:])
    rest = len(low) - 1
    if not int(low[1:] or 0) and high[1:] == "9" * rest:
        return f"[{low[0]}-{high[0]}]" + (f"[0-9]{{{rest}}}" if rest else "")
    parts = [low[0] + _same_length(low[1:], "9" * rest)]
    if int(high[0]) - int(low[0]) > 1:
        parts.append(f"[{int(low[0]) + 1}-{int(high[0]) - 1}]" + (f"[0-9]{{{rest}}}" if rest else ""))
    return _either([*parts, high[0] + _same_length("0" * rest, high[1:])])


def _either(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({'|'.join(parts)})"


# What it comes to --------------------------------------------------------------------------------


def odds_of(choice: Choice, count: int) -> Odds:
    """The probabilities of one choice; a model without scores counts as certain of its choice."""
    if choice.scores is None:
        margin = MOST_MARGIN if math.isnan(choice.margin) else min(choice.margin, MOST_MARGIN)
        return Odds(choice.index, tuple(float(i == choice.index) for i in range(count)), margin)
    top = max(choice.scores)
    weights = [math.exp(score - top) for score in choice.scores]
    return odds_from([weight / sum(weights) for weight in weights])


def odds_from(shares: Sequence[float]) -> Odds:
    index = max(range(len(shares)), key=lambda i: (shares[i], -i))
    second = max((share for i, share in enumerate(shares) if i != index), default=0.0)
    margin = math.log(shares[index] / second) if second > 0 else MOST_MARGIN
    return Odds(index, tuple(shares), min(margin, MOST_MARGIN))


def settled(votes: Sequence[NodeAnswer], choices: Mapping[str, Json]) -> tuple[NodeAnswer, float | None]:
    """Combines several votes into one answer and its lead. Options: the summed probabilities decide; free text: the
    most frequent answer, the first of equals."""
    if not choices and len(votes) == 1:
        return votes[0], None
    texts = [*choices] if choices else [*dict.fromkeys(vote.text for vote in votes)]
    shares = [sum((vote.odds or {vote.text: 1.0}).get(text, 0.0) for vote in votes) / len(votes) for text in texts]
    odds = odds_from(shares)
    text = texts[odds.index]
    value = choices[text] if choices else next(vote.value for vote in votes if vote.text == text)
    told = {each: round(share, _DIGITS) for each, share in zip(texts, odds.shares, strict=True)}
    return NodeAnswer(value, text, told), odds.margin
