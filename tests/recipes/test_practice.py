"""Practice: the model goes, the teacher corrects."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bt_lab.distill import documents
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.story import ACT, EXPAND, THINK
from bt_runtime.llm import starter
from bt_runtime.types import Question
from recipes.starter.exercise import Exercise, worth
from recipes.starter.house import housekeeping
from recipes.starter.judge import judged, judges
from recipes.starter.lesson import PLANNED
from recipes.starter.practice import Practised
from recipes.starter.seen import read
from recipes.starter.teachers import course, shards
from recipes.starter.textcraft import crafting


def practised(exercise: Exercise, often: float) -> Practised:
    """By a student who says what the teacher would, but for a share of the acts."""
    rng = Random(5)

    def student(ask: Question) -> str:
        prompt = ask.prompt
        if judges(prompt):
            return judged(prompt, exercise.told)
        options = [o.strip() for o in ask.options or ask.moves.get(ACT, ())]
        said = exercise.teacher(read(prompt), options)
        if ask.kind == "write":
            opening = next((o for o in PLANNED if prompt.endswith(o)), None)
            return "nothing" if opening is None else said.removeprefix(opening)
        if said.startswith(EXPAND) or rng.random() >= often:
            return said
        if said.startswith(THINK) and rng.random() < 0.5:
            return f"{THINK} I do not know."
        return f"{ACT} {rng.choice([o for o in options if o not in ('done', 'failure')])}"

    return exercise.practised(ScriptedModel(student))


def some_exercises() -> list[Exercise]:
    house = [exercise for exercise, _ in housekeeping.exercises(3, 3)]
    return [*house, *(exercise for exercise, _ in crafting.exercises(3, 6))]


def test_who_says_what_the_teacher_says_has_nothing_mended_and_gets_the_lesson_itself() -> None:
    for exercise in some_exercises():
        exercise = exercise._replace(slips=None, decisions=min(150, exercise.decisions))
        found = practised(exercise, 0.0)
        assert not found.differences and not found.mended
        assert found.taught.documents == exercise.taught().documents


def test_every_step_that_the_teacher_would_not_take_becomes_a_document_of_what_it_would_say_there() -> None:
    differences = 0
    for exercise in some_exercises():
        found = practised(exercise, 0.3)
        differences += len(found.differences)
        assert len(found.mended) == len(found.differences)
        for document, difference in zip(found.mended, found.differences, strict=True):
            ((begin, end),) = document.learn
            assert document.text[:begin] == difference.prompt
            assert document.text[begin:end] == difference.wanted != difference.said
        for document in found.taught.documents:
            learnt = {(document.text[:begin], document.text[begin:end]) for begin, end in document.learn}
            assert not learnt & {(d.prompt, d.said) for d in found.differences}
    assert differences > 20


def test_who_is_set_right_at_once_goes_the_teachers_way_and_every_wrong_answer_is_mended() -> None:
    mended = 0
    for exercise in some_exercises():
        exercise = exercise._replace(slips=None, corrects=True)
        found = practised(exercise, 0.3)
        mended += len(found.mended)
        own = practised(exercise, 0.0).taught
        assert found.taught.verdict == own.verdict
        texts = {document.text for document in own.documents}
        assert {document.text for document in found.taught.documents} <= texts
        assert all(any(text.startswith(document.text) for text in texts) for document in found.mended)
    assert mended > 10


def test_a_task_with_nothing_to_correct_gives_no_document() -> None:
    exercise = next(crafting.exercises(3, 1))[0]
    assert worth(practised(exercise, 0.0), Random(1)) == []


def test_few_documents_of_one_task_are_kept() -> None:
    found = practised(next(housekeeping.exercises(3, 1))[0], 0.5)
    assert len(found.mended) > 12
    kept = worth(found, Random(1))
    assert len(kept) <= 15 and sum(d in found.mended for d in kept) == 12


def test_practice_without_a_model_says_whose_practice_it_would_be() -> None:
    with pytest.raises(BtError, match="nobody to practise") as fault:
        course("house-practice:20", 1)
    assert "--model" in fault.value.hint
    with pytest.raises(BtError, match="nobody to practise"):
        course("house-practice:20", 1, Path("latest.pt"))


def test_the_starter_practises_and_what_it_practised_is_kept_by_its_own_name(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    wanted = course("textcraft-practice:2", 1, starter())
    (path,) = shards(wanted, tmp_path, str)
    assert documents.digest(starter().read_bytes())[:8] in path.name
    found = list(documents.read(path))
    assert found and all(d.kind.startswith("textcraft ") and d.learn for d in found)
    before = path.stat().st_mtime_ns
    assert shards(wanted, tmp_path, str) == [path] and path.stat().st_mtime_ns == before
