"""Splits a text into words, numbers, strings and signs, and reports characters that no expression may contain."""

from __future__ import annotations

import re
from typing import NamedTuple

from bt_runtime.language.expression.error import BOUND, FOREIGN, SYNTAX, ExpressionError

LONGEST = 1_000  # characters of an expression
MOST_TOKENS = 300

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<name>[^\W\d]\w*)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<text>'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
    r"|(?P<foreign>[=!]==|=>|=<|<>|(?<![\w\])])[$!][^\W\d]\w*)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>()\[\]{},:.])"
    r"|(?P<bad>.)"
    r"|(?P<end>\Z))",
    re.DOTALL,
)
_WORD_SIGN = re.compile(r"\b(?:and|or|not|in|is|if|else)\Z")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}

# what people bring along from other languages
_OURS = {"===": "==", "!==": "!=", "=>": ">=", "=<": "<=", "<>": "!="}
_HINTS = {
    "=": "`==` compares; a value is given by `set`",
    "&": "write `and`",
    "|": "write `or`",
    "!": "`not a` negates, `a != b` compares",
    "?": "`this if condition else that` chooses",
    "^": "a power is written `**`",
    ";": "one expression, one value",
    "$": "a name is written without `$`",
    "`": "text is written in quotes",
    "@": "there is no such sign here",
    "~": "there is no such sign here",
    "\\": "a backslash has a place only inside quotes",
}


class Token(NamedTuple):
    kind: str  # name, number, text, sign, end
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    if len(text) > LONGEST:
        hint = f"at most {LONGEST:,} characters; `set` parts of it first"
        raise ExpressionError(BOUND, "this expression is too long", hint, LONGEST, LONGEST + 1)
    found: list[Token] = []
    at = 0
    while True:
        token, at = scan(text, at)
        found.append(token)
        if token.kind == "end":
            return found
        if len(found) > MOST_TOKENS:
            hint = f"at most {MOST_TOKENS} words and signs; `set` parts of it first"
            raise ExpressionError(BOUND, "this expression is too long", hint, token.start, token.end)


def scan(text: str, at: int) -> tuple[Token, int]:
    """Returns the next token and the position after it."""
    match = _TOKEN.match(text, at)
    assert match is not None  # the last two alternatives take whatever there is
    kind = match.lastgroup or "end"
    start, end = match.span(kind)
    if kind == "foreign":
        ours = _OURS.get(match[kind]) or ("not " if match[kind][0] == "!" else "") + match[kind][1:]
        message = f"`{match[kind]:.40}` has no place in an expression"
        raise ExpressionError(FOREIGN, message, f"write `{ours:.40}`", start, end)
    if kind == "bad":
        raise _unknown(text, start)
    if kind == "number" and text[end : end + 1].isidentifier():
        formatted = text[:start].rstrip().endswith(":")  # a format as in Python: {n:.2f}
        hint = "no formats here: `{round(n, 2)}`" if formatted else "put a space between"
        raise ExpressionError(SYNTAX, "a letter stands right after this number", hint, start, end + 1)
    if kind == "text" and _prefixed(text, start):
        hint = 'in a field, `"... {name} ..."` puts a value into a text'
        raise ExpressionError(FOREIGN, "a letter stands right before this text", hint, start - 1, start + 1)
    return Token(kind, match[kind], start, end), end


def _prefixed(text: str, start: int) -> bool:
    """True for a prefixed string such as `f"..."`; False for `x in"..."`."""
    before = text[max(0, start - 5) : start]
    return before[-1:].isidentifier() and not _WORD_SIGN.search(before)


def _unknown(text: str, start: int) -> ExpressionError:
    sign = text[start]
    if sign in "'\"":
        return ExpressionError(SYNTAX, "this quote is never closed", "add the closing quote", start, start + 1)
    if sign == "=" or sign in _HINTS:
        return ExpressionError(FOREIGN, f"`{sign}` has no place in an expression", _HINTS[sign], start, start + 1)
    shown = sign if sign.isprintable() else f"U+{ord(sign):04X}"
    return ExpressionError(SYNTAX, f"`{shown}` has no place in an expression", "delete it", start, start + 1)


def literal(token: Token) -> str:
    """Returns the text of a string token without its quotes."""

    def plain(match: re.Match[str]) -> str:
        known = _ESCAPES.get(match[1])
        if known is None:
            at = token.start + 1 + match.start()
            hint = "`\\\\`, `\\'`, `\\\"`, `\\n` and `\\t` are known"
            raise ExpressionError(SYNTAX, "no such escape", hint, at, at + 2)
        return known

    inside = token.text[1:-1]
    return _ESCAPE.sub(plain, inside) if "\\" in inside else inside
