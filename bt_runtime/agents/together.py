"""Runs several generators of jobs at once, so that their questions are asked in parallel."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Job

Part = Generator[Any, Any, Any]


class Together(Job[list[Any]]):
    """Is finished when all generators are, with the result of each. The first failure ends the others."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = [*parts]
        self.jobs: list[Job[Any] | None] = [None] * len(parts)
        self.results: dict[int, Any] = {}

    @property
    def wakes(self) -> bool:  # type: ignore[override]
        return all(job.wakes for job in self.jobs if job is not None)

    def poll(self) -> list[Any] | None:
        try:
            for at in range(len(self.parts)):
                self._go_on(at)
        except BaseException:
            self.cancel("another of them failed")
            raise
        return [self.results[at] for at in range(len(self.parts))] if len(self.results) == len(self.parts) else None

    def _go_on(self, at: int) -> None:
        """Advances a generator as far as answers have arrived."""
        while at not in self.results:
            job, answer, fault = self.jobs[at], None, None
            if job is not None:
                try:
                    answer = job.poll()
                except BtError as failed:
                    fault = failed
                if answer is None and fault is None:
                    return
            try:
                self.jobs[at] = self.parts[at].throw(fault) if fault is not None else self.parts[at].send(answer)
            except StopIteration as stop:
                self.jobs[at], self.results[at] = None, stop.value

    def cancel(self, reason: str) -> None:
        for job, part in zip(self.jobs, self.parts, strict=True):
            if job is not None:
                job.cancel(reason)
            part.close()
