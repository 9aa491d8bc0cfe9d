"""The loop of AutoPlan with the teacher as the model: what a model is to learn from it must at least work here."""

from __future__ import annotations

from pathlib import Path

from bt_lab.optimise.held_out import measure
from bt_lab.optimise.loop import optimise
from bt_lab.optimise.setup import OptimiseSetup
from bt_runtime.agents import ScriptedModel
from recipes.starter.guide.coach import Coach


def test_a_plan_raises_what_is_reached_in_homes_and_under_rules_that_no_lesson_has_by_thirty_points(
    tmp_path: Path,
) -> None:
    rates = []
    for number in range(3):
        world, tasks = {"feedback": "detailed"}, {"rules": f"eval {number}", "hint": "yes"}
        setup = OptimiseSetup("house", "clean", batch=4, validation=4, seed=number, steps=12, world=world, tasks=tasks)
        model = ScriptedModel(Coach())
        _, whole = optimise(setup, tmp_path / str(number), 3, model=model, patience=3)
        assert whole
        kept = measure(setup, tmp_path / str(number), 12, {"default": model}, 1, lambda *_: None)
        rates.append((kept[0].rate("test"), kept[-1].rate("test")))
    first, last = (sum(each) / len(rates) for each in zip(*rates, strict=True))
    assert last >= first + 0.3, rates
