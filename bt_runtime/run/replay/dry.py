"""The brake of a dry fork: a recorded run goes on without effects, up to the first action that it would begin."""

from __future__ import annotations

from bt_runtime.run.run import Run
from bt_runtime.skills.activity import Activity, Pending
from bt_runtime.tree.action import Action
from bt_runtime.tree.gates import Gate, Start


class Brake(Gate):
    """Begins no action, and keeps which one would have been the first."""

    wanted = ""

    def __init__(self) -> None:
        self.run: Run | None = None

    def put_on(self, run: Run) -> None:
        self.run = run
        run.parts.context.gates.add(self)

    def start(self, action: Action, start: Start) -> Activity:
        assert self.run is not None
        self.wanted = self.wanted or action.sentence
        self.run.parts.runner.halt("a dry fork begins no action")
        return Pending()
