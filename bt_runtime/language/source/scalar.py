"""Converts plain words to values by YAML 1.2's core schema: `on`, `yes` and `012` have no special meaning."""

from __future__ import annotations

from bt_runtime.types import Json

WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}
# A text that begins otherwise is a string, whatever follows: one look-up for most scalars.
STARTS = frozenset("+-.0123456789")
_REAL = "0123456789+-.eE"
_BASES = {"0o": (8, "01234567"), "0x": (16, "0123456789abcdefABCDEF")}
LONGEST_NUMBER = 64  # characters; also far below where Python refuses to convert

TAGS: dict[str, tuple[type, ...]] = {
    "tag:yaml.org,2002:null": (type(None),),
    "tag:yaml.org,2002:bool": (bool,),
    "tag:yaml.org,2002:int": (int,),
    "tag:yaml.org,2002:float": (float, int),
}
STRING_TAGS = ("!", "tag:yaml.org,2002:str")


class TooLarge(ValueError):
    """Raised for a number that does not fit a float."""


def resolve(text: str) -> Json:
    """The value of a plain scalar."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in STARTS:
        return text
    # no regular expressions: to compile them takes longer than to read a small file
    if not text.strip(_REAL):
        return _real(text)
    base, digits = _BASES.get(text[:2], (0, ""))
    if base and len(text) > 2 and not text[2:].strip(digits):
        return _short(text, int(text[2:], base) if len(text) <= LONGEST_NUMBER else None)
    return text


def _real(text: str) -> Json:
    digits = text[1:] if text[0] in "+-" else text
    if digits.isdigit():
        return _short(text, int(text) if len(text) <= LONGEST_NUMBER else None)
    try:
        number = float(text)  # Python and YAML read these characters as the same number
    except ValueError:
        return text
    return _short(text, None if number in (float("inf"), float("-inf")) else number)


def _short(text: str, number: Json) -> Json:
    if number is None:
        raise TooLarge(text)
    return number


def tagged(tag: str, text: str) -> Json:
    """Converts a scalar with one of YAML's own tags. Raises LookupError for another tag, ValueError for a value that
    does not fit."""
    if tag in STRING_TAGS:
        return text
    kinds = TAGS[tag]
    value = resolve(text)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(text)
    return float(text) if kinds[0] is float else value
