"""How long a call waits for a robot's answer: as long as its answers usually take, and four times what they vary by, as
TCP waits for its peer. A robot that is late is not waited for, and is waited for longer the next time."""

from __future__ import annotations

from collections.abc import Iterable

LEAST, MOST = 0.015, 0.25  # seconds
FEW = 4  # tasks of a call whose answers come at once; more take the time to think that they take


class Patience:
    def __init__(self) -> None:
        self._usual: dict[str, tuple[float, float]] = {}  # robot → mean and mean deviation of its answers, in seconds

    def heard(self, robot: str, seconds: float) -> None:
        mean, varies = self._usual.get(robot, (seconds, seconds / 2))
        self._usual[robot] = mean + (seconds - mean) / 8, varies + (abs(seconds - mean) - varies) / 4

    def missed(self, robot: str) -> None:
        mean, varies = self._usual.get(robot, (MOST, 0.0))
        self._usual[robot] = min(2 * mean, MOST), min(2 * varies, MOST)

    def of(self, robot: str) -> float:
        mean, varies = self._usual.get(robot, (MOST, 0.0))
        return max(LEAST, min(MOST, mean + 4 * varies))

    def limit(self, robots: Iterable[str]) -> float:
        """Returns the seconds after which nobody of them is waited for any more."""
        return max(map(self.of, robots), default=MOST)
