"""The brake of a dry fork: a recorded run goes on without effects, up to the first action that it would begin."""

from __future__ import annotations

from collections.abc import Callable

from bt_runtime.skills.activity import Activity, Pending
from bt_runtime.tree.action import Action
from bt_runtime.tree.gates import Gate, Start


class Brake(Gate):
    """Begins no action, and keeps which one would have been the first."""

    wanted = ""
    halt: Callable[[str], object]  # ends the run that it is put on

    def start(self, action: Action, start: Start) -> Activity:
        self.wanted = self.wanted or action.sentence
        self.halt("a dry fork begins no action")
        return Pending()
