"""Plain words to values by the core schema of YAML 1.2: `on`, `yes`, `012` mean what they look like."""

from __future__ import annotations

import re

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
LONGEST_NUMBER = 64  # characters; also far below where Python refuses to convert

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

TAGS: dict[str, tuple[type, ...]] = {
    "tag:yaml.org,2002:null": (type(None),),
    "tag:yaml.org,2002:bool": (bool,),
    "tag:yaml.org,2002:int": (int,),
    "tag:yaml.org,2002:float": (float, int),
}
STRING_TAGS = ("!", "tag:yaml.org,2002:str")


class TooLarge(ValueError):
    """A number that no computer number can hold."""


def resolve(text: str) -> Json:
    """The value of a plain scalar."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in STARTS:
        return text
    if _INT.fullmatch(text):
        if len(text) > LONGEST_NUMBER:
            raise TooLarge(text)
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise TooLarge(text)
        return number
    return text


def tagged(tag: str, text: str) -> Json:
    """The value of a scalar with a tag of YAML's own. Raises LookupError for any other, ValueError for a misfit."""
    if tag in STRING_TAGS:
        return text
    kinds = TAGS[tag]
    value = resolve(text)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(text)
    return float(text) if kinds[0] is float else value
