"""Draws the world after each action: a fast world in the tick, a slow one in the thread that acted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bt_runtime.run.view.plain import plain
from bt_runtime.run.view.scene import picture
from bt_runtime.types import Instant, Json

EVERY = 0.5  # seconds between two looks at a skill that shows itself


class WorldWatcher:
    """Emits a picture of the world whenever it differs from the last one. `after_act` runs in a slow world's thread."""

    def __init__(self, world: Any, say: Callable[[Json], None]) -> None:
        self.world, self.say = world, say
        self.again = 0.0  # moment of the next look at a running skill
        self.last: Json = None
        self.given: Json = None  # the picture that the world gave last
        self.instant = isinstance(world, Instant) and world.instant

    def after_tick(self) -> None:
        if self.instant:
            self.look()

    def after_act(self) -> None:
        if not self.instant:
            self.look()

    def glance(self, scene: Any) -> None:
        """Draws a skill that has its own picture, occasionally, in the tick; for runs without a world."""
        now = time.monotonic()
        if scene is not None and now >= self.again:
            self.world, self.again = scene, now + EVERY
            self.look()

    def look(self) -> None:
        given = picture(self.world)
        same = given is self.given  # a world that goes on with one object: only a copy can be compared, and kept
        seen = plain(given) if same else given
        if seen is None or (seen == self.last and self.last is not given):
            return
        self.given, self.last = given, seen
        self.say(seen)
