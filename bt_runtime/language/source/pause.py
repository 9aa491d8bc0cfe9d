"""Keeps the garbage collector away from trees: while one is loaded, and while a run of it stands.

A tree is no garbage, and a walk over all of it takes as long as several ticks. `gc.freeze` puts every object of the
process aside without a look. So that no garbage piles up there, those put aside are counted, and a later load or `Run`
makes a full collection when they could be too many."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

LEAST = 2_000  # objects; fewer are left to the ordinary collection of the young
MOST = 500_000  # objects put aside without a look, or half of all that stood, before a full collection is made


class PausedCollection:
    """`with PausedCollection(): ...` can be nested; the exit restores the collector's previous state."""

    def __enter__(self) -> None:
        self.was_on = gc.isenabled()
        if self.was_on and not _ASIDE.runs:
            _ASIDE.look()
        gc.disable()

    def __exit__(self, *reason: object) -> None:
        if self.was_on:
            if not _ASIDE.runs and gc.get_count()[0] >= LEAST:
                _ASIDE.put()
            gc.enable()


class _Aside:
    """The objects of this process that the collector does not look at: for as long as a run is open."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a collection inside may end a run
        self.runs = 0  # open ones
        self.unseen = self.standing = 0  # objects put aside since the last look, at most; all that stood after it

    def look(self) -> None:
        """Makes a full collection if it is due."""
        with self.lock:
            if self.unseen > max(MOST, self.standing // 2):
                gc.unfreeze()
                gc.collect()
                gc.freeze()
                self.unseen, self.standing = 0, gc.get_freeze_count()
                self.change(0)

    def put(self, runs: int = 0) -> None:
        """Puts all objects aside; without an open run they come back as old ones, which costs no walk either."""
        with self.lock:
            (young, middle, old), limits = gc.get_count(), gc.get_threshold()
            self.unseen += young + limits[0] * (middle + limits[1] * old)
            gc.freeze()
            self.change(runs)

    def change(self, runs: int) -> None:
        with self.lock:
            self.runs += runs
            if not self.runs:
                gc.unfreeze()


_ASIDE = _Aside()


def stands(run: object) -> Callable[[], object]:
    """Spares the ticks of a run the walk over all that stands now. Call the result at its end."""
    if _ASIDE.runs:
        _ASIDE.look()
    _ASIDE.put(1)
    end = weakref.finalize(run, _ASIDE.change, -1)  # for a run that nobody closes
    end.atexit = False
    return end
