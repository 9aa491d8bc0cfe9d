"""Evaluations with scripted models that do what the worlds' oracles do: they show the mechanics, not a mind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.case import Case, Setup, Strategy, cases
from bt_lab.run.outcome import Outcome
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.skills.worlds import registry
from bt_runtime.types import Task
from tests.plugged import plug
from tests.support.oracles import acting, expanding, planning


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the third party's world."""
    plug(
        monkeypatch,
        tmp_path_factory.mktemp("plugged"),
        "doors-1.0",
        {"suites": {"doors": "packages.lab.tests.bench.worlds:SUITE"}},
    )
    return "doors"


def oracle_sentences(suite: str, task: Task) -> list[str]:
    found = registry.open_suite(suite)
    world = found.open()
    world.reset(task)
    sentences = []
    for sentence in found.oracle(world, task):
        sentences.append(sentence)
        world.act(sentence)
    return sentences


def knowing(suite: str, polls: int = 0) -> Callable[[Case], dict[str, Any]]:
    """Models that say what this world's oracle would, each in the form of its strategy."""

    def models(case: Case) -> dict[str, Any]:
        plain = case.task._replace(data={**case.task.data, "breaks": "none"})
        sentences = oracle_sentences(suite, plain)
        script = {
            "reactree": lambda: expanding(sentences), "adapt": lambda: planning(sentences, case.task.goal)
        }.get(case.strategy.name, lambda: acting(sentences))()  # fmt: skip
        return {"default": ScriptedModel(script, polls)}

    return models


def tasks_of(suite: str, count: int = 4, seed: int = 0, kinds: Sequence[str] | None = None) -> list[Task]:
    return registry.open_suite(suite).tasks(seed, count, "eval", list(kinds) if kinds else None)


def named(*names: str) -> list[Strategy]:
    return [Strategy(name, name) for name in names]


def outcomes(
    suite: str, tasks: Sequence[Task], *names: str, jobs: int = 3, models: Any = None, polls: int = 1, **setup: Any
) -> list[Outcome]:
    """In the order of the cases; every run has a clock of its own that jumps instead of waiting."""
    backend = Local(models or knowing(suite, polls), jobs, Manual)
    found = list(backend.outcomes(Setup(suite, **setup), cases(named(*names), tasks)))
    return sorted(found, key=lambda outcome: outcome.number)
