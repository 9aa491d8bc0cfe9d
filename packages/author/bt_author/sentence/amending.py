"""Changes a tree as a sentence says: the model writes the whole tree anew, and only what it changed goes into the
person's text, whose comments and layout stay."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bt_author.sentence.canonical import canonical
from bt_author.sentence.drafting import ROUNDS, Author, DraftedTree
from bt_author.sentence.weave import woven
from bt_runtime.language.difference import compare
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.loader import Loader


class Amended(NamedTuple):
    text: str
    notes: list[str]  # remarks for the person before they accept


def amended(author: Author, path: Path, text: str, request: str, rounds: int = ROUNDS) -> Amended:
    """The text with the change. Raises Refused, or BtError for a text that is at fault."""
    Loader(author.root).text(text, str(path), path.parent).sound()
    before = canonical(text, author.registry)
    draft = author.draft(request, path.stem, rounds, before)
    made, whole = _into(text, before, draft, author, path)
    notes = [f"sound after {draft.rounds} round{'s' if draft.rounds != 1 else ''}", *draft.questions]
    if whole and "#" in text:
        notes.append("the whole text is new: look for comments that are gone")
    return Amended(made, [*notes, *(f"played: {line}" for line in draft.story[:4])])


def _into(text: str, before: str, draft: DraftedTree, author: Author, path: Path) -> tuple[str, bool]:
    """The draft's changes in the person's text, when that is the same tree; else the draft."""
    made = woven(before, text, canonical(draft.text, author.registry))
    try:
        spec = Loader(author.root).text(made, str(path), path.parent).sound()
    except BtError:
        return draft.text, True
    return (made, False) if compare(spec, draft.spec) == [] else (draft.text, True)
