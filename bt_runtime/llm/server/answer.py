"""Reads a server's answer as untrusted input: bounded before parsing, and checked for types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MOST_PARTS = 1_500_000  # values of one answer; each takes some 70 bytes, whatever few bytes say it
# how llama-server, vLLM and OpenAI, and Ollama say it
_TOO_LONG = ("exceeds the available context size", "maximum context length", "context_length_exceeded",
             "exceeds the context length", "exceed context window")  # fmt: skip
_MEASURE = re.compile(r"\((\d{1,9}) tokens\) exceeds the available context size \((\d{1,9}) tokens\)")  # llama-server
_REQUESTED = re.compile(r"maximum context length is (\d{1,9}) tokens[^\d]{1,30}you requested (\d{1,9}) tokens")
_SURE, _LEAST = 0.01, -1e300  # nats: above zero by a rounding; and what some servers say for never


class Unanswered(Exception):
    """Raised without a usable answer. `status` is None for an unreachable server.

    `again`: the question may be repeated, `after` that many seconds if the server says so."""

    def __init__(self, why: str, status: int | None = None, *, again: bool = False, after: float | None = None) -> None:
        super().__init__(why)
        self.status, self.again, self.after = status, again, after


def too_long(said: str) -> tuple[int, int] | None:
    """Returns the tokens of the prompt and of the context when a server refused a prompt as too long, 0 where it names
    none; None for another refusal."""
    if not any(words in said.lower() for words in _TOO_LONG):
        return None
    if (told := _MEASURE.search(said)) is not None:
        return int(told[1]), int(told[2])
    told = _REQUESTED.search(said)
    tokens, limit = (int(told[2]), int(told[1])) if told is not None else (0, 0)
    return (tokens, limit) if tokens > limit else (0, 0)


def parsed(raw: bytes, several: bool = False) -> dict[str, Any]:
    """Parses a JSON object, else raises ValueError. `several`: a JSON list is also accepted, and stored under this
    key."""
    if sum(raw.count(sign) for sign in (b",", b"[", b"{", b":")) > MOST_PARTS:
        raise ValueError(f"more than {MOST_PARTS} values")
    try:
        said = json.loads(raw, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except _NoNumber as fault:
        raise ValueError(str(fault)) from None
    except ValueError:
        raise ValueError("no JSON") from None
    if several and isinstance(said, list):
        said = {"several": said}
    if not isinstance(said, dict):
        raise ValueError(f"{type(said).__name__}, not an object")
    return said


class _NoNumber(ValueError):
    pass


def _no_number(word: str) -> float:
    raise _NoNumber(f"with {word}, which is not a number")


def entry(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The first object of a list, as in `choices`."""
    found = listed(said, name)
    if not found or not isinstance(found[0], dict):
        raise Unanswered(f"the answer's `{name}` has no object in it", 200)
    return found[0]


def listed(said: Mapping[str, Any], name: str) -> Sequence[Any]:
    found = said.get(name)
    if not isinstance(found, list):
        raise Unanswered(f"the answer's `{name}` is not a list", 200)
    return found


def text(said: Mapping[str, Any], name: str, most: int | None = None) -> str:
    """Returns a text field of the answer, cut to `most` characters."""
    found = said.get(name)
    if not isinstance(found, str):
        raise Unanswered(f"the answer's `{name}` is not a text", 200)
    return found[:most].encode("utf-8", "replace").decode("utf-8")  # a lone surrogate can be written nowhere


def whole(said: Mapping[str, Any], name: str, most: int = 1 << 31) -> int:
    found = said.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < most:
        raise Unanswered(f"the answer's `{name}` is not a number of a token", 200)
    return found


def logprob(said: Mapping[str, Any]) -> float:
    """Parses a log-probability: always a number and never above zero, as the search requires."""
    found = said.get("logprob")
    if isinstance(found, bool) or not isinstance(found, int | float) or not _LEAST <= found <= _SURE:
        raise Unanswered("the answer's `logprob` is not a log-probability", 200)
    return min(0.0, float(found))


def probability(said: Mapping[str, Any]) -> float:
    found = said.get("prob")
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1 + _SURE:
        raise Unanswered("the answer's `prob` is not a probability", 200)
    return float(found)


def figure(said: Any, name: str, most: int) -> int:
    """Parses a count that a server reports; 0 when it is missing or impossible."""
    found = said.get(name) if isinstance(said, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= most:
        return 0
    return int(found)


def vector(said: Any, name: str, most: int) -> list[float]:
    """Numbers, all finite."""
    found = said.get(name) if isinstance(said, dict) else None
    if not isinstance(found, list) or not 0 < len(found) <= most:
        raise Unanswered(f"the answer's `{name}` is not a list of numbers", 200)
    for value in found:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e30:
            raise Unanswered(f"the answer's `{name}` has something in it that is not a finite number", 200)
    return [float(value) for value in found]
