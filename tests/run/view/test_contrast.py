"""Every text of the pages stands out from what is behind it, in light and in dark: at least 4.5 to 1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bt_runtime.run import view

CSS = (Path(view.__file__).parent / "page" / "page.css").read_text("utf-8")
BEHIND = ("back", "soft", "control", "decorator", "skill", "agent", "part", "idle-back", "running-back", "success-back",
          "failure-back", "mark")  # fmt: skip


def colours(dark: bool) -> dict[str, str]:
    light, _, rest = CSS.partition("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light))
    return found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", rest.partition("\n}")[0])) if dark else found


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("behind", BEHIND)
def test_words_stand_out_from_what_is_behind_them(behind: str, dark: bool) -> None:
    found = colours(dark)
    words = ("text",) if behind == "mark" else ("text", "dim")
    assert {word: round(contrast(found[word], found[behind]), 1) for word in words
            if contrast(found[word], found[behind]) < 4.5} == {}  # fmt: skip
