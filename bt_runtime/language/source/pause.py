"""No garbage collection while a tree is built: everything made is kept, and looking through it takes a third more."""

from __future__ import annotations

import gc


class PausedCollection:
    """`with PausedCollection(): ...` may be nested, and used by several threads: the first to end switches it on."""

    def __enter__(self) -> None:
        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *reason: object) -> None:
        if self.was_on:
            gc.enable()
