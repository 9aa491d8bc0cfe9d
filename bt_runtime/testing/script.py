"""Test doubles for skills: scripted ones, and the rule for skills that a test did not script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_runtime.run.debug.script import Script
from bt_runtime.skills.answer import ended
from bt_runtime.skills.skill import Skill
from bt_runtime.tree.node import FAILURE, RUNNING, Status


class Scripted(Skill):
    """A skill that follows a script for one node."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.left = 0
        self.act: Any = None

    @property
    def wakes(self) -> bool:
        """True for a double that runs for ever: it needs no polling, and the clock jumps to the next event."""
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
        done = ended(self.act, declared=True)
        self.result, self.feedback = done.value, done.feedback
        return done.status

    def cancel(self) -> None:
        self.script.cancels += 1


def player(script: Script) -> Callable[[], Skill]:
    """The test double as a class, so that each node gets its own instance."""

    class Player(Scripted):
        def __init__(self) -> None:
            super().__init__(script)

    return Player


class Unscripted(BaseException):
    """Raised when a skill starts that the test did not script; no node turns it into a failure."""


class Cast:
    """The test doubles of a trial. A skill that is neither scripted nor allowed is not imported, and starting it
    ends the test, unless it is the test's own end that starts it."""

    over = False

    def __init__(self, scripts: dict[str, Script], allowed: Callable[[str], bool]) -> None:
        self.players = {name: player(script) for name, script in scripts.items()}
        self.allowed = allowed

    def get(self, name: str) -> Callable[[], Skill] | None:
        return self.players.get(name) or (None if self.allowed(name) else self.nobody(name))

    def nobody(self, name: str) -> Callable[[], Skill]:
        class Nobody(Skill):
            def start(nobody, **params: Any) -> None:
                if not self.over:
                    raise Unscripted(name)

            def poll(nobody) -> Status:
                return FAILURE

        return Nobody
