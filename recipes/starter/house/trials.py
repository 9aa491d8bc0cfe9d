"""Lessons of strategies that try more than once, and of one that never looks back, in the house."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random

from bt_envs.house.notes import is_a
from bt_envs.textcraft.world import TextCraft
from bt_lab.distill.documents import Document
from bt_runtime.agents.story import HEARD, THINK
from bt_runtime.run.run import Tree, load
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Json, Task, World
from recipes.starter.drills import Sheet
from recipes.starter.errand import Errand, meant
from recipes.starter.exercise import Exercise, some
from recipes.starter.house import housekeeping, tour
from recipes.starter.house import teacher as house
from recipes.starter.house.homes import make_lesson_task
from recipes.starter.judge import STILL, judges
from recipes.starter.lesson import Slips, Taught
from recipes.starter.reflection import REFLECTS
from recipes.starter.seen import read
from recipes.starter.textcraft import crafting
from recipes.starter.textcraft import teacher as textcraft

_MIXTURE = (  # (strategy, with working memory, how often)
    ("lota", False, 100), ("try_again", True, 2), ("try_again", False, 1),
    ("reflexion", True, 20), ("reflexion", False, 10),
)  # fmt: skip
_GIVES_UP = (0.0, 0.02, 0.04)  # of the decisions: attempts that fail early, so that there is a next one
_EARLY = (0.01, 0.02, 0.04)  # … that end as done too early, where somebody looks at it
_CRAFTING = 0.12  # of the lessons are Reflexion's in TextCraft
_JUDGED = 0.8  # of the lessons: what ends an attempt is the judge, rather than itself
_OTHERWISE, _UNFOUND = 2, 0.6  # beginnings of an attempt had something else been missing; … and not been found
_SLIPPING = (0.0, 0.0, 0.05)
_STRAYS = (0.0, 0.08, 0.2)  # of LoTa's decisions: things that are passed by, or brought alone
_BROUGHT = 4  # short documents of only what follows on what was put down, for each of LoTa's
_RUNS, _ALONE = 0.3, 0.35  # of LoTa's tasks end with something that is turned on; of those of one thing are taken
_MANY, _LOOKS = 4, 8  # things at most, as many as thirty acts can bring; tasks that are looked at for one like that
_BROUGHT_MANY = 6  # things of a short document
_ELSEWHERE = 2_000_000_000  # numbers of their tasks
_FIRST, _NEAR = 3, " is near "  # thoughts of it: all parts, the first, where a note says that it is
_MOST = 2  # documents of attempts in one lesson, before the last


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own; the same numbers give the same lessons."""
    for exercise, rng in exercises(seed, count, first):
        taught = exercise.taught()
        documents = _worth(exercise, taught.documents, rng)
        yield taught._replace(documents=[*documents, *housekeeping.doubts(exercise, taught, rng)])


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    world, crafts = open_world("house"), TextCraft({})
    trees = {name: load(name) for name, _, _ in _MIXTURE}
    for number in range(first, first + count):
        rng = Random(f"trials {seed} {number}")
        if rng.random() < _CRAFTING:
            yield _crafted(trees["reflexion"], crafts, f"trials-{seed}-{number}", rng), rng
            continue
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        if name == "lota":
            yield _toured(trees[name], world, seed, number, rng), rng
            continue
        task = make_lesson_task(seed, _ELSEWHERE + number)
        told = meant(task)
        slips = Slips(rng.choice(_SLIPPING), rng, rng.choice(_GIVES_UP))
        inputs: dict[str, Json] = {"judged": rng.random() < _JUDGED}
        if inputs["judged"]:
            slips = slips._replace(gives_up=0.0, early=rng.choice(_EARLY))
        made = Exercise(
            f"house {name}", trees[name], world, task, partial(house.teacher, told=told), slips, recall, 300
        )
        yield made._replace(inputs=inputs, told=told), rng


