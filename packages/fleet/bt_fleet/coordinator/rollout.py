"""Versions of trees as a coordinator handles them: what it asks bids for, what it orders, and how the ends so far judge
a version that is being tried."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bt_fleet.server import names
from bt_fleet.store.record import Record
from bt_fleet.store.store import Store
from bt_fleet.versions import deployment
from bt_fleet.versions.deployment import Deployment

_LOG = logging.getLogger(__name__)


class Rollouts:
    """`settings` are the fleet's, as the store has them; `alive` are the robots that are heard."""

    def __init__(self, store: Store, settings: dict[str, Any], alive: Callable[[], set[str]]) -> None:
        self.store, self.settings, self.alive = store, settings, alive

    def asked(self, held: Record) -> Record:
        """Returns the record with the version that most robots would run: bids are asked for it."""
        tried = self._of(held.task.tree)
        if tried is None or held.task.digest or not tried.stable:
            return held
        return replace(held, task=replace(held.task, digest=tried.stable))

    def version(self, held: Record, robot: str) -> str:
        """Returns the digest that the robot is ordered to run; "" for its own project's."""
        tried = self._of(held.task.tree)
        return held.task.digest or (tried.version(robot, self.alive()) if tried is not None else "")

    def _of(self, tree: str) -> Deployment | None:
        found = self.settings.get(f"deploy.{tree}")
        return deployment.of(found) if found else None

    async def judge(self, tree: str) -> None:
        """Takes a version that is tried back, or gives it to all robots, by how its tasks have ended so far."""
        tried = self._of(tree)
        if tried is None or not tried.candidate:
            return
        counts = deployment.counted(await self.store.records(), tree)
        before, after = (counts.get(digest, deployment.Count()) for digest in (tried.stable, tried.candidate))
        if (decided := tried.judged(before, after, self.store.wall())) is not None:
            self.settings[f"deploy.{tree}"] = json.loads(decided.text())
            await (await self.store.link.bucket(names.SETTINGS)).put(f"deploy.{tree}", decided.text())
            _LOG.warning("%s %s: %s", tree, tried.candidate, decided.notes[-1])
