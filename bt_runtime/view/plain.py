"""Any value as JSON of bounded size: what is shown of a blackboard entry, an event, a port."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from bt_runtime.types import Json

MOST_TEXT = 20_000  # characters of one text
MOST_PARTS = 400  # of one list or mapping
DEEPEST = 8


def plain(value: Any, depth: int = 0) -> Json:
    if value is None or isinstance(value, bool | int):
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)[:MOST_TEXT]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return clipped(value)
    if hasattr(value, "to_json"):
        return plain(value.to_json(), depth)
    if depth >= DEEPEST:
        return clipped(_said(value), 200)
    if isinstance(value, Mapping):
        few = islice(value.items(), MOST_PARTS)
        return {clipped(str(k), 200): plain(v, depth + 1) for k, v in few}
    if isinstance(value, list | tuple | set | frozenset):
        return _parts(value, depth)
    return clipped(_said(value), 2000)


def _parts(value: Iterable[Any], depth: int) -> list[Json]:
    found = [plain(v, depth + 1) for v in islice(value, MOST_PARTS)]
    left = len(value) - len(found)  # type: ignore[arg-type]  # all of these have a length
    return [*found, f"… {left} more"] if left else found


def clipped(text: str, most: int = MOST_TEXT) -> str:
    """Lone surrogates, which no UTF-8 can carry, become question marks."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return short if short.isascii() else short.encode("utf-8", "replace").decode("utf-8")


def _said(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}, whose repr broke: {type(error).__name__}>"
