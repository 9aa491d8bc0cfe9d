"""The sources of documents. Shards are read as they are; every other source is first written as a shard. A source is
a function with a name, which yields documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bt_lab.distill import documents, experiences, journals
from bt_lab.distill.documents import Document, digest
from bt_runtime.journal.folder import journals as journals_in
from bt_runtime.journal.layout import SUFFIX as JOURNAL
from bt_runtime.language.faults.diagnostic import BtError


class LessonSource(NamedTuple):
    name: str  # name of its shard
    yields: Callable[[], Iterable[Document]]


def gathered(wanted: Iterable[str], folder: Path) -> list[Path]:
    """Returns the shards to learn from, and those of folders; any other source is written to `folder` as a shard."""
    return [place for word in wanted for place in _places(word, folder)]


def _places(word: str, folder: Path) -> Iterator[Path]:
    path = Path(word)
    if not path.exists():
        raise BtError(f"there is no {path}", "name shards, a folder of recorded runs, or a memory (btr memory path)")
    elif path.suffix == documents.SUFFIX or (path.is_dir() and any(path.rglob(f"*{documents.SUFFIX}"))):
        yield path
    elif path.is_dir() and journals_in(path):
        yield _written(LessonSource("runs", lambda: journals.told(journals_in(path))), folder)
    elif path.suffix == JOURNAL:
        yield _written(LessonSource("run", lambda: journals.told([path])), folder)
    elif path.is_file():
        yield _written(LessonSource("memory", lambda: experiences.told(path)), folder)
    else:
        raise BtError(f"there is nothing to learn in {path}", f"shards *{documents.SUFFIX}, or journals *{JOURNAL}")


def _written(source: LessonSource, folder: Path) -> Path:
    """Writes a source as a shard named by the digest of its content, so that an unchanged source is not encoded
    again."""
    found = list(source.yields())
    if not found:
        raise BtError(f"nothing in the {source.name} can be learnt from", "only what succeeded is learnt from")
    told = digest(*(d.kind + "\0" + d.text + "\0" + str(d.learn) for d in found))
    path = folder / f"{source.name}-{told[:12]}{documents.SUFFIX}"
    if not path.is_file():
        documents.write(path, found)
    return path
