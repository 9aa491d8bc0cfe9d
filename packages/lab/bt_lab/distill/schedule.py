"""The training schedule: duration, learning rate, and batch size."""

from __future__ import annotations

from dataclasses import dataclass

from bt_lab.distill.checkpoint import State
from bt_runtime.language.faults.diagnostic import BtError


@dataclass(frozen=True, slots=True)
class Schedule:
    """How to train. The learning rate rises, stays, and decays in the last part of the budget, so that a run can be
    prolonged."""

    minutes: float = 0.0  # 0: as long as the tokens last
    tokens: int = 0
    batch: int = 8192  # tokens of a step
    rate: float = 3e-3
    warm: int = 100  # steps until the rate is reached
    fall: float = 0.25  # share of the budget
    echo: float = 0.1  # how much the context counts beside the answers
    decay: float = 0.1
    clip: float = 1.0
    seed: int = 0
    compile: bool = True
    processes: int = 1  # processes that share a batch
    tell_every: float = 15.0  # seconds
    save_every: float = 60.0
    look_every: float = 600.0  # between two looks at what was held back
    slice: float = 0.0  # minutes after which it stops, to be gone on with; 0: only at the end of the budget

    def __post_init__(self) -> None:
        if self.minutes <= 0 and self.tokens <= 0:
            raise BtError("training needs an end", "say how long: --minutes or --tokens")
        if not 0.0 < self.fall <= 1.0:
            raise BtError(f"the rate cannot fall for {self.fall:g} of the budget", "say more than 0, and at most 1")
        if self.processes < 1:
            raise BtError(f"{self.processes} processes train nothing", "one at least: --processes 1")

    @property
    def row(self) -> int:
        """The tokens that one process handles in a step."""
        return self.batch // self.processes

    def spent(self, state: State) -> float:
        """Returns the used share of the budget."""
        by_tokens = state.tokens / self.tokens if self.tokens else 0.0
        by_time = state.seconds / (60 * self.minutes) if self.minutes else 0.0
        return max(by_tokens, by_time)

    def falls(self, state: State) -> bool:
        return self.spent(state) > 1.0 - self.fall

    def rate_at(self, state: State) -> float:
        warm = min(1.0, (state.step + 1) / self.warm)
        return self.rate * warm * min(1.0, max(0.0, (1.0 - self.spent(state)) / self.fall))
