"""Decides whether to write colours: --color, then NO_COLOR, then whether the output is a terminal."""

from __future__ import annotations

import argparse
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

RED, GREEN, YELLOW, BLUE, BOLD, DIM, PLAIN = (f"\x1b[{n}m" for n in (31, 32, 33, 34, 1, 2, 0))


def add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        help="when to use colours [BTR_COLOR; NO_COLOR turns them off; default: auto]",
    )


def painted(stream: TextIO, asked: str | None = None) -> bool:
    """True when output is coloured: a flag or BTR_COLOR decides; else NO_COLOR forbids it, and a capable terminal
    allows it."""
    wish = asked or os.environ.get("BTR_COLOR") or "auto"
    if wish in ("always", "never"):
        return wish == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
