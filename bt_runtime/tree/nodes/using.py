"""Starts an agent's action in the world; if its skill `uses` a resource, waits for it like a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bt_runtime.skills.activity import Activity, Ended, News, Stops
from bt_runtime.tree.nodes.skill import act

if TYPE_CHECKING:
    from bt_runtime.language.entry import Entry
    from bt_runtime.skills.resources import Hold
    from bt_runtime.tree.context import Context


def chosen(world: Any, sentence: str, context: Context, entry: Entry | None, by: object = None) -> Activity:
    """Acts in a world for an agent, and waits for the resources, which a node would otherwise do."""
    begin = partial(act, world, sentence, context, entry, by)
    return Using(context, entry, sentence, begin) if entry is not None and entry.uses else begin()


class Using(Stops):
    """Starts once all that the skill `uses` is free, and has it until the end."""

    wakes = False

    def __init__(self, context: Context, entry: Entry, sentence: str, start: Callable[[], Activity]) -> None:
        self.context, self.entry, self.sentence, self.start = context, entry, sentence, start
        self.inner: Activity | None = None
        self.hold: Hold | None = None

    def poll(self) -> Ended | News | None:
        if self.inner is None:
            resources = self.context.resources
            if resources.blocker(self.entry.uses) is not None:
                return None
            self.inner = self.start()
            self.hold = resources.take(self.entry.uses, self.sentence)
            self.wakes = self.inner.wakes
        try:
            done = self.inner.poll()
        except BaseException:
            self._leave()
            raise
        if isinstance(done, Ended):
            self._leave()
        return done

    def _leave(self) -> None:
        hold, self.hold = self.hold, None
        if hold is not None:
            self.context.resources.leave(hold)

    def cancel(self, reason: str) -> None:
        inner = self.inner
        if inner is None:
            return
        if self.hold is not None and (inner.lingers or inner.in_thread):
            self.context.resources.stopping(self.hold, inner)
        else:
            self._leave()
        inner.cancel(reason)
