"""Ordinary words that made-up names are drawn from (words.yaml)."""

from __future__ import annotations

from recipes.starter.data import read

_WORDS = read("words")
LOOKS, STUFFS, THINGS = (tuple(_WORDS[sort].split()) for sort in ("looks", "stuffs", "things"))
