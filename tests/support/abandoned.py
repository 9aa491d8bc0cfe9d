"""Runs that were killed: their journals as a dead process leaves them, with an action in doubt or without."""

from __future__ import annotations

from pathlib import Path

from bt_runtime import Run, Skill, load, skill
from bt_runtime.clock import Manual
from bt_runtime.testing import RUNNING, SUCCESS

TREE = """
version: 1
tree: t
blackboard:
  n: {type: integer, default: 0}
root:
  sequence:
    - set: {n: "{n + 1}"}
    - drill: {hole: 7}
    - set: {n: "{n + 1}"}
    - wait: 10
"""


def drilling(on_resume: str, done: list[str], told: bool | None = None) -> type[Skill]:
    """A skill that leaves its mark when it starts, and says that it has ended when the test lets it."""

    @skill("drill {hole}", name="drill", on_resume=on_resume)  # type: ignore[arg-type]
    class Drill(Skill):
        ended = False
        answers = told

        def start(self, hole: int) -> None:
            done.append(f"start {hole}")

        def poll(self):
            return SUCCESS if type(self).ended else RUNNING

        def cancel(self) -> None:
            done.append("cancel")

        def verify(self, hole: int) -> bool | None:
            return type(self).answers

    return Drill


def abandoned(run: Run) -> Path:
    """The journal as a killed process leaves it: everything was noted, nothing was halted or closed."""
    assert (
        run.parts.journal is not None
        and run.parts.journal.path is not None
        and run.parts.journal.tape.writer is not None
    )
    assert run.parts.journal.tape.writer.durable().wait(60)
    run.parts.journal.tape.broken = True  # the dead write nothing
    run.parts.journal.close()
    return run.parts.journal.path


def in_doubt(runs: Path, drill: type[Skill]) -> Path:
    run = Run(load(TREE, skills=[drill]), clock=Manual(), journal=runs)
    while run.parts.engine.root.children[1].status is not RUNNING:
        run.tick()
    for _ in range(3):
        assert run.parts.journal.tape.writer.durable().wait(60)
        run.tick()
    return abandoned(run)
