"""A world of a third party, as small as one can be: doors to be opened in order, and tasks that break in every way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bt_runtime.types import Observation, Task, Verdict

BREAKS = ("none", "reset", "act", "verdict", "close", "skills")


class Doors:
    """`open door N` opens the next one; a task says what breaks, and when."""

    instant = True

    def __init__(self) -> None:
        self.opened, self.doors, self.breaks = 0, 0, "none"

    def check(self, what: str) -> None:
        if self.breaks == what:
            raise RuntimeError(f"the {what} of this world is broken")

    def reset(self, task: Task) -> Observation:
        self.opened, self.doors, self.breaks = 0, int(task.data["doors"]), str(task.data["breaks"])
        self.check("reset")
        return self.look()

    def look(self) -> Observation:
        return Observation(f"You see {self.doors} doors; {self.opened} are open.")

    def skills(self) -> Sequence[str]:
        self.check("skills")
        return [f"open door {n}" for n in range(1, self.doors + 1)]

    def act(self, sentence: str) -> Observation:
        self.check("act")
        if sentence != f"open door {self.opened + 1}":
            return Observation("It does not move.", False, "the doors open in order")
        self.opened += 1
        return Observation(f"Door {self.opened} is open.")

    def verdict(self) -> Verdict:
        if self.opened:
            self.check("verdict")
        return Verdict(self.opened, self.doors)

    def holds(self, fact: str) -> bool | None:
        return None

    def digest(self) -> str:
        return str(self.opened)

    def snapshot(self) -> bytes:
        return json.dumps([self.opened, self.doors, self.breaks]).encode()

    def restore(self, snapshot: bytes) -> None:
        self.opened, self.doors, self.breaks = json.loads(snapshot)

    def close(self) -> None:
        CLOSED.append(self)
        self.check("close")


CLOSED: list[Doors] = []  # every world that was closed


class DoorsSuite:
    name = "doors"
    kinds: Sequence[str] = BREAKS
    skills = "doors"

    def open(self, **options: Any) -> Doors:
        return Doors()

    def tasks(
        self, seed: int, count: int, split: str = "train", kinds: Sequence[str] | None = None, **options: Any
    ) -> list[Task]:
        chosen = list(kinds or ["none"])
        return [
            Task(f"doors-{split}-{seed}-{i}", chosen[i % len(chosen)], f"open {1 + i % 3} doors",
                 {"doors": 1 + i % 3, "breaks": chosen[i % len(chosen)]})
            for i in range(count)
        ]  # fmt: skip

    def oracle(self, world: Doors, task: Task, **options: Any) -> Iterator[str]:
        for n in range(1, world.doors + 1):
            yield f"open door {n}"


SUITE = DoorsSuite()
