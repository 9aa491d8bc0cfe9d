"""The question to a person before a skill with `confirm` starts under a policy.

Its first line says where the decision and each value came from, and holds nothing else. Values stand in the second line
within quotation marks, without line breaks, quotation marks and marks that nobody sees, and cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bt_runtime.language.policies.label import said
from bt_runtime.language.sentence import Sentence, spoken
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.run.policy.start import Start

MOST = 120  # characters of a value


def question(start: Start, params: Mapping[str, Json] | None) -> str:
    """Returns the question. `params`: None where only the sentence is known, which is quoted as a whole."""
    sources = [
        f"decided from {said(start.control)}",
        *(f"{n} from {said(of)}" for n, of in start.slots.items()),
    ]
    if params is None or start.entry is None:
        action = f"do {quoted(start.sentence)}"
    else:
        action = Sentence(start.entry.sentence).say({n: quoted(spoken(of)) for n, of in params.items()})
    return f"Sources: {', '.join(sources)}.\nMay I {action}? (yes or no)"


def quoted(value: str) -> str:
    """Returns a text within quotation marks, on one line and cut."""
    line = " ".join(value.split()).replace('"', "'")
    shown = "".join(mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in line[:MOST])
    more = f" … and {len(line) - MOST:,} characters" if len(line) > MOST else ""
    return f'"{shown}"{more}'
