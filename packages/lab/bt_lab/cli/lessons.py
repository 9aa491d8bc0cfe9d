"""`btr runs export --format sft|preference`: writes training data from recorded runs, as chat JSONL for other tools."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bt_runtime.journal.export import Export
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk


class _Lessons(Export):
    """Chats that a model learns from."""

    many, text, unit = True, True, "rows"

    def __init__(self, preference: bool) -> None:
        self.preference = preference

    def configure(self, parser: argparse.ArgumentParser) -> None:
        if self.preference:  # the options of both stand once
            return
        text = "sft: runs that failed, and ends that a budget brought, too"
        parser.add_argument("--failed", action="store_true", help=text)
        text = "sft, preference: only nodes of this name, kind or path"
        parser.add_argument("--agent", metavar="NODE", help=text)
        text = "sft: `text` as this model's template puts it, with the `spans` to learn, instead of `messages`"
        parser.add_argument("--model", metavar="FILE.gguf", help=text)

    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        from bt_lab.distill import chats

        found = [(life, met) for recording in recordings for life, met in _lives(recording, args.agent)]
        if self.preference:
            rows = list(chats.pairs(found))
        else:
            chat, as_text = _form(args.model)
            if args.failed:
                for life, _ in found:
                    life.documents = life.whole()
            rows = list(chats.taught((life for life, met in found if met or args.failed), chat, as_text))
        if not rows:
            hint = "only what succeeded is taught (--failed: all); a pair needs a refused plan, or runs that parted"
            raise BtError(f"there is nothing for {args.format} in {len(recordings)} runs", hint)
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        if str(path) == "-":
            sys.stdout.writelines(lines)
        else:
            disk.write(path, lines)
        self.unit = f"rows of {len(recordings):,} runs; {_PRIVATE}"
        return len(rows)


_PRIVATE = "they hold prompts, inputs, and all that worlds and people said: look before they leave your hands"
SFT, PREFERENCE = _Lessons(False), _Lessons(True)


def _lives(recording: Recording, agent: str | None) -> Iterator[tuple[Any, bool]]:
    from bt_lab.distill import journals

    good = journals.met(recording)
    named = {node.path: (node.path, node.kind, node.name) for node in recording.nodes}
    for life in journals.lives(recording):
        if agent is None or agent in named.get(life.path, (life.path,)):
            yield life, good


def _form(model: str | None) -> tuple[Any, bool]:
    if model is None:
        return None, False
    from bt_runtime.llm.chat.chat import Chat
    from bt_runtime.llm.local.header import read_header
    from bt_runtime.llm.settings import find_model

    header = read_header(find_model(model))
    template = header.chat_template
    return (Chat.of(template, header.markers, header.ends) if template else None), True
