"""Rollback: restores the world and working memory when the actions of a failed child changed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_trees.common import Status

from bt_runtime.agents.services import agent_services
from bt_runtime.events import RolledBack
from bt_runtime.tree.node import FAILURE, RUNNING
from bt_runtime.tree.nodes.parent import Decorator
from bt_runtime.types import Restorable


class Rollback(Decorator):
    HOLDS = True
    ROUND = ("before", "deeds", "known")
    before: bytes | None = None
    deeds: Sequence[tuple[str, str]] = ()  # acts done before
    known: Any = None  # content of working memory at that moment

    def choose(self) -> Any:
        if self.status is not RUNNING:
            services, world = agent_services(self.context), self.context.services.world
            self.before = world.snapshot() if isinstance(world, Restorable) else None
            self.deeds = [*services.deeds]
            self.known = services.working_memory.snapshot() if services.working_memory is not None else None
        return self.children[0]

    def conclude(self, status: Status) -> Any:
        if status is FAILURE and self.before is not None:
            services, world = agent_services(self.context), self.context.services.world
            assert world is not None
            world.restore(self.before)
            services.deeds[:] = self.deeds
            if services.working_memory is not None and self.known is not None:
                services.working_memory.restore(self.known)
            self.context.emit(RolledBack(self.path))
        return status
