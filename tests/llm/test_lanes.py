"""Small models: each conversation has a cache of its own, and what several have in common is copied, not computed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

WAIT = 60
WORDS = ["cup", "apple", "sink", "table", "find", "the", "see", "in"]
OPTIONS = [f" {verb} the {thing}" for verb in ("find", "open", "clean") for thing in ("cup", "apple", "sink", "egg")]


def words(seed: int, count: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def test_conversations_side_by_side_do_not_push_one_another_out(open_model: Callable[..., Any]) -> None:
    """Eight agents whose stories together are longer than four contexts: each goes on where it was."""
    model = open_model()
    stories = [words(n, 550) for n in range(8)]
    for story in stories:
        model.write(story, max_tokens=1).wait(WAIT)
    jobs = [model.write(story + " the end", max_tokens=1) for story in stories]
    for job in jobs:
        job.wait(WAIT)
    assert model.stats()["lanes"] == 16
    assert all(job.spent.computed < 20 for job in jobs)


def test_a_common_beginning_is_copied_from_another_lane(open_model: Callable[..., Any]) -> None:
    """The second agent computes its own part only, and scores as if it had computed all of it."""
    model, alone = open_model(), open_model(lanes=1, repeatable=True)
    system = words(1, 400)
    first = model.write(f"{system} {words(2, 200)}", max_tokens=2)
    first.wait(WAIT)
    text = f"{system} {words(3, 200)}\nAct:"
    job = model.choose(text, OPTIONS, mode="scores")
    found, told = job.wait(WAIT), alone.choose(text, OPTIONS, mode="scores").wait(WAIT)
    assert job.spent.reused >= 400
    assert found.scores == pytest.approx(told.scores, abs=0.05)


def test_more_jobs_than_lanes_are_all_answered_as_one_after_another(open_model: Callable[..., Any]) -> None:
    """Three lanes, twelve agents of several steps: those that wait get their turn, and decide the same."""
    model = open_model(lanes=3)
    texts = [f"{words(n, 100)}\nAct:" for n in range(12)]
    jobs = [model.decide(text, {"Think:": (), "Act:": OPTIONS}) for text in texts]
    found = [job.wait(WAIT) for job in jobs]
    for one, text in zip(found, texts, strict=True):
        again = model.decide(text, {"Think:": (), "Act:": OPTIONS}).wait(WAIT)
        assert again.index == one.index or min(one.margin, again.margin) < 0.05
        assert again.logprob == pytest.approx(one.logprob, abs=0.05)


def test_a_job_that_waits_for_a_lane_can_be_cancelled(open_model: Callable[..., Any]) -> None:
    """It is gone, and the others are answered."""
    model = open_model(lanes=2)
    busy = [model.write(words(n, 50), max_tokens=300) for n in range(2)]
    waiting, last = model.write("one more", max_tokens=5), model.write("and one", max_tokens=5)
    waiting.cancel("not needed")
    assert last.wait(WAIT).tokens == 5
    assert [job.wait(WAIT).tokens for job in busy] == [300, 300]
