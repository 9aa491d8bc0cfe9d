"""Pauses the garbage collector while a tree is loaded: nothing is garbage yet, and collecting adds a third."""

from __future__ import annotations

import gc


class PausedCollection:
    """`with PausedCollection(): ...` may be nested: the collector is on again where it was on at entry."""

    def __enter__(self) -> None:
        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *reason: object) -> None:
        if self.was_on:
            gc.enable()
