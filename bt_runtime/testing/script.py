"""Skills that do as they are told, and those that a test says nothing about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_runtime.run.debug.script import Script
from bt_runtime.skills.activity import ended
from bt_runtime.skills.skill import Skill
from bt_runtime.tree.node import RUNNING


class Scripted(Skill):
    """One node's part in a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.left = 0
        self.act: Any = None

    @property
    def wakes(self) -> bool:
        """What runs for ever need not be looked at again: the clock jumps to what else is due."""
        return self.left < 0

    def start(self, **params: Any) -> None:
        begun = self.script.begin(params)
        self.left, self.act = begun.ticks, begun.result

    def poll(self) -> Any:
        self.script.polls += 1
        if self.left:
            self.left -= 1 if self.left > 0 else 0
            return RUNNING
        if isinstance(self.act, BaseException):
            raise self.act
        done = ended(self.act)
        self.result, self.feedback = done.value, done.feedback
        return done.status

    def cancel(self) -> None:
        self.script.cancels += 1


def player(script: Script) -> Callable[[], Skill]:
    """A class, so that each node gets a part of its own."""

    class Player(Scripted):
        def __init__(self) -> None:
            super().__init__(script)

    return Player


class Unscripted(BaseException):
    """A skill was to start that the test says nothing about; no node can make a failure of it."""


class Cast:
    """Who plays which skill of a trial. What is neither scripted nor allowed is not looked for, and never runs."""

    def __init__(self, scripts: dict[str, Script], allowed: Callable[[str], bool]) -> None:
        self.players = {name: player(script) for name, script in scripts.items()}
        self.allowed = allowed

    def get(self, name: str) -> Callable[[], Skill] | None:
        return self.players.get(name) or (None if self.allowed(name) else self.nobody(name))

    def nobody(self, name: str) -> Callable[[], Skill]:
        class Nobody(Skill):
            def start(self, **params: Any) -> None:
                raise Unscripted(name)

        return Nobody
