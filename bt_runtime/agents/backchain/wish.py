"""What is wanted: facts, each perhaps only where another one holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bt_runtime.agents.backchain.step import NOT

AND, IF = " and ", " if "  # between wishes, and before what one is asked for by


class Wish(NamedTuple):
    fact: str
    test: str = ""  # the fact by which it is asked for; "": always

    def __str__(self) -> str:
        return f"{self.fact}{IF}{self.test}" if self.test else self.fact

    @property
    def tested(self) -> str:
        """The test without its denial."""
        return self.test.removeprefix(NOT)


def wishes_of(goal: str) -> list[Wish]:
    """`apple 1 in fridge 1 if fridge 1 is cold and fridge 1 is closed.` → two wishes, the first with a test."""
    said = [each.strip() for each in goal.strip().removesuffix(".").split(AND)]
    return [Wish(*(part.strip() for part in each.split(IF, 1))) for each in said if each]


def joined(wishes: Iterable[Wish]) -> str:
    return AND.join(map(str, wishes))
