"""Lessons in the house: the teacher at work in homes that are made up for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_lab.distill.documents import Document
from bt_runtime.agents.story import EXPAND
from bt_runtime.memory.episodes import Level
from bt_runtime.run.run import load
from bt_runtime.skills.worlds.registry import open_world
from recipes.starter.errand import meant
from recipes.starter.exercise import Exercise, some
from recipes.starter.house.homes import make_lesson_task
from recipes.starter.house.reminders import Memory, Notes, Reminder
from recipes.starter.house.teacher import teacher
from recipes.starter.judge import doubted, judges
from recipes.starter.lesson import Slips, Taught, teach
from recipes.starter.seen import read
from recipes.starter.steps import ORDER

_MIXTURE = (  # (strategy, with working memory, how often)
    ("reactree", True, 30), ("reactree", False, 8), ("react", True, 14), ("react", False, 4),
    ("adapt", True, 24), ("adapt", False, 5), ("plan_and_execute", True, 12), ("plan_and_execute", False, 3),
)  # fmt: skip
_VERIFIED = "reactree_verified"
_SLIPPING = (0.0, 0.0, 0.05, 0.12)  # of a lesson's decisions
_GIVING_UP = (0.0, 0.0, 0.03)  # … of ADaPT's, by an executor in the midst of what it tries
MOST = 6  # agents of a task that only act: they look alike, those that expand do not, and all of those are kept
OPENINGS = 10  # tasks of which only the first decisions are taught, for each that is taught to its end
_FIRST = {
    "reactree": 1,
    "react": 4,
    "adapt": 2,
    "plan_and_execute": 1,
}  # decisions of an opening: all that is decided about the whole task
REMINDED = 0.45  # of the lessons, in one more task, and in the first decisions of two
TOGETHER = 25  # lessons whose agents share a memory
INSTRUCT = 0.05  # of all tasks are told in the register for other models
PAIRS = 0.3  # of the lessons, in one more task, of two of one thing, as far as both are held
_TAKEN = re.compile(r"^Act: pick up .*$", re.MULTILINE)
VERIFIED = 0.3  # of the lessons, in one more task that is judged, and gone on with where something is missing
DOUBTS = 1  # judgement besides of each task that was judged: of what might have been left out
_EARLY = (0.0, 0.01, 0.02, 0.03)  # of its decisions end too early, or leave a part out
_KEPT = (3, 8, 20, 40)  # tasks of a memory: of few hardly any is near
_TOLD: tuple[tuple[Level, int, int], ...] = (  # (level, tokens, how often)
    ("agent", 500, 8), ("agent", 300, 3), ("agent", 900, 2), ("task", 500, 1), ("task", 1500, 2),
)  # fmt: skip
_ELSEWHERE, _BEFORE = 1_000_000, 900_000_000  # numbers of their tasks, and of those that a memory tells of


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own, the openings of others, and some more in which agents are told what
    others did before them; the same numbers give the same lessons."""
    hall = _Hall(seed)
    for number in range(first, first + count):
        rng = _chance(seed, number)
        for part in range(1 + OPENINGS):
            taught = hall.exercise(number, part, rng).taught()
            yield taught._replace(documents=_worth(taught.documents, rng))
        for part in range(3 if rng.random() < REMINDED else 0):
            taught = hall.reminded(number, part, rng).taught()
            yield taught._replace(documents=some(_worth(taught.documents, rng), MOST, rng))
        if rng.random() < PAIRS:
            taught = hall.pair(number, rng).taught()
            yield taught._replace(documents=[_to_the_second(document) for document in taught.documents])
        if rng.random() < VERIFIED:
            exercise = hall.verified(number, rng)
            taught = exercise.taught()
            yield taught._replace(documents=[*_looked_at(taught.documents, rng), *doubts(exercise, taught, rng)])
    hall.close()


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    hall = _Hall(seed)
    for number in range(first, first + count):
        rng = _chance(seed, number)
        for part in range(1 + OPENINGS):
            yield hall.exercise(number, part, rng), rng
        if rng.random() < REMINDED:
            yield hall.reminded(number, 0, rng), rng
        if rng.random() < PAIRS:
            yield hall.pair(number, rng), rng
        if rng.random() < VERIFIED:
            yield hall.verified(number, rng)._replace(slips=None), rng
    hall.close()


def _chance(seed: int, number: int) -> Random:
    return Random(f"lesson {seed} {number}")


