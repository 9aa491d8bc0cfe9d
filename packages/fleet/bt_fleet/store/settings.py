"""What holds for the whole fleet, as the store has it: halts, drains, deployments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bt_fleet.server import forms, messages, names
from bt_fleet.server.buckets import Kept
from bt_fleet.server.messages import Intake, Malformed
from bt_fleet.store.store import Store

_WORDS = {"halt": ("halted", "released"), "drain": ("drains", "drains no more")}


def act(each: Kept) -> list[tuple[float, str, str]]:
    """Returns what a person's word for a switch did: when by the server's clock, who, and what; nothing for no word."""
    what, robot, person = (*each.key.split("."), "", "")[:3]
    try:
        said = messages.read(forms.SWITCH, each.value)
    except Malformed:
        return []
    did = f"{_WORDS[what][not said['on']]} {'all robots' if robot == names.EVERY else robot}"
    at = datetime.fromisoformat(each.at).timestamp()
    return [(at, messages.whose(person, said.get("by", "")), _because(did, said))]


def _because(text: str, said: dict[str, Any]) -> str:
    """Returns the text with a colon and the reason, where one was given."""
    reason = " ".join(said.get("reason", "").split())
    return f"{text}: {reason}" if reason else text


class Switches:
    """Halts and drains. Each person writes under a key of its own; of one thing the latest word holds."""

    def __init__(self, intake: Intake) -> None:
        self.intake = intake
        self.revision = 0  # of the latest word that was taken
        self._last: dict[str, tuple[int, str]] = {}  # "halt.r1" → revision, and who has set it and why; "" while off

    def take(self, key: str, value: bytes | None, revision: int) -> None:
        """Notes a person's wish; one that is malformed or older than the latest changes nothing."""
        what, _, person = key.rpartition(".")
        self.revision = max(self.revision, revision)
        try:
            said = messages.read(forms.SWITCH, value or b"")
        except Malformed as error:
            self.intake.refuse(names.kept(names.SETTINGS, key), error.message)
            return
        if self._last.get(what, (0, ""))[0] < revision:
            who = messages.whose(person, said.get("by", ""))
            self._last[what] = revision, _because(who, said) if said["on"] else ""

    def halt(self, robot: str) -> str | None:
        """Returns who has halted this robot alone, or EVERY, and why; None while nobody has."""
        by = self._last.get(f"halt.{robot}", (0, ""))[1]
        return f"halted by {by}" if by else None

    def halted(self, robot: str) -> str | None:
        return self.halt(names.EVERY) or self.halt(robot)

    def drained(self, robot: str) -> bool:
        return bool(self._last.get(f"drain.{robot}", (0, ""))[1])


class Settings(Switches):
    """The settings, kept in step with the store while `watch` runs."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.intake)
        self.store = store
        self.deployments: dict[str, Any] = {}  # by `deploy.TREE`
        self.whole = False  # all words kept at the start have been read

    async def watch(self) -> None:
        watcher = await (await self.store.link.bucket(names.SETTINGS)).watchall()
        async for entry in watcher:
            if entry is None:
                self.whole = True
                continue
            if not entry.key.startswith("deploy."):
                self.take(entry.key, entry.value, entry.revision or 0)
            elif (read := self.read(entry.key, entry.value)) is not None:
                self.deployments[entry.key] = read

    def read(self, key: str, value: bytes | None) -> Any:
        """Returns a deployment; None for what is none."""
        try:
            return messages.read(forms.DEPLOYMENT, value or b"")
        except Malformed as error:
            self.intake.refuse(names.kept(names.SETTINGS, key), error.message)
            return None
