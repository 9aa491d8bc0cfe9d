"""Teachers as sources: `house:3000` is so many lessons in the house, written down shard by shard.

A shard is named by its teacher, its seed and its first lesson, and holds the same wherever and whenever it is made;
those that are there already are not made again. Lessons are made by as many processes as there are cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bt_runtime.diagnose import BtError
from bt_runtime.distill import documents
from bt_runtime.distill.documents import Document
from bt_runtime.llm.settings import usable_cores

SHARD = 200  # lessons
Tell = Callable[[str], None]


class Course(NamedTuple):
    """A teacher, the seed of its lessons, and how many of them."""

    teacher: str
    seed: int
    lessons: int


def course(word: str, seed: int) -> Course | None:
    """`textcraft:9000` → that many lessons of that teacher; None when no teacher is called so."""
    name, colon, number = word.partition(":")
    if name not in TEACHERS:
        return None
    if colon and not (number.isdigit() and int(number)):
        raise BtError(f"`{word}` says no number of lessons", f"write {name}:1000")
    return Course(name, seed, int(number) if colon else 1000)


def shards(wanted: Course, folder: Path, tell: Tell) -> list[Path]:
    """The course's shards, made where they are missing."""
    firsts = range(0, wanted.lessons, SHARD)
    paths = {first: folder / f"{wanted.teacher}-{wanted.seed}-{first:06}{documents.SUFFIX}" for first in firsts}
    missing = [first for first, path in paths.items() if not path.is_file()]
    if missing:
        tell(f"{wanted.teacher}: {len(missing) * SHARD:,} of {wanted.lessons:,} lessons are to be given")
        with ProcessPoolExecutor(min(usable_cores(), len(missing)), mp_context=get_context("spawn")) as pool:
            jobs = [pool.submit(_write, wanted, first, paths[first]) for first in missing]
            for done, job in enumerate(as_completed(jobs), 1):
                job.result()
                if done % 5 == 0 or done == len(jobs):
                    tell(f"{wanted.teacher}: {done} of {len(jobs)} shards")
    return list(paths.values())


def _write(wanted: Course, first: int, path: Path) -> int:
    count = min(SHARD, wanted.lessons - first)
    return documents.write(path, TEACHERS[wanted.teacher](wanted.seed, count, first))


def _house(seed: int, count: int, first: int) -> Iterator[Document]:
    from bt_runtime.distill.housekeeping import lessons

    for taught in lessons(seed, count, first):
        yield from taught.documents


def _textcraft(seed: int, count: int, first: int) -> Iterator[Document]:
    from bt_runtime.distill.crafting import lessons

    for taught in lessons(seed, count, first):
        yield from taught.documents


def _guided(seed: int, count: int, first: int) -> Iterator[Document]:
    from bt_runtime.distill.guidance import lessons

    for taught in lessons(seed, count, first):
        yield from taught


def _drills(seed: int, count: int, first: int) -> Iterator[Document]:
    from bt_runtime.distill.drills import drills

    return drills(seed, count, first)


# what `--from` knows by name: seed, how many lessons, the first one
TEACHERS: dict[str, Callable[[int, int, int], Iterator[Document]]] = {
    "house": _house,
    "textcraft": _textcraft,
    "drills": _drills,
    "guided": _guided,
}