class _Hall:
    """Where lessons are given: a world, and the strategies."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.world = open_world("house")
        self.trees = {name: load(name) for name in [*(name for name, _, _ in _MIXTURE), _VERIFIED]}
        self.memory: tuple[int, str, Memory] | None = None  # of these lessons, of this strategy

    def close(self) -> None:
        if self.memory is not None:
            self.memory[2].close()

    def exercise(self, number: int, part: int, rng: Random) -> Exercise:
        """Part 0 of a lesson and the one after its openings go to their ends."""
        first = 1 <= part <= OPENINGS
        task = make_lesson_task(self.seed, number if part == 0 else _ELSEWHERE + number * (1 + OPENINGS) + part)
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        slips = Slips(0.0 if first else rng.choice(_SLIPPING), rng)
        if name == "adapt":  # an opening shows the first decisions of the executor, or the plan behind one that gave up
            slips = slips._replace(gives_up=rng.choice((0.0, 9.0, 9.0) if first else _GIVING_UP))
        knowing = partial(teacher, told=meant(task))
        most, prompts = _FIRST[name] if first else 300, "instruct" if rng.random() < INSTRUCT else ""
        kind = f"house {name} {prompts}".strip()
        return Exercise(kind, self.trees[name], self.world, task, knowing, slips, recall, most, prompts=prompts)

    def reminded(self, number: int, part: int, rng: Random) -> Exercise:
        """One whose agents are told what those of the same strategy did in other homes; part 0 goes to its end."""
        name, memory = self._remembered(number // TOGETHER)
        level, tokens, _ = rng.choices(_TOLD, [often for *_, often in _TOLD])[0]
        task = make_lesson_task(self.seed, _BEFORE // 2 + number * 3 + part)
        most = _FIRST[name] if part else 300
        slips = Slips(0.0 if part else rng.choice(_SLIPPING), rng)
        return Exercise(
            f"house {name} reminded", self.trees[name], self.world, task, partial(teacher, told=meant(task)), slips,
            rng.random() < 0.8, most, memory=Reminder(memory, level, tokens, rng),
        )  # fmt: skip

    def pair(self, number: int, rng: Random) -> Exercise:
        """One in which an agent that acts alone brings two of one thing: how it goes on when it has one of them."""
        task = make_lesson_task(self.seed, _BEFORE // 8 + number, pair=True)
        return Exercise(
            "house react pair", self.trees["react"], self.world, task, partial(teacher, told=meant(task)), None,
            rng.random() < 0.8, 300,
        )  # fmt: skip

    def verified(self, number: int, rng: Random) -> Exercise:
        """One that is looked at when it ends, at times too early."""
        task = make_lesson_task(self.seed, _BEFORE // 4 + number)
        errands, early = meant(task), Slips(rng.choice((0.0, 0.02)), rng, early=rng.choice(_EARLY))
        return Exercise(
            "house verified", self.trees[_VERIFIED], self.world, task, partial(teacher, told=errands), early,
            rng.random() < 0.8, told=errands,
        )  # fmt: skip

    def _remembered(self, group: int) -> tuple[str, Memory]:
        """What was done before: some slipped on their way."""
        if self.memory is None or self.memory[0] != group:
            self.close()
            rng, memory = Random(f"memory {self.seed} {group}"), Memory()
            name = rng.choices(("reactree", "adapt", "react", "plan_and_execute"), (7, 1, 1, 1))[0]
            for at in range(rng.choice(_KEPT)):
                task, notes = make_lesson_task(self.seed, _BEFORE + group * 100 + at), Notes()
                slips = Slips(rng.choice((0.0, 0.05)), rng)
                teach(self.trees[name], self.world, task, partial(teacher, told=meant(task)), slips=slips, memory=notes)
                memory.learn(f"before {group} {at}", notes.noted)
            self.memory = group, name, memory
        return self.memory[1:]


def plans(document: Document) -> bool:
    """Is one of its answers a plan?"""
    return any(
        document.text.startswith(EXPAND, begin) or ORDER in document.text[begin:end] for begin, end in document.learn
    )


def _worth(documents: Sequence[Document], rng: Random) -> list[Document]:
    """All agents that expand, and some of those that only act, in their order."""
    expand = [i for i, document in enumerate(documents) if plans(document)]
    others = [i for i in range(len(documents)) if i not in expand]
    return [documents[i] for i in sorted([*expand, *rng.sample(others, min(MOST, len(others)))])]


def _to_the_second(document: Document) -> Document:
    """As far as the first act after the second was taken; all of it where none was."""
    taken = [found.end() for found in _TAKEN.finditer(document.text)]
    ends = [end for _, end in document.learn if len(taken) > 1 and end > taken[1] + 1][:1]
    last = ends[0] if ends else len(document.text)
    return document._replace(text=document.text[:last], learn=tuple(span for span in document.learn if span[1] <= last))


def doubts(exercise: Exercise, taught: Taught, rng: Random) -> list[Document]:
    """Of what was judged, some judgements had it come out otherwise; more where there are two of a kind, or is
    something to be turned on."""
    told = [d for d in taught.documents if judges(d.text)][-1:]
    errands = [errand for each in (exercise.told or {}).values() for errand in each]
    hard = any(errand.amount > 1 or not errand.thing for errand in errands)
    found = [doubted(document, rng, exercise.told) for document in told for _ in range(DOUBTS + hard)]
    return [document for document in found if document is not None]


def _looked_at(documents: Sequence[Document], rng: Random) -> list[Document]:
    """Judgements, what was planned after them, and a few others."""
    after = [d for d in documents if judges(d.text) or read(d.text).notes]
    return [*after, *some([d for d in documents if d not in after and plans(d)], 1, rng)]
