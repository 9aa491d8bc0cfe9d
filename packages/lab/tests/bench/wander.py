"""Episodes over a real model that knows nothing: each is some decisions long, and the same ones every time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from bt_lab.run.case import Case, Setup, Strategy, cases
from bt_lab.run.outcome import Outcome
from bt_runtime import Budget
from packages.lab.tests.bench.conftest import tasks_of

TREE = """
version: 1
tree: wander
inputs: {goal: string}
root: {agent: {goal: "{goal}", moves: [think, act], choose: greedy, think_tokens: 6, max_decisions: 3}}
"""
SETUP = Setup("textcraft", budget=Budget(decisions=3))
HOW = {"repeatable": True, "threads": 1, "niceness": 0}
BY_THE_CLOCK = ("seconds", "model_seconds", "ticks")


def make_model(folder: Path) -> Path:
    from tests.support.random_models import Shape, make_gguf

    return make_gguf(folder / "random.gguf", Shape(context=2048, seed=3, peak=0.2))


def wandering(folder: Path, count: int) -> list[Case]:
    """Of a tree in a file of its own, which no other machine has."""
    file = folder / "wander.yaml"
    file.write_text(TREE, encoding="utf-8")
    return cases([Strategy("wander", str(file))], tasks_of("textcraft", count))


def told(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """All but what the clock says, in the order of the cases."""
    plain = [asdict(outcome) for outcome in sorted(outcomes, key=lambda o: o.number)]
    return [{name: value for name, value in each.items() if name not in BY_THE_CLOCK} for each in plain]
