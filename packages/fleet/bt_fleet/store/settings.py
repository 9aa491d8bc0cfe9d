"""What holds for the whole fleet, as the store has it: halts, drains, deployments."""

from __future__ import annotations

from typing import Any

from bt_fleet.server import forms, messages, names
from bt_fleet.server.messages import Malformed
from bt_fleet.store.store import Store

_FORMS = {"halt": forms.REASON, "drain": forms.SWITCH, "deploy": forms.DEPLOYMENT}  # by the first part of a key


class Settings:
    """The settings, kept in step with the store while `watch` runs."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.values: dict[str, Any] = {}

    async def watch(self) -> None:
        watcher = await (await self.store.link.bucket(names.SETTINGS)).watchall()
        async for entry in watcher:
            if entry is not None:
                self.values[entry.key] = self._read(entry.key, entry.value)

    def _read(self, key: str, value: bytes | None) -> Any:
        """Returns what a setting says; None for what is none."""
        form = _FORMS.get(key.partition(".")[0])
        if not value or form is None:
            return None
        try:
            return messages.read(form, value)
        except Malformed as error:
            self.store.intake.refuse(names.kept(names.SETTINGS, key), error.message)
            return None

    def halt(self, key: str) -> str | None:
        """Returns why `halt`, or a robot's `halt.NAME`, is set; None while it is not."""
        said = self.values.get(key)
        return str(said["reason"]) if said else None

    def halted(self, robot: str) -> str | None:
        return self.halt("halt") or self.halt(f"halt.{robot}")

    def drained(self, robot: str) -> bool:
        return bool(self.values.get(f"drain.{robot}"))
