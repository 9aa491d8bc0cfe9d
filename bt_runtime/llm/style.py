"""How the next token is taken."""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """Temperature 0 takes the likeliest token; otherwise the seed decides, whatever else is in the batch."""

    temperature: float = 0.0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
