"""`python -m bt_author.edit.table PAGE`: writes the page's gestures as a table of the docs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_CODE = Path(__file__).parent / "page" / "editing.js"
_ROW = re.compile(r'^  (\w+): \["([^"]+)", "([^"]+)", .*, "([^"]+)"\],$', re.MULTILINE)
BEGIN, END = "<!-- gestures -->\n", "<!-- end of gestures -->\n"


class Gesture(NamedTuple):
    name: str
    title: str
    key: str
    about: str


def gestures() -> Iterator[Gesture]:
    yield from (Gesture(*found) for found in _ROW.findall(_CODE.read_text(encoding="utf-8")))


def table() -> str:
    rows = [f"| {g.title} | `{g.key}` | {g.about} |" for g in gestures()]
    return "\n".join(["| gesture | key | what it does |", "|---|---|---|", *rows]) + "\n"


def written(page: str) -> str:
    """Returns the docs page with the current table."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
