"""Conversations to fine-tune on: of recorded runs, of rows of `btr runs export`, and of shards of documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bt_lab.distill import chats, journals
from bt_lab.distill.documents import SUFFIX, parse
from bt_runtime.journal.folder import journals as journals_in
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.header import INSTRUCT, STARTER

Row = dict[str, Any]  # `messages`, `tree`, `prompts`: the register that it was asked in


def rows_of(source: Path) -> Iterator[Row]:
    """Yields the conversations of a folder of recorded runs or of shards, of a journal, of a shard, or of a file of
    `btr runs export --format sft`."""
    if not source.exists():
        raise BtError(
            f"there is no {source}", "name a folder of recorded runs, lesson shards, or a file of `btr runs export`"
        )
    files = sorted(source.glob(f"*{SUFFIX}")) if source.is_dir() else [source] * (source.suffix == SUFFIX)
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                yield _row(line, f"{file}:{number}")
    if not files:
        yield from _of_runs(journals_in(source) if source.is_dir() else [source])


def _row(line: str, where: str) -> Row:
    try:
        row = json.loads(line)
        if "text" in row and "learn" in row:
            return of_document(line, where)
        if not (isinstance(row["messages"], list) and row["messages"]):
            raise ValueError
    except (ValueError, KeyError, TypeError) as fault:
        hint = "it takes the rows of `btr runs export --format sft`, without --model, and shards of documents"
        raise BtError(f"{where}: this is no row with `messages`", hint) from fault
    return {"prompts": INSTRUCT, **row}


def of_document(line: str, where: str) -> Row:
    """A document as a conversation. Steps in it that are not to be learnt are turns without a loss."""
    document = parse(line, where)
    return {
        "tree": document.kind,
        "messages": chats.messages(chats.opened(document), untaught=True),
        "prompts": STARTER,
    }


def _of_runs(paths: Iterable[Path]) -> Iterator[Row]:
    for path in paths:
        recording = Recording(path)
        if journals.met(recording):
            registers = {str(kept.get("register", STARTER)) for kept in (recording.head.get("models") or {}).values()}
            prompts = registers.pop() if len(registers) == 1 else INSTRUCT
            for row in chats.taught(journals.lives(recording), None, as_text=False, untaught=True):
                yield {**row, "prompts": prompts}
