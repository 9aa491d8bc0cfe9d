"""Documents as token numbers: encoded once per shard, and cached on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill import documents
from bt_lab.distill.documents import Document, digest
from bt_lab.distill.tokenizer import Coder
from bt_lab.distill.torch_imports import np
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

HELD = 50  # one document of so many is held back, by its digest: the same ones whatever comes later
_CHUNK = 2000  # documents that are encoded at once
_FORM = "1"  # file format version; a change rebuilds the files


class Dataset(NamedTuple):
    """Documents in one array; document `i` is between `starts[i]` and `starts[i + 1]`."""

    tokens: Any  # uint16, or uint32 where the vocabulary is larger
    learn: Any  # bool
    starts: Any  # int64, one more than documents
    kinds: list[str]  # kind of each document
    held: Any  # bool, of each document
    torn: int
    cut: int  # documents that were longer than the context

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def lengths(self) -> Any:
        return np.diff(self.starts)

    def unanswered(self, document: int) -> int:
        """Returns the number of tokens before the first one to learn."""
        return int(self.learn[self.starts[document] : self.starts[document + 1]].argmax())


def encode(shard: Path, tokenizer: Coder, context: int, cache: Path) -> Dataset:
    """Returns the rows of a shard, from the cache if the same bytes were encoded before."""
    data = shard.read_bytes()
    kept = cache / f"{digest(data, tokenizer.digest, str(context), _FORM)}.npz"
    if kept.is_file():
        with np.load(kept) as found:
            return Dataset(
                found["tokens"], found["learn"], found["starts"], found["kinds"].tolist(), found["held"],
                int(found["torn"]), int(found["cut"]),
            )  # fmt: skip
    rows = _rows(documents.read(shard), tokenizer, context)
    cache.mkdir(parents=True, exist_ok=True)
    with disk.draft(kept) as partial, partial.open("wb") as file:
        np.savez(file, **{**rows._asdict(), "kinds": np.array(rows.kinds, dtype=np.str_)})
    return rows


def _rows(given: Any, tokenizer: Coder, context: int) -> Dataset:
    tokens, learn, lengths, kinds, held, torn, cut = [], [], [], list[str](), [], 0, 0
    given, kind = iter(given), np.uint16 if tokenizer.size <= 1 << 16 else np.uint32
    while chunk := list(islice(given, _CHUNK)):
        for document, code in zip(chunk, tokenizer.encode(chunk), strict=True):
            torn, cut = torn + code.torn, cut + (len(code.tokens) > context)
            if not any(code.learn[:context]):
                continue  # what could be learnt lies behind the cut
            tokens.append(np.array(code.tokens[:context], kind))
            learn.append(np.array(code.learn[:context], np.bool_))
            lengths.append(len(tokens[-1]))
            kinds.append(document.kind)
            held.append(is_held_out(document))
    if not kinds:
        return Dataset(
            np.zeros(0, kind), np.zeros(0, np.bool_), np.zeros(1, np.int64), [], np.zeros(0, np.bool_), 0, cut
        )
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Dataset(np.concatenate(tokens), np.concatenate(learn), starts, kinds, np.array(held), torn, cut)


def is_held_out(document: Document) -> bool:
    return int(digest(document.text)[:8], 16) % HELD == 0


def gather(shards: Sequence[Path], tokenizer: Coder, context: int, cache: Path, tell: Callable[[str], None]) -> Dataset:
    """Concatenates the rows of all shards."""
    parts = []
    for number, shard in enumerate(shards, 1):
        parts.append(encode(shard, tokenizer, context, cache))
        if number % 50 == 0:
            tell(f"{number} of {len(shards)} shards encoded")
    parts = [p for p in parts if len(p)]
    if not parts:
        raise BtError("there is nothing to learn in these documents", "look at their `learn` spans and lengths")
    starts = np.concatenate([[0], np.cumsum(np.concatenate([p.lengths for p in parts]))]).astype(np.int64)
    return Dataset(
        np.concatenate([p.tokens for p in parts]),
        np.concatenate([p.learn for p in parts]),
        starts,
        [kind for p in parts for kind in p.kinds],
        np.concatenate([p.held for p in parts]),
        sum(p.torn for p in parts),
        sum(p.cut for p in parts),
    )
