"""Which version of a tree a robot runs, while a new one is tried on some robots first."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from bt_fleet.store import record
from bt_fleet.store.record import Record

ENOUGH = 20  # ends of the new version without a rise of failures, after which all robots run it
LEAST = 10  # ends of the old one; with fewer, one failure in ten is taken for its rate
_ACT = re.compile(r"(\d+) ([^:]+) ((?:deploys|goes back to) .*)")
RISE = 0.05  # the chance below which more failures are no chance


class Count(NamedTuple):
    """How the tasks of one version have ended."""

    failed: int = 0
    ended: int = 0

    def __str__(self) -> str:
        return f"{self.failed} of {self.ended} failed"


@dataclass(frozen=True)
class Deployment:
    tree: str
    stable: str = ""  # the digest that robots run; "": each its own project's
    candidate: str = ""  # the digest that is tried; "": none
    share: float = 1.0  # share of the robots that try it
    since: float = 0.0
    by: str = ""
    number: int = 0  # number of the latest signed version
    notes: tuple[str, ...] = ()  # decisions with their reasons

    def text(self) -> bytes:
        return json.dumps({**asdict(self), "notes": list(self.notes[-20:])}).encode()

    def canaries(self, robots: Iterable[str]) -> set[str]:
        """Returns the robots that try the candidate: always the same ones, one at least."""
        ordered = sorted(robots, key=lambda name: hashlib.sha256(f"{self.candidate} {name}".encode()).digest())
        return set(ordered[: max(1, round(self.share * len(ordered)))]) if self.candidate else set()

    def version(self, robot: str, robots: Iterable[str]) -> str:
        """Returns the digest that this robot runs; "" for its own project's."""
        return self.candidate if robot in self.canaries({*robots, robot}) else self.stable

    def judged(self, old: Count, new: Count, now: float) -> Deployment | None:
        """Returns the deployment after the ends so far; None while it is too early to tell."""
        chance = rise(old, new)
        if new.failed > 1 and chance < RISE:
            note = f"back: {new}, against {old} before (p = {chance:.3g})"
            return self.noted(note, now, candidate="")
        if new.ended >= ENOUGH:
            return self.noted(f"for all: {new}, against {old} before", now, stable=self.candidate, candidate="")
        return None

    def noted(self, note: str, now: float, **more: Any) -> Deployment:
        return replace(self, since=now, notes=(*self.notes, f"{now:.0f} {note}"), **more)


def acts(each: Deployment) -> list[tuple[float, str, str]]:
    """Returns what persons did: when, who, and what. What a coordinator decides is none of it."""
    found = (_ACT.match(note) for note in each.notes)
    return [(float(act[1]), act[2], f"{act[3]}, as {each.tree}") for act in found if act is not None]


def of(data: Mapping[str, object]) -> Deployment:
    known = {name: value for name, value in data.items() if name in Deployment.__dataclass_fields__}
    return Deployment(**{**known, "notes": tuple(known.get("notes", ()))})  # type: ignore[arg-type]


def counted(records: Iterable[Record], tree: str) -> dict[str, Count]:
    """Counts how the tasks of a tree have ended, by version. A cancelled task says nothing of its version."""
    found: dict[str, Count] = {}
    for held in records:
        if held.task.tree == tree and held.verdict in (record.SUCCESS, record.FAILURE):
            before = found.get(held.version, Count())
            found[held.version] = Count(before.failed + (held.verdict == record.FAILURE), before.ended + 1)
    return found


def rise(old: Count, new: Count) -> float:
    """Returns the chance of at least so many failures of the new version if it were as good as the old one (Fisher's
    exact test, one-sided)."""
    if old.ended < LEAST:
        old = Count(max(old.failed, 1), LEAST)
    failed, ended = old.failed + new.failed, old.ended + new.ended
    ways = math.comb(ended, new.ended)
    worse = range(new.failed, min(failed, new.ended) + 1)
    return sum(math.comb(failed, k) * math.comb(ended - failed, new.ended - k) for k in worse) / ways
