"""The explanation of each fault code, with a wrong and a right example: a Markdown page each, beside this file."""

from __future__ import annotations

import re
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean

_PAGES = Path(__file__).parent


def codes() -> list[str]:
    """Returns every code that has a page, in order."""
    return sorted(page.stem for page in _PAGES.glob("BT*.md"))


def page(code: str) -> str:
    """Returns the page of a code in any clear spelling: `BT012`, `bt12`, `12`."""
    number = re.fullmatch(r"\s*(?:bt)?-?0*([0-9]{1,3})\s*", code, re.IGNORECASE)
    wanted = f"BT{int(number[1]):03}" if number else code.strip().upper()
    known = codes()
    if wanted not in known:
        hint = did_you_mean(wanted, known, f"codes run from {known[0]} to {known[-1]}")
        raise BtError(f"there is no fault `{code.strip()[:40]}`", hint)
    return (_PAGES / f"{wanted}.md").read_text(encoding="utf-8")


def title(code: str) -> str:
    """The title of a code's page."""
    return page(code).partition("\n")[0].partition(": ")[2]


def handbook() -> str:
    """Returns all pages as one text, for docs/faults.md."""
    rows = "\n".join(f"| [{code}](#{code.lower()}) | {title(code)} |" for code in codes())
    # a heading of the code alone gives each page an anchor that does not change with its title
    bodies = [re.sub(r"^# (BT\d+): (.*)", r"## \1\n\n**\2**", page(code)).rstrip() for code in codes()]
    return f"{_HEAD}\n| code | what it says |\n|---|---|\n{rows}\n\n" + "\n\n".join(bodies) + "\n"


_HEAD = """\
# Faults

Every fault has a code, a place and a way out. `btr explain BT006` shows the page of one; here are all.
This page is made by `python -m bt_runtime.language.faults.explain > docs/faults.md`.
"""
