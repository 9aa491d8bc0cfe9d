"""Kinds of work of a robot that it has seen: compiled from the oracle's runs, they need no model."""

from __future__ import annotations

from pathlib import Path

from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.source import Source, find
from bt_runtime import Budget
from bt_runtime.agents.compile.compiling import compiled
from bt_runtime.clock import Manual
from bt_runtime.plugins import Wanted
from tests.agents.compile.pantry import Nobody


def _source(seed: int, count: int, split: str) -> Source:
    return find("field", Wanted(seed, count, split, options={"speed": 0, "calm": True}))  # type: ignore[arg-type]


def test_the_robots_known_errands_are_done_without_a_model(tmp_path: Path) -> None:
    """Shelves of other tasks fill the slots; the round of all shelves stays as it was; nobody is asked."""
    train, held = _source(1, 15, "train"), _source(2, 6, "eval")
    setup = Setup("field", {}, 1, Budget(decisions=100), journals=str(tmp_path))
    seen = [*Local({}, 1, Manual).outcomes(setup, cases([Strategy("oracle", "react", oracle=True)], train.tasks))]
    assert all(each.success for each in seen)
    found = compiled(sorted(tmp_path.glob("*.btr")), "known")
    file = tmp_path / "known.yaml"
    file.write_text(found.text, "utf-8")
    done = Local({"default": Nobody()}, 1, Manual).outcomes(
        setup._replace(journals=""), cases([Strategy("known", str(file))], held.tasks)
    )
    assert [(each.success, each.decisions, each.error) for each in done] == [(True, 0, "")] * 6
