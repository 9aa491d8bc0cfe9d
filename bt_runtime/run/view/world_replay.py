"""Replays the world of a recorded run beside it, so that the page can show each moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.agents.recorded.worlds import RecordedWorld
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.view.plain import clipped
from bt_runtime.run.view.scene import picture
from bt_runtime.types import Json


class WorldReplay:
    """Replays worlds that are quick and resettable; for others, shows the latest observation."""

    def __init__(self, world: Any = None) -> None:
        self.world = world
        self.last: Json = None

    @classmethod
    def of(cls, head: Mapping[str, Any]) -> WorldReplay:
        about = head.get("world") or {}
        moves = "skill" in about.get("has", ())  # it stands as its skills have left it, not its sentences
        if not about or moves or about.get("lasting") or not about.get("instant") or not about.get("suite"):
            return cls()
        try:
            return cls(RecordedWorld(head).open())
        except (BtError, KeyError, TypeError, ValueError):
            return cls()

    def begun(self) -> Json:
        """Returns the picture before the first action."""
        return self._new(picture(self.world)) if self.last is None else None

    def acted(self, sentence: str, value: Any) -> Json:
        if self.world is None:
            return self._new({"is": "text", "text": clipped(_observed(value))})
        try:
            self.world.act(sentence)
        except Exception:
            self.world = None  # it is no longer what it was: better nothing than something false
            return None
        return self._new(picture(self.world))

    def _new(self, seen: Json) -> Json:
        if seen is None or seen == self.last:
            return None
        self.last = seen
        return seen


def _observed(value: Any) -> str:
    """Returns the text of a recorded observation: `["SUCCESS", {"$": "observation", "v": [text, …]}, …]`"""
    told = value[1] if isinstance(value, list) and len(value) > 1 else value
    if isinstance(told, dict) and told.get("$") == "observation":
        return str(told["v"][0])
    return str(told)
