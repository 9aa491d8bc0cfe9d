"""What a robot's battery says to a task: refuse it where too little would be left, else what a low battery costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

RESERVE = 10.0  # percent that no task may take
LOW = 40.0  # percent below which a bid is dearer: at the reserve, a task costs almost twice its time


@dataclass(frozen=True)
class Battery:
    file: Path | None = None  # holds the percent that is left, as /sys/class/power_supply/BAT0/capacity does
    drain: float = 0.0  # percent that an hour of work takes

    def left(self, facts: Mapping[str, Json]) -> float | None:
        """Returns the percent that is left: by the file, else by the fact `battery`; None where neither tells."""
        fact = facts.get("battery")
        try:
            return float(self.file.read_text()) if self.file is not None else _number(fact)
        except (OSError, ValueError):
            return None

    def strain(self, left: float, promised: float, more: float) -> float:
        """Returns the seconds that a low battery adds to a bid on `more` seconds of work, after the promised ones.
        BtError when the reserve would be touched."""
        after = left - self.drain * (promised + more) / 3600
        if after < RESERVE:
            raise BtError(
                f"its battery does not last: {left:.0f} % now, {max(after, 0.0):.0f} % afterwards", "charge it"
            )
        return more * max(0.0, LOW - after) / LOW


def _number(fact: Json) -> float | None:
    return float(fact) if isinstance(fact, int | float) and not isinstance(fact, bool) else None
