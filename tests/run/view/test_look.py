"""The pages have one look: one table of colours, spacings and letters from one scale, as docs/editing.md says."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest

from bt_runtime.run import view

ROOT = Path(__file__).parents[3]
FOLDERS = (Path(view.__file__).parent / "page", ROOT / "packages" / "author" / "bt_author" / "edit" / "page")
FILES = {path.name: path.read_text("utf-8") for path in chain(*(folder.iterdir() for folder in FOLDERS))}
SHEETS = {name: text for name, text in FILES.items() if name.endswith(".css")}
SPACES = {0, 1, 2, 3, 4, 6, 8, 10, 12, 20, 40}
LETTERS = {11, 12, 13, 14, 15}
ROUND = {2, 3, 5, 8, 12}
MOST_LINES = 400


def rules(name: str) -> str:
    """A style sheet without the tables of colours, and without what is drawn in pictures."""
    text = SHEETS[name]
    if name == "page.css":
        text = text.partition("\n* {")[2]
    return "\n".join(line for line in text.splitlines() if not line.startswith((".box", ".ground", ".token")))


def pixels(name: str, properties: str) -> set[float]:
    found = re.findall(rf"(?<![\w-])(?:{properties})\s*:\s*([^;}}]+)", rules(name))
    return {abs(float(each)) for value in found for each in re.findall(r"(-?[\d.]+)px", value)}


@pytest.mark.parametrize("name", sorted(SHEETS))
def test_spacings_letters_and_corners_are_of_the_scale(name: str) -> None:
    """A page whose spacings are nearly alike looks careless."""
    assert pixels(name, r"(?:padding|margin)(?:-\w+)?|(?:row-|column-)?gap") <= SPACES
    assert pixels(name, "font|font-size") <= LETTERS | {18.0}  # 18: the height of a line of code
    assert pixels(name, "border-radius") <= ROUND


def test_colours_stand_in_one_table() -> None:
    """Light and dark name the same colours, and no other place names any."""
    light, _, rest = SHEETS["page.css"].partition("@media (prefers-color-scheme: dark)")
    dark = rest.partition("\n}")[0]
    named = [set(re.findall(r"--([\w-]+):", each)) for each in (light, dark)]
    assert named[0] - named[1] == {"shade", "veil"}
    colour = re.compile(r"#[0-9a-fA-F]{3,8}\b(?![\w-])|\brgba?\(|\bhsla?\(")
    others = {name: rules(name) for name in SHEETS} | {n: t for n, t in FILES.items() if n.endswith((".js", ".html"))}
    assert {name: found for name, text in others.items() if (found := colour.findall(text))} == {}


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.endswith(".js")))
def test_no_script_is_longer_than_can_be_read(name: str) -> None:
    assert len(FILES[name].splitlines()) <= MOST_LINES
