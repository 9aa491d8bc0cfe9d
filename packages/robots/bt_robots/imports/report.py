"""Reports what became of each part of the source, with its place: nothing is dropped silently."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError

State = Literal["same", "changed", "aside", "lost"]


class Place(NamedTuple):
    file: str
    line: int
    column: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def fault(place: Place, message: str, hint: str = "") -> BtError:
    return BtError(f"{place}: {message}", hint)


class CannotSay(Exception):
    """A part of the source has no words here; the text says why."""


class ReportRow(NamedTuple):
    place: Place
    what: str  # `<Sequence>`, or `_skipIf` of one
    state: State  # the same meaning; another one, or a guess; no meaning for a tick; not at all
    became: str  # what the node became, and why


class Report:
    def __init__(self) -> None:
        self.rows: list[ReportRow] = []

    def add(self, place: Place, what: str, state: State, became: str) -> None:
        self.rows.append(ReportRow(place, what, state, became))

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(row.state for row in self.rows))

    @property
    def lost(self) -> list[ReportRow]:
        return [row for row in self.rows if row.state == "lost"]

    def sorted(self) -> list[ReportRow]:
        return sorted(self.rows, key=lambda row: row.place)

    def text(self) -> str:
        return "".join(f"{row.place}: {row.state}: {row.what} → {row.became}\n" for row in self.sorted())
