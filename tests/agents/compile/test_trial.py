"""Held-out tasks are those that no run had, by name or by content."""

from __future__ import annotations

from pathlib import Path

from bt_lab.compiled_trial import held_out, tried
from bt_lab.run.source import Source
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile.compiling import Compiled
from bt_runtime.agents.compile.trace import Trace
from bt_runtime.plugins import Wanted
from tests.agents.compile.pantry import task


def test_a_task_that_a_run_had_is_left_out(tidy_up: Compiled) -> None:
    """Also when it comes under another name."""
    had, new = task(3), task(300)
    renamed = had._replace(id="another name")
    kept, left_out = held_out(Source("", [had, renamed, new], {}), tidy_up.traces)
    assert [each.id for each in kept] == [new.id]
    assert left_out == 2


def test_a_task_with_the_name_of_a_runs_is_left_out(tidy_up: Compiled) -> None:
    """Also when its content is another."""
    kept, left_out = held_out(Source("", [task(300)._replace(id=task(3).id)], {}), tidy_up.traces)
    assert (kept, left_out) == ([], 1)


def test_what_prunes_is_not_what_teaches(tidy_up: Compiled) -> None:
    """Some runs are held out, and not all."""
    names = {trace.name for trace in tidy_up.traces}
    assert tidy_up.held_out < names


def test_the_runs_lie_where_they_were(journals: list[Path]) -> None:
    """Reading journals changes none of them."""
    assert all(path.stat().st_size for path in journals)


def test_both_sides_are_tried_on_the_same_tasks() -> None:
    """With a model that gives up at once: items that need no model are the tree's alone."""
    traces = [Trace("run", "", "", "craft stick", True, "adapt", 1, [], world="textcraft", inputs={"max_depth": 2})]
    model = ScriptedModel(lambda question: "Act: failure")
    tree = Path(__file__).parents[3] / "trees" / "craft.yaml"
    trial = tried(str(tree), traces, Wanted(5, 4, "train", ("depth 2",)), {"default": model})
    source, compiled = trial.sides
    assert (trial.pairs.pairs, source.reached, source.alone) == (4, 0, 0)
    assert compiled.alone == compiled.reached > 0
    assert "without a model" in "\n".join(trial.lines())
