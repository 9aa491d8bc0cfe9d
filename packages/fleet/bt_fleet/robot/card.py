"""What a robot says of itself: its name, what it can do, where it stands, how it behaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bt_fleet.robot.battery import Battery
from bt_fleet.robot.plan import Place
from bt_runtime.types import Json

WORK, FINISH, STOP = "work", "finish", "stop"  # what a robot does without a connection


@dataclass(frozen=True)
class Card:
    name: str
    facts: Mapping[str, Json] = field(default_factory=dict)  # facts that `needs` are compared with
    place: Place | None = None
    speed: float = 1.0
    battery: Battery = field(default_factory=Battery)
    alone: str = WORK
    alone_after: float = 10.0  # seconds without an answer after which `alone` holds

    def now(self) -> dict[str, Json]:
        """Returns what needs are compared with; the battery as it is now."""
        left = self.battery.left(self.facts)
        return {**self.facts, **({"battery": left} if left is not None else {})}
