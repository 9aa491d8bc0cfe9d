"""Pauses the garbage collector while a tree is loaded: there is no garbage yet, and collection would add a third to the
time."""

from __future__ import annotations

import gc


class PausedCollection:
    """`with PausedCollection(): ...` can be nested; the exit restores the collector's previous state."""

    def __enter__(self) -> None:
        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *reason: object) -> None:
        if self.was_on:
            gc.enable()
