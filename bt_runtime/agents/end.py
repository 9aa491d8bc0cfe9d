"""The end of an agent node: each end has a reason from a short list."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError, TooLong

Why = Literal["done", "failure", "budget", "loop", "invalid", "cancelled", "expanded", "too long", "error"]
TOO_LONG: Why = "too long"  # the prompt exceeds the model's context: a limit, no bug


class Ending(NamedTuple):
    """The end of an agent. `detail` names the budget, the loop, the canceller, or the invalid answer."""

    why: Why
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.why == "done"

    def __str__(self) -> str:
        return f"{self.why}: {self.detail}" if self.detail else self.why


class OutOfBudget(BtError):
    """Raised before a question that exceeds the node's or the run's budget; it ends the node."""


def ended_by(error: Exception) -> Ending:
    """Returns the ending of a node that an exception stopped."""
    if isinstance(error, TooLong):
        return Ending(TOO_LONG, error.message)
    return Ending("error", f"{type(error).__name__}: {error}")
