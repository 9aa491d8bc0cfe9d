"""The experiences of one run: collected while it runs, and stored at its end with the world's verdict."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Added
from bt_runtime.types import End, Verdict


class ExperienceStore(Protocol):
    def add(self, experiences: Iterable[Experience]) -> Added: ...
    def retell(self, experiences: Iterable[Experience]) -> Added: ...


class Notebook:
    """Collects what the run's agents did. An agent's own claim is its `end`; the world alone decides, once at the
    end, whether the task was met."""

    def __init__(
        self,
        store: ExperienceStore,
        *,
        run: str,
        task: str = "",
        kind: str = "",
        namespace: str = "default",
        again: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._now, self._again = store, now, again
        self._blank = Experience("", "", "success", namespace, task, kind, run)
        self._pages: dict[str, tuple[str, str, End, float, str]] = {}
        self._lock = threading.Lock()
        self._closed = False

    def note(self, place: str, goal: str, text: str, end: End, labels: str = "") -> None:
        """Notes an ended agent node. A repeated node at one place keeps all its trajectories."""
        with self._lock:
            if self._closed:
                raise BtError(f"the run {self._blank.run} was written already", "a run ends once")
            turn, page = 1, place
            while page in self._pages:
                turn, page = turn + 1, f"{place}#{turn + 1}"
            self._pages[page] = (goal, text, end, round(self._now(), 3), labels)

    def close(self, verdict: Verdict | bool | None) -> Added:
        """Stores all experiences in one transaction, durable on return, or none. After a failed write it may be called
        again.

        A run that goes on (`again`) may have told some or all of this before it was cut off: what it tells now counts.
        """
        met = verdict.reached if isinstance(verdict, Verdict) else verdict
        with self._lock:
            pages = [
                replace(self._blank, goal=goal, text=text, end=end, place=place, verdict=met, when=when, labels=labels)
                for place, (goal, text, end, when, labels) in self._pages.items()
            ]
            added = self._store.retell(pages) if self._again else self._store.add(pages)
            self._closed = True
            return added
