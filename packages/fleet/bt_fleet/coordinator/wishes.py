"""What operators ask of a fleet: to send, cancel and settle tasks, and to deploy versions. A coordinator does it,
under the name that stands in the subject: the server holds each key to its owner's."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bt_fleet.server import forms, messages, names
from bt_fleet.server.link import library
from bt_fleet.store import task as tasks
from bt_fleet.store.record import DONE, Record, folded
from bt_fleet.store.store import COORDINATORS, Store
from bt_fleet.versions import bundle, deployment
from bt_fleet.versions.deployment import Deployment
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

if TYPE_CHECKING:
    from nats.aio.msg import Msg

_LOG = logging.getLogger(__name__)


class Wishes:
    """Each wish is answered with what came of it, by one of the coordinators. It may come twice."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._does = {"send": self._send, "cancel": self._cancel, "settle": self._settle, "deploy": self._deploy}
        self._work: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        await self.store.link.nc.subscribe(names.wish("*", "*"), queue=COORDINATORS, cb=self._asked)

    async def _asked(self, message: Msg) -> None:
        what = message.subject.split(".")[2]
        form = forms.WISHES.get(what, forms.DONE)
        if self.store.intake.too_often(form, message.subject):
            return  # the operator asks again
        if (said := self.store.intake.read(form._replace(often=0), message)) is not None and what in self._does:
            work = asyncio.create_task(self._answered(message, what, said))
            self._work.add(work)
            work.add_done_callback(self._work.discard)
        elif message.reply:
            await message.respond(_text({"error": f"this is no {form.what}", "hint": "its form: docs/fleet-keys.md"}))

    async def _answered(self, message: Msg, what: str, said: Mapping[str, Any]) -> None:
        try:
            answer = await self._does[what](messages.whose(message.subject, said.get("by", "")), said)
        except BtError as error:
            answer = {"error": error.message, "hint": error.hint}
        except (TimeoutError, library().errors.Error) as error:  # whoever wishes asks again
            _LOG.debug("%s: %r", message.subject, error)
            return
        if message.reply:
            await message.respond(_text(answer))

    async def _send(self, who: str, said: Mapping[str, Any]) -> dict[str, Json]:
        return {"new": await self.store.add(replace(tasks.of(said["task"]), sender=who))}

    async def _open(self, task: str) -> Record:
        """Returns a task's record; BtError where it can have no other end any more."""
        found = await self.store.get(task)
        if found is None:
            raise BtError(f"the fleet knows no task {task}", "btr fleet ls")
        if found[0].state == DONE:
            raise BtError(f"task {task} is done: {found[0].verdict}", "send a new one")
        return found[0]

    async def _cancel(self, who: str, said: Mapping[str, Any]) -> dict[str, Json]:
        task, reason = said["task"], said.get("reason", "")
        await self._open(task)
        after = await self.store.change(task, lambda r: r.cancelled(self.store.wall(), who, reason))
        if after is not None and after.robot is not None:
            order = {"stop": "cancel", "task": task, "term": after.term, "reason": after.reason}
            await self.store.order(after.robot, task, order)
        return {}

    async def _settle(self, who: str, said: Mapping[str, Any]) -> dict[str, Json]:
        held, how, wall = await self._open(said["task"]), said["how"], self.store.wall
        if how == "again":
            await self.store.change(held.task.id, lambda r: r.again(wall(), who))
            return {}
        report = {"what": "ended", "task": held.task.id, "term": held.term, "robot": held.robot, "verdict": how,
                  "by": who, "reason": f"settled by {who}"}  # fmt: skip
        first = await self.store.verdict(report)
        settles = first == report
        await self.store.change(
            held.task.id, lambda r: r.settled(how, wall(), who) if settles else folded(r, first, wall())
        )
        return {}

    async def _deploy(self, who: str, said: Mapping[str, Any]) -> dict[str, Json]:
        """Notes a version for a tree, with the number that was signed."""
        from nats.js.errors import NotFoundError

        tree, digest, share = said["tree"], said["digest"], said.get("share", 1.0)
        settings = await self.store.link.bucket(names.SETTINGS)
        try:
            entry = await (await self.store.link.bucket(names.TREES)).get(digest)
        except NotFoundError as error:
            raise BtError(f"the fleet has no version {digest}", "btr fleet versions") from error
        _, terms = await asyncio.to_thread(bundle.opened, entry.value or b"", digest, None)
        if terms.tree != tree:
            raise BtError(f"the version {digest} was signed as `{terms.tree}`, not as `{tree}`", "deploy it as that")
        before, revision = Deployment(tree), 0
        try:
            kept = await settings.get(f"deploy.{tree}")
            before, revision = deployment.of(messages.read(forms.DEPLOYMENT, kept.value or b"")), kept.revision or 0
        except NotFoundError:
            pass
        change = {"candidate": digest} if share < 1 else {"stable": digest, "candidate": ""}
        what = "goes back to" if said.get("back") else "deploys"
        note = f"{who} {what} {digest} {f'on {share:.0%} of the robots' if share < 1 else 'on all robots'}"
        after = before.noted(note, self.store.wall(), **change)
        after = replace(after, share=share, by=who, number=max(before.number, terms.number))
        await settings.update(f"deploy.{tree}", after.text(), revision)
        return {}


def _text(body: Mapping[str, Json]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