def tours(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """Of LoTa's alone."""
    world, tree = open_world("house"), load("lota")
    for number in range(first, first + count):
        rng = Random(f"tours {seed} {number}")
        yield _toured(tree, world, seed, number, rng), rng


def _toured(tree: Tree, world: World, seed: int, number: int, rng: Random) -> Exercise:
    """One of LoTa's: more often than elsewhere of two to five things, or with something to be turned on."""
    runs, task = rng.random() < _RUNS, make_lesson_task(seed, _ELSEWHERE + number)
    for again in range(1, _LOOKS):
        errands = meant(task)[task.goal]
        many = sum(errand.amount for errand in errands if errand.thing)
        if many <= _MANY and (errands[-1].thing == "" if runs else many > 1 or rng.random() < _ALONE):
            break
        task = make_lesson_task(seed, _ELSEWHERE + again * _ELSEWHERE // 10 + number)
    told = meant(task)
    astray = Slips(rng.choice(_STRAYS), rng, astray=partial(tour.astray, told=told, rng=rng))
    sieve = partial(tour.thinned, rng=rng, errands=told[task.goal])
    return Exercise(
        "house lota", tree, world, task, partial(tour.teacher, told=told), astray, False, 300, told=told, sieve=sieve,
    )  # fmt: skip


def _several(rng: Random) -> Task:
    """Of two to six things, seldom of one."""
    while True:
        task = make_lesson_task(rng.getrandbits(32), _ELSEWHERE)
        many = sum(errand.amount for errand in meant(task)[task.goal] if errand.thing)
        if many <= _BROUGHT_MANY and (many > 1 or rng.random() < _ALONE):
            return task


def _crafted(tree: Tree, world: World, name: str, rng: Random) -> Exercise:
    """Reflexion in TextCraft, where the judge looks into the bag."""
    task = crafting.task(rng, rng.choice((1, 2, 2, 3)), name, wide=0.5)
    slips = Slips(rng.choice(_SLIPPING), rng, early=rng.choice((0.0, 0.05, 0.1)))
    inputs = {"judged": True}
    return Exercise("textcraft reflexion", tree, world, task, textcraft.teacher, slips, decisions=150, inputs=inputs)


def _worth(exercise: Exercise, documents: list[Document], rng: Random) -> list[Document]:
    """All reflections and judgements, and some attempts: those that read what was noted, the last among them."""
    if exercise.kind == "house lota":
        short = (tour.brought(each, rng, _several(rng)) for each in documents for _ in range(_BROUGHT))
        return [*documents, *(each for each in short if each.learn)]
    reflected = [document for document in documents if REFLECTS in document.text or judges(document.text)]
    attempts = [document for document in documents if document not in reflected]
    noted = [document for document in attempts if read(document.text).notes]
    told = exercise.told or {}
    begun = [begun_otherwise(document, told, rng) for document in noted if told for _ in range(_OTHERWISE)]
    others = some((noted or attempts)[:-1], _MOST - bool(noted), rng)
    return [*reflected, *others, *attempts[-1:], *(document for document in begun if document is not None)]


def begun_otherwise(document: Document, told: Mapping[str, list[Errand]], rng: Random) -> Document | None:
    """The first thoughts of that attempt, had something else been missing: what is pressing is said first."""
    seen = read(document.text)
    lines = [line for note in seen.notes if STILL in note for line in [f"- {note}\n"] if line in document.text]
    errands = told.get(seen.goal, [])
    start = document.text.find(f"\n{THINK}", document.text.find(lines[-1])) if lines else -1
    if len(errands) < 2 or start < 0:
        return None
    gone = rng.sample(range(len(errands)), rng.choice((1, 1, 2)))
    lacking = [errand for at, errand in enumerate(errands) if at in gone]
    unfound = [errand.thing for errand in lacking] if rng.random() < _UNFOUND else []
    found = [each for each in lines[-1].removeprefix("- ").partition(STILL)[0].split(". ") if _said(each, unfound)]
    note = ". ".join([*(_said(each, unfound) for each in found), STILL + ", ".join(e.goal() for e in lacking)])
    sheet = Sheet()
    sheet.say(document.text[: start + 1].replace(lines[-1], f"- {note}.\n"))
    for count in range(_FIRST):
        said = house.teacher(read(sheet.text), (), told)
        if not said.startswith(THINK) or (count > 1 and _NEAR not in said):  # it would ask its memory first
            break
        sheet.say(f"{HEARD}\n" if count else "")
        sheet.answer(f"{said}\n")
    return Document(f"{document.kind} begun", sheet.text, tuple(sheet.learn))


def _said(found: str, unfound: Sequence[str]) -> str:
    """Returns a note without what it says of where these things are."""
    if _NEAR not in found:
        return found
    return ", ".join(part for part in found.split(", ") if not any(is_a(part.partition(_NEAR)[0], t) for t in unfound))
