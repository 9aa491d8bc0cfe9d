"""Rollback: the world as it was, when what was tried in it has failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_trees.common import Status

from bt_runtime.events import RolledBack
from bt_runtime.tree.node import FAILURE, RUNNING
from bt_runtime.tree.nodes.parent import Decorator
from bt_runtime.types import Restorable


class Rollback(Decorator):
    before: bytes | None = None
    deeds: Sequence[tuple[str, str]] = ()  # that were done before

    def choose(self) -> Any:
        if self.status is not RUNNING:
            world: Any = self.context.services.world
            self.before = world.snapshot() if isinstance(world, Restorable) else None
            self.deeds = [*self.context.services.deeds]
        return self.children[0]

    def conclude(self, status: Status) -> Any:
        if status is FAILURE and self.before is not None:
            world: Any = self.context.services.world
            world.restore(self.before)
            self.context.services.deeds[:] = self.deeds
            self.context.emit(RolledBack(self.path))
        return status
