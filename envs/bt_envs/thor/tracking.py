"""Tracks clean, hot and cold things, which the simulator does not report: as ALFRED does, from the actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bt_envs.thor.choice import Object


@dataclass(slots=True)
class Tracked:
    """The ids of things that were washed, heated or cooled at least once; they stay in it."""

    clean: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    cold: set[str] = field(default_factory=set)

    def saw(self, action: str, target: str, objects: Mapping[str, Object]) -> None:
        """Updates the tracking after a successful action."""
        entry = objects.get(target)
        if entry is None:
            return
        kind = entry["objectType"]
        if action == "ToggleObjectOn" and kind == "Faucet":
            basin = _nearest_basin(entry, objects)
            self.clean.update(_in(basin) if basin else ())
        elif action == "ToggleObjectOn" and kind == "Microwave":
            self.hot.update(_in(entry))
        elif action == "CloseObject" and kind == "Fridge":
            self.cold.update(_in(entry))


def _in(entry: Object) -> list[str]:
    return entry["receptacleObjectIds"] or []


def _nearest_basin(faucet: Object, objects: Mapping[str, Object]) -> Object | None:
    here = faucet["position"]

    def far(entry: Any) -> float:
        there = entry["position"]
        return float(sum((here[axis] - there[axis]) ** 2 for axis in "xyz"))

    return min((e for e in objects.values() if e["objectType"] == "SinkBasin"), key=far, default=None)
