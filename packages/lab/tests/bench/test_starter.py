"""The model that comes with the package, on a few held-out tasks of both worlds: what is certain of any model.

No episode breaks, constrained decoding leaves no invalid act, and the same seed decides the same. How well it does, and
which strategy does better, is measured with intervals by `make results` (docs/results.md), not by a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.outcome import Outcome
from bt_runtime import Budget
from bt_runtime.plugins import open_suite

REACT, REACTREE, ADAPT = Strategy("react", "react"), Strategy("reactree", "reactree"), Strategy("adapt", "adapt")
WORLDS = {"house": (REACTREE, REACT), "textcraft": (ADAPT, REACT)}
EPISODES = 10

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(find_spec("llama_cpp") is None, reason="needs the llm extra"),
    pytest.mark.skipif(find_spec("bt_starter") is None, reason="a checkout without the starter model's weights"),
]


@contextmanager
def opened(**how: Any) -> Iterator[Any]:
    from bt_runtime.llm.local.model import LocalModel
    from bt_runtime.llm.settings import WorkerSettings, starter

    with LocalModel(WorkerSettings(str(starter()), **how)) as model:
        yield model


def run(suite: str, count: int, jobs: int, decisions: int, **how: Any) -> list[Outcome]:
    tasks = open_suite(suite).tasks(7, count, "eval", ["depth 2", "depth 3"] if suite == "textcraft" else None)
    setup = Setup(suite, seed=7, budget=Budget(decisions=decisions))
    with opened(**how) as model:
        found = list(Local({"default": model}, jobs).outcomes(setup, cases(WORLDS[suite], tasks)))
    return sorted(found, key=lambda outcome: outcome.number)


@cache
def evaluated(suite: str) -> list[Outcome]:
    """Ten tasks by two strategies; once for all tests."""
    return run(suite, EPISODES, 2, 80)


@pytest.mark.parametrize("suite", WORLDS)
def test_no_episode_breaks_and_no_act_is_invalid(suite: str) -> None:
    found = evaluated(suite)
    assert len(found) == EPISODES * len(WORLDS[suite])
    assert [o.error for o in found if o.error] == []
    assert sum(o.invalid for o in found) == 0
    assert all(o.decisions for o in found)


def test_an_episode_that_waits_for_the_model_is_not_ticked() -> None:
    """It is woken by the answer: ticks are counted by what was done, not by how long the model took."""
    assert all(o.ticks <= 3 * o.decisions + 10 for o in evaluated("house"))


@pytest.mark.parametrize("suite", WORLDS)
def test_a_seed_decides_the_same_bit_for_bit(suite: str) -> None:
    """Of all that was decided, thought and planned, however many episodes run side by side."""
    alone, together = (run(suite, 1, jobs, 10, repeatable=True) for jobs in (1, 2))
    assert [o.decided for o in alone] == [o.decided for o in together]
    assert all(o.decisions for o in alone)
