"""Shows an evaluation's progress: one redrawn line on a terminal, one line an episode in a file."""

from __future__ import annotations

import sys
import time
from collections import Counter

from bt_lab.run.outcome import Outcome
from bt_runtime.cli.color import GREEN, PLAIN, RED, YELLOW, painted
from bt_runtime.cli.terminal import raw
from bt_runtime.language.faults.format import visible

_CLEAR = "\r\x1b[K"


class Progress:
    def __init__(self, heading: str, color: str | None = None) -> None:
        self.heading, self.count, self.done = heading, 0, 0
        self.reached: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.live = sys.stderr.isatty()
        self.painted = painted(sys.stderr, color)
        self.began = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.live and self.done:
            print(file=sys.stderr)

    def told(self, outcome: Outcome, left: int) -> None:
        self.done += 1
        self.count = self.done + left
        self.tried[outcome.strategy] += 1
        self.reached[outcome.strategy] += outcome.success
        if not self.live:
            print(self.line(outcome), file=sys.stderr, flush=True)
            return
        if outcome.error:
            print(f"{_CLEAR}{self.line(outcome)}", file=raw(sys.stderr))
        print(f"{_CLEAR}{visible(self.whole())}", end="", file=raw(sys.stderr), flush=True)

    def whole(self) -> str:
        scores = "  ".join(f"{name} {self.reached[name]}/{self.tried[name]}" for name in self.tried)
        left = (time.monotonic() - self.began) / self.done * (self.count - self.done)
        return f"{self.heading} {self.done}/{self.count}  {scores}  {_clock(left)} left"

    def line(self, outcome: Outcome) -> str:
        word, tint = ("error", YELLOW) if outcome.error else ("met", GREEN) if outcome.success else ("not met", RED)
        shown = f"{tint}{word}{PLAIN}" if self.painted else word
        why = f"  {visible(outcome.error or outcome.label)}" if outcome.error or outcome.label else ""
        place = f"{self.done}/{self.count}".rjust(9)
        score = f"{shown} {outcome.met}/{outcome.total}, {outcome.steps} steps{why}"
        return f"{self.heading} {place}  {visible(f'{outcome.strategy}  {outcome.task}')}  {score}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
