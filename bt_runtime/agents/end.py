"""How an agent node ended, and why: every end carries one of a few words."""

from __future__ import annotations

from typing import Literal, NamedTuple

Why = Literal["done", "failure", "budget", "loop", "invalid", "cancelled", "expanded", "error"]


class Ending(NamedTuple):
    """`detail` names which budget, which loop, who cancelled, or what was invalid."""

    why: Why
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.why == "done"

    def __str__(self) -> str:
        return f"{self.why}: {self.detail}" if self.detail else self.why
