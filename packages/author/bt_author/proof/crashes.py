"""The crashes that a `try` of an explored tree may still ask about, in an order that does not depend on how many came
before."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from bt_runtime.events import Crash
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import RUNNING
from bt_runtime.tree.nodes.branches import Try


class Crashes:
    """`asks`: whether any of the nodes asks for crashes."""

    STATE = ("paths",)

    def __init__(self, context: Context, nodes: Sequence[Any], asks: bool) -> None:
        self.context, self.asks = context, asks
        self.nodes = [node for node in nodes if isinstance(node, Try)]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(crash.path for crash in self.context.crashes)

    @paths.setter
    def paths(self, paths: Sequence[str]) -> None:
        self.context.crashes = deque((Crash(path, "", "", at) for at, path in enumerate(paths, 1)), maxlen=256)
        self.context.crash_count = len(paths)

    def settle(self) -> None:
        """Forgets the crashes that nobody asks about, and numbers the others anew."""
        running = [node for node in self.nodes if node.status is RUNNING]
        asking = [node for node in running if node.spec.values["on"] == "exception"]
        first = min((node.crashes_before for node in asking), default=self.context.crash_count)
        latest = {crash.path: crash.number for crash in self.context.crashes if crash.number > first}
        kept = sorted(latest, key=latest.__getitem__)
        for node in running:
            before = node.crashes_before if node in asking else 0
            node.crashes_before = sum(1 for path in kept if latest[path] <= before)
        self.paths = kept
