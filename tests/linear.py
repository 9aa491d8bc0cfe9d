"""Texts that make a pattern or a reader work hard, and whether what it costs grows no faster than the text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from re import _constants as sre  # type: ignore[attr-defined]  # the parse tree of a pattern is told by these modules only
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MOST = 20_000
SMALL = (24, 160, 1_250)  # first: what is worse than quadratic would not come back from 20,000
HANGS, NOTHING, GROWTH = 0.25, 0.04, 40.0  # seconds at a small size; seconds at 20,000; times from 1,250 to 20,000
CLASSES = (" ", "\n", "\t", "\n ", "7", "a", "A", "aZ ", "1 ", "a, ", "_", '"', "'", "{", "}", "[", "(", ")", "<", "-")
CLASSES += (".", ",", ":", "*", "|", "\\", "`", "\u00a0", "\u2003", "\u0661", "\u00df", "{a", "a\n", "- a\n", "\x00")
PUMPS = (" ", "\n", "\n ", "7", "a", "a ", "1 ", "-", ",")


class Text(NamedTuple):
    """`before`, then as many of `pump` as asked for, then `after`."""

    before: str
    pump: str
    after: str

    def long(self, size: int) -> str:
        return self.before + self.pump * (size // len(self.pump)) + self.after


def plain() -> Iterator[Text]:
    """Each class of characters, alone and between two letters."""
    for each in CLASSES:
        yield Text("", each, "")
        yield Text("x", each, "y")


def for_pattern(pattern: str, flags: int) -> Iterator[Text]:
    """What leads to each loop of the pattern, the loop fed, and an end that it does not expect."""
    yield from plain()
    tree = parser.parse(pattern, flags)
    whole = _sample(tree)
    if whole:
        yield Text("", whole, "\x00")
        yield Text("", whole + " ", "\x00")
    for before, inside in _loops(list(tree), ""):
        for pump in sorted({*PUMPS, inside} - {""}):
            yield Text(before, pump, "\x00")
        if inside:
            yield Text(before, inside, "\x00" + whole)


def _loops(items: list[Any], before: str) -> Iterator[tuple[str, str]]:
    for op, value in items:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            if value[1] > 9:
                yield before, _sample(value[2])
            yield from _loops(list(value[2]), before)
        elif op is sre.SUBPATTERN:
            yield from _loops(list(value[3]), before)
        elif op is sre.ATOMIC_GROUP:
            yield from _loops(list(value), before)
        elif op is sre.BRANCH:
            for each in value[1]:
                yield from _loops(list(each), before)
        before += _one(op, value)


def _sample(tree: Any) -> str:
    """A short text that the pattern could match."""
    return "".join(_one(op, value) for op, value in tree)


def _one(op: Any, value: Any) -> str:
    if op is sre.LITERAL:
        return chr(value)
    if op is sre.NOT_LITERAL:
        return "b" if chr(value) == "a" else "a"
    if op is sre.ANY:
        return "a"
    if op is sre.IN:
        return _member(value)
    if op is sre.BRANCH:
        return _sample(value[1][0])
    if op is sre.SUBPATTERN:
        return _sample(value[3])
    if op is sre.ATOMIC_GROUP:
        return _sample(value)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _sample(value[2]) * value[0]
    return ""


def _member(choices: Any) -> str:
    tests = {sre.CATEGORY_DIGIT: str.isdigit, sre.CATEGORY_SPACE: str.isspace, sre.CATEGORY_NOT_SPACE: str.isalpha}
    negated = choices[0][0] is sre.NEGATE

    def holds(sign: str) -> bool:
        for op, value in choices:
            if (
                (op is sre.LITERAL and chr(value) == sign)
                or (op is sre.RANGE and value[0] <= ord(sign) <= value[1])
                or (op is sre.CATEGORY and tests.get(value, str.isalnum)(sign))
            ):
                return not negated
        return negated

    own = [chr(value if op is sre.LITERAL else value[0]) for op, value in choices if op in (sre.LITERAL, sre.RANGE)]
    return next((sign for sign in (*"a7 A.,_-\n\x07", *own) if holds(sign)), "")


def worst(run: Callable[[str], object], texts: Iterator[Text]) -> str:
    """A text at which `run` takes more than its length allows, in words; "" when there is none."""
    for text in texts:
        for size in SMALL:
            least = _seconds(run, text.long(size))
            if least > HANGS and (least := _least(run, text.long(size), 3)) > HANGS:
                return f"{text}: {least:.2f} s at {size:,} characters"
        if _seconds(run, text.long(MOST)) > NOTHING:
            at_most, at_small = _least(run, text.long(MOST), 3), _least(run, text.long(SMALL[-1]), 5)
            if at_most > NOTHING and at_most > GROWTH * at_small:
                return f"{text}: {at_most:.3f} s at {MOST:,} characters, {at_small:.5f} s at {SMALL[-1]:,}"
    return ""


def _seconds(run: Callable[[str], object], text: str) -> float:
    """Of this thread alone, so that a busy machine does not count."""
    began = time.thread_time()
    run(text)
    return time.thread_time() - began


def _least(run: Callable[[str], object], text: str, times: int) -> float:
    return min(_seconds(run, text) for _ in range(times))


def use(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method in ("sub", "subn"):
        return lambda text: pattern.sub("", text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, method)  # type: ignore[no-any-return]
