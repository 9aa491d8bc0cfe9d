"""Teachers by name: `house:3000` is so many lessons in the house, written down shard by shard.

`house-practice:300` is so many tasks that the model goes through itself, the one that training goes on from; the
teacher corrects it (`practice.py`). A shard is named by its teacher, its seed and its first lesson, one of practice by
its model too, and holds the same wherever and whenever it is made; those that are there already are not made again.
Lessons are made by as many processes as there are cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from random import Random
from typing import NamedTuple

from bt_lab.distill import documents
from bt_lab.distill.documents import Document
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project.child import spawning
from bt_runtime.llm import open_model
from bt_runtime.llm.settings import usable_cores
from recipes.starter import rooms_tried
from recipes.starter.alfworld import homes as alfworld_homes
from recipes.starter.drills import drills
from recipes.starter.exercise import Exercise, worth
from recipes.starter.facts import lessons as facts
from recipes.starter.guide import guidance
from recipes.starter.hotpotqa import teacher as hotpotqa
from recipes.starter.house import housekeeping, trials
from recipes.starter.house.deeds import judgements
from recipes.starter.house.held import held
from recipes.starter.lesson import Taught
from recipes.starter.own_skills import lessons as bench
from recipes.starter.own_skills import panel_lessons as panel
from recipes.starter.textcraft import crafting
from recipes.starter.textcraft.lookups import lookups
from recipes.starter.thor import rooms as thor_rooms
from recipes.starter.webshop import shops

SHARD, PRACTICE_SHARD = 200, 20  # lessons; tasks that are practised, which take a hundred times as long
Tell = Callable[[str], None]


class Course(NamedTuple):
    """A teacher, the seed of its lessons, and how many of them."""

    teacher: str
    seed: int
    lessons: int
    student: Path | None = None  # the model that practises

    @property
    def size(self) -> int:
        """Lessons in a shard."""
        return PRACTICE_SHARD if self.student else SHARD

    def path(self, folder: Path, first: int) -> Path:
        whose = f"-{documents.digest(self.student.read_bytes())[:8]}" if self.student else ""
        return folder / f"{self.teacher}{whose}-{self.seed}-{first:06}{documents.SUFFIX}"


def course(word: str, seed: int, student: Path | None = None) -> Course:
    """`textcraft:9000` → that many lessons of that teacher."""
    name, colon, number = word.partition(":")
    if name not in TEACHERS and name not in PRACTICE:
        raise BtError(f"no teacher is called `{name}`", f"teachers: {', '.join([*TEACHERS, *PRACTICE])}")
    if colon and not (number.isdigit() and int(number)):
        raise BtError(f"`{word}` says no number of lessons", f"write {name}:1000")
    if name in PRACTICE and (student is None or student.suffix != ".gguf"):
        raise BtError(
            f"`{word}` has nobody to practise", "say who goes on learning: --model starter, or --model FILE.gguf"
        )
    return Course(name, seed, int(number) if colon else 1000, student if name in PRACTICE else None)


def shards(wanted: Course, folder: Path, tell: Tell) -> list[Path]:
    """The course's shards, made where they are missing."""
    paths = {first: wanted.path(folder, first) for first in range(0, wanted.lessons, wanted.size)}
    missing = [first for first, path in paths.items() if not path.is_file()]
    if missing:
        given = sum(min(wanted.size, wanted.lessons - first) for first in missing)
        tell(f"{wanted.teacher}: {given:,} of {wanted.lessons:,} lessons are to be given")
        count = min(usable_cores(), len(missing))
        with spawning() as context, ProcessPoolExecutor(count, mp_context=context) as pool:
            jobs = [pool.submit(_write, wanted, first, paths[first]) for first in missing]
            for done, job in enumerate(as_completed(jobs), 1):
                job.result()
                if done % 5 == 0 or done == len(jobs):
                    tell(f"{wanted.teacher}: {done} of {len(jobs)} shards")
    return list(paths.values())


def _write(wanted: Course, first: int, path: Path) -> int:
    count = min(wanted.size, wanted.lessons - first)
    told = _practised(wanted, count, first) if wanted.student else TEACHERS[wanted.teacher](wanted.seed, count, first)
    return documents.write(path, told)


def _practised(wanted: Course, count: int, first: int) -> Iterator[Document]:

    model = open_model(str(wanted.student))
    try:
        for exercise, rng in PRACTICE[wanted.teacher](wanted.seed, count, first):
            yield from worth(exercise.practised(model), rng)
    finally:
        model.close()


def _documents(lessons: Callable[[int, int, int], Iterator[Taught]]) -> Callable[[int, int, int], Iterator[Document]]:
    return lambda seed, count, first: (d for taught in lessons(seed, count, first) for d in taught.documents)


def _guided(seed: int, count: int, first: int) -> Iterator[Document]:
    return (document for lesson in guidance.lessons(seed, count, first) for document in lesson)


# what can be asked for by name: seed, how many lessons, the first one
TEACHERS: dict[str, Callable[[int, int, int], Iterator[Document]]] = {
    "house": _documents(housekeeping.lessons),
    "textcraft": _documents(crafting.lessons),
    "held": held,
    "trials": _documents(trials.lessons),
    "judged": judgements,
    "rooms-tried": _documents(rooms_tried.lessons),
    "drills": drills,
    "lookups": lookups,
    "guided": _guided,
    "alfworld": _documents(alfworld_homes.lessons),
    "thor": _documents(thor_rooms.lessons),
    "arm": _documents(bench.lessons),
    "panel": _documents(panel.lessons),
    "webshop": _documents(shops.lessons),
    "hotpotqa": _documents(hotpotqa.lessons),
    "facts": facts.lessons,
}
PRACTICE: dict[str, Callable[[int, int, int], Iterator[tuple[Exercise, Random]]]] = {
    "house-practice": housekeeping.exercises,
    "trials-practice": trials.exercises,
    "lota-practice": trials.tours,
    "textcraft-practice": crafting.exercises,
    "alfworld-practice": alfworld_homes.exercises,
    "thor-practice": thor_rooms.exercises,
    "arm-practice": bench.exercises,
    "panel-practice": panel.exercises,
    "webshop-practice": shops.exercises,
    "hotpotqa-practice": hotpotqa.exercises,
}
