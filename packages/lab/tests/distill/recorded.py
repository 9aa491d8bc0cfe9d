"""Runs that an oracle plays, recorded for training."""

from __future__ import annotations

from pathlib import Path

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.plugins import open_suite


class Noting(ScriptedModel):
    """Keeps every prompt with its answer."""

    def __init__(self, script, template: str | None = None) -> None:
        super().__init__(script)
        self.chat_template = template


def recorded(folder: Path, script, template: str | None = None, seed: int = 7) -> ScriptedModel:
    """A run of `reactree` in the house, by a script."""
    task = open_suite("house").tasks(seed, 1)[0]
    world = open_suite("house").open()
    world.reset(task)
    model = Noting(script, template)
    with Run(
        load("reactree"), inputs={"goal": task.goal}, world=world, task=task, model=model, clock=Manual(),
        journal=folder, seed=seed,
    ) as run:  # fmt: skip
        run.spin(ticks=500)
    return model


def oracle(seed: int = 7) -> list[str]:
    suite = open_suite("house")
    task = suite.tasks(seed, 1)[0]
    world = suite.open()
    world.reset(task)
    said = []
    for sentence in suite.oracle(world, task):
        said.append(f"Act: {sentence}")
        world.act(sentence)
    return [said[0], "Think: so far so good", *said[1:], "Act: done"]
