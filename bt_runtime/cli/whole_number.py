"""Whole numbers as arguments of commands."""

from __future__ import annotations

import argparse
from typing import Any


def at_least(least: int) -> Any:
    """Returns a `type` for argparse: whole numbers from this one on."""

    def whole(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        return number

    whole.__name__ = "whole number"  # what argparse calls it when the text is no number
    return whole
