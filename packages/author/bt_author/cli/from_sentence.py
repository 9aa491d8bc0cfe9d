"""`btr new tree NAME --from "…"`: a model drafts the tree; it is shown, and written after a yes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bt_author.loosening import loosened
from bt_author.sentence.drafting import ROUNDS, Author, DraftedTree, Refused
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import printed
from bt_runtime.language.project import trust
from bt_runtime.language.settings import Settings
from bt_runtime.run.view.render import draw, sketch

if TYPE_CHECKING:
    from bt_runtime.types import Model

MOST_STORY = 12  # lines of the story that are shown


def run(args: argparse.Namespace, root: Path, name: str, files: Mapping[Path, str]) -> Mapping[Path, str] | None:
    """Drafts the tree and asks the person. Returns the file with its text after a yes, None after a no."""
    path, empty = next(iter(files.items()))
    rounds = ROUNDS if args.rounds is None else args.rounds
    if not 1 <= rounds <= 20:
        raise BtError("--rounds takes a number from 1 to 20", "such as --rounds 5")
    if not args.sentence.strip():
        raise BtError("--from says nothing", 'such as --from "patrol the hall; when the battery is low, dock first"')
    model = opened(args.model)
    try:
        draft = Author(model, root, args.agents, _tell).draft(args.sentence, name, rounds)
    except Refused as refused:
        print(printed(refused.text))
        raise
    finally:
        model.close()
    show(draft)
    for each in loosened(root, path, "", draft.text):  # what an installed tree of this name holds, which this one hides
        _tell(f"takes away: {each}")
    if not _wanted(path):
        return None
    return {path: f"{empty.partition(chr(10))[0]}\n{draft.text}"}


def opened(named: str | None) -> Model:
    from bt_runtime.llm import open_model
    from bt_runtime.llm.settings import find_model

    where = find_model(str(Settings({"model": named})["model"]) if named else None)
    trust_prompt.named(where)
    before, trust.guard = trust.guard, trust_prompt.known  # the model is opened as `btr run` does it, and nothing else
    try:
        return open_model(where).ready()
    finally:
        trust.guard = before


def _tell(text: str) -> None:
    print(printed(text), file=sys.stderr)


def show(draft: DraftedTree) -> None:
    """The text on standard output; the picture, the play and the open questions on standard error."""
    print(printed(draft.text), end="")
    lines = [draw(sketch(draft.spec), "text").rstrip(), "", "played with scripted skills:"]
    lines += [f"  {line}" for line in draft.story[:MOST_STORY]]
    lines += [f"question: {question}" for question in draft.questions]
    lines.append(f"sound after {draft.rounds} round{'s' if draft.rounds != 1 else ''}")
    _tell("\n".join(lines))


def _wanted(path: Path) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        _tell(f"nothing was written: nobody can be asked. Standard output has the text of {path.name}")
        return False
    print(f"Write {path}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
