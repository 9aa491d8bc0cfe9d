"""Formulas of linear temporal logic: nested tuples, a parser of their text, and their negation normal form.

parse("G(holding -> F placed)")    # ("R", ("false",), ("or", ("not atom", "holding"), ("U", …, ("atom", "placed"))))
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError

Formula = tuple[Any, ...]
TRUE: Formula = ("true",)
FALSE: Formula = ("false",)
MOST = 400  # parts of one formula
_BINARY = (  # weakest first; each with the direction in which it associates
    (re.compile(r"<->|<=>"), "iff"),
    (re.compile(r"->|=>"), "implies"),
    (re.compile(r"\|\|?|\bor\b"), "or"),
    (re.compile(r"&&?|\band\b"), "and"),
    (re.compile(r"\bU\b"), "U"),
    (re.compile(r"\bW\b"), "W"),
    (re.compile(r"\bR\b"), "R"),
)
_PREFIX = re.compile(r"\s*(?:(?P<unary>[GFX])(?=[\s(]|[GFX]\b)|(?P<not>!(?!=)|\bnot\b))")
_TEMPORAL = re.compile(r"\b[GFXUWR]\b|->|=>|<->|<=>|&&?|\|\|?|!(?!=)")
_OPEN, _CLOSE = "([{", ")]}"


def atom(text: str) -> Formula:
    return ("atom", " ".join(text.split()))


def negated(formula: Formula) -> Formula:
    return normal(("not", formula))


def always(formula: Formula) -> Formula:
    return ("R", FALSE, formula)


def eventually(formula: Formula) -> Formula:
    return ("U", TRUE, formula)


def weak_until(left: Formula, right: Formula) -> Formula:
    """A formula: `left` holds until `right` does, or for ever."""
    return ("R", right, ("or", left, right))


def normal(formula: Formula, negate: bool = False) -> Formula:
    """The formula with `not` only before atoms, made of and, or, X, U and R."""
    word, *of = formula
    match word:
        case "true" | "false":
            return TRUE if (word == "true") is not negate else FALSE
        case "atom" | "not atom":
            return ("not atom" if (word == "atom") is negate else "atom", of[0])
        case "not":
            return normal(of[0], not negate)
        case "implies":
            return normal(("or", ("not", of[0]), of[1]), negate)
        case "iff":
            return normal(("or", ("and", *of), ("and", ("not", of[0]), ("not", of[1]))), negate)
        case "F":
            return normal(eventually(of[0]), negate)
        case "G":
            return normal(always(of[0]), negate)
        case "W":
            return normal(weak_until(*of), negate)
        case "X":
            return ("X", normal(of[0], negate))
        case "and" | "or":
            return _joined("or" if (word == "or") is not negate else "and", [normal(each, negate) for each in of])
        case "U" | "R":
            return ("U" if (word == "U") is not negate else "R", normal(of[0], negate), normal(of[1], negate))
    raise ValueError(f"no formula: {formula!r}")


def _joined(word: str, parts: list[Formula]) -> Formula:
    neutral, final = (FALSE, TRUE) if word == "or" else (TRUE, FALSE)
    if final in parts:
        return final
    left = [part for part in dict.fromkeys(parts) if part != neutral]
    if not left:
        return neutral
    made = left[0]
    for part in left[1:]:
        made = (word, made, part)
    return made


def atoms(formula: Formula) -> Iterator[str]:
    """Yields the texts of the atoms, repeated ones included."""
    if formula[0] in ("atom", "not atom"):
        yield formula[1]
        return
    for part in formula[1:]:
        yield from atoms(part)


def size(formula: Formula) -> int:
    return 1 + sum(size(part) for part in formula[1:] if isinstance(part, tuple))


def parse(text: str) -> Formula:
    """Reads a formula: G, F, X, U, W, R, `->`, `and`, `or`, `not` around expressions. Raises BtError."""
    made = _parse(text)
    if size(made) > MOST:
        raise BtError(f"the formula has more than {MOST} parts", "write it as several properties")
    return made


def _parse(text: str) -> Formula:
    if not text.strip():
        raise BtError("an expression is missing in the formula", "such as `G(low -> F docked)`")
    if not _TEMPORAL.search(_bare(text)):
        return atom(_unwrapped(text))
    for sign, word in _BINARY:
        halves = _split(text, sign)
        if halves is not None:
            left, right = halves
            return (word, _parse(left), _parse(right))
    prefix = _PREFIX.match(text)
    if prefix is not None:
        rest = _parse(text[prefix.end() :])
        return ("not", rest) if prefix["not"] else (prefix["unary"], rest)
    inner = _unwrapped(text)
    if inner == text.strip():
        raise BtError(f"`{text.strip():.60}` is no formula", "put brackets around each part: `G(low -> F docked)`")
    return _parse(inner)


def _bare(text: str) -> str:
    """Replaces texts in quotes by blanks."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: " " * len(found[0]), text)


def _split(text: str, sign: re.Pattern[str]) -> tuple[str, str] | None:
    """Splits a text at the first such sign outside brackets and quotes; None without one."""
    bare, depth = _bare(text), 0
    starts = {found.start(): found for found in sign.finditer(bare)}
    for at, char in enumerate(bare):
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth < 0:
            raise BtError(f"a bracket is closed that was never opened: `{text.strip():.60}`", "count the brackets")
        found = starts.get(at)
        if depth == 0 and found is not None and not (at and bare[at - 1] == "<" and found[0] in ("->", "=>")):
            return text[:at], text[found.end() :]
    if depth:
        raise BtError(f"a bracket is not closed: `{text.strip():.60}`", "count the brackets")
    return None


def _unwrapped(text: str) -> str:
    """Removes brackets around the whole text."""
    found = text.strip()
    while found.startswith("(") and found.endswith(")"):
        depth = 0
        for at, char in enumerate(_bare(found)):
            depth += (char in _OPEN) - (char in _CLOSE)
            if depth == 0 and at < len(found) - 1:
                return found
        found = found[1:-1].strip()
    return found
