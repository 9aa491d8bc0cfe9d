"""A world of one room, in which nothing ever changes, and how an agent ended in it."""

from __future__ import annotations

from bt_runtime.types import Observation, Verdict


class Room:
    """A world that answers every action with the same words."""

    instant = True

    def __init__(self, ok: bool = True) -> None:
        self.ok = ok
        self.acts: list[str] = []

    def look(self):
        return Observation("You are in a room.")

    def skills(self):
        return ["go left", "go right", "jump"]

    def act(self, sentence):
        self.acts.append(sentence)
        return Observation("Nothing new.", self.ok)

    def verdict(self):
        return Verdict(0, 1)

    def holds(self, fact):
        return None


def ending(run):
    return next(str(n.ending) for n in run.nodes() if getattr(n, "ending", None) is not None)
