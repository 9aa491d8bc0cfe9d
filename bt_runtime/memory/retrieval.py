"""The experiences retrieved for a goal, with reasons: whole ones, nearest first, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from bt_runtime.memory.experience import Experience
from bt_runtime.types import End

Fit = Literal["prefix", "skip"]
REACH = 1000  # experiences that `skip` looks at; a spent budget must not read the whole store


@dataclass(frozen=True, slots=True)
class Look:
    """An experience that was considered; at task level, the task's root."""

    uid: str
    goal: str
    score: float
    end: End
    tokens: int
    fate: str  # taken, or why not


@dataclass(frozen=True, slots=True)
class Retrieval:
    goal: str
    taken: tuple[Experience, ...]
    looks: tuple[Look, ...]
    tokens: int
    budget: int | None
    cut: str  # why there are no more

    def why(self) -> str:
        head = f"{self.goal!r}: {len(self.taken)} experiences, {self.tokens} tokens"
        head += f" of {self.budget}" if self.budget is not None else ""
        rows = [
            f"  {look.score:.6f}  {look.end:<7}  {look.tokens:>6}  {look.uid[:12]}  {look.fate:<9}  {look.goal}"
            for look in self.looks
        ]
        titles = ["  score     end      tokens  id            fate       goal"] if rows else []
        return "\n".join([head, *titles, *rows, f"  cut: {self.cut}"])


@dataclass(frozen=True, slots=True)
class Candidate:
    """The next candidate: one experience, or all agents of one task."""

    score: float
    parts: tuple[Experience, ...]  # the first is what was ranked


def fill(
    goal: str, offers: Iterable[Candidate], count: Callable[[str], int], budget: int | None, k: int, fit: Fit,
    similarity: float = 0.0,
) -> Retrieval:  # fmt: skip
    """Takes whole experiences. One that does not fit ends the list (`prefix`) or is skipped (`skip`); one whose goal is
    less alike than `similarity` ends it."""
    taken: list[Experience] = []
    looks: list[Look] = []
    spent = units = 0
    cut = "nothing else matches the filter"
    for offer in offers if k > 0 else ():
        first = offer.parts[0]
        if offer.score < similarity:
            looks.append(Look(first.uid, first.goal, offer.score, first.end, first.tokens, "refused"))
            cut = f"the next one is alike by {offer.score:.2f}, and {similarity:g} is asked for"
            break
        tokens = sum(count(part.text) for part in offer.parts)
        fits = budget is None or spent + tokens <= budget
        fate = "taken" if fits else f"too long, {(budget or 0) - spent} left"
        looks.append(Look(first.uid, first.goal, offer.score, first.end, tokens, fate))
        if fits:
            taken += offer.parts
            spent += tokens
            units += 1
            if units == k:
                cut = f"k = {k} reached"
                break
        elif fit == "prefix":
            cut = f"the next one needs {tokens} tokens, {(budget or 0) - spent} are left"
            break
        elif len(looks) >= REACH:
            cut = f"{REACH} experiences looked at"
            break
    if k <= 0:
        cut = f"k = {k}"
    return Retrieval(goal, tuple(taken), tuple(looks), spent, budget, cut)
