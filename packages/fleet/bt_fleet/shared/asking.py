"""The persons whom a robot's run asks: all who look at the fleet. The first answer counts, and says whose it is."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

from bt_fleet.server import forms, names
from bt_fleet.server.link import Link
from bt_fleet.server.messages import Intake, whose
from bt_fleet.shared.member import Member
from bt_fleet.shared.surroundings import from_environment
from bt_runtime.events import Notice
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.person import Person, Reply

AGAIN = 1.0  # seconds after which an open question is told again, to those who have come since


class FleetPerson(Person):
    """A run's service `person`. Its questions go to the fleet's inbox, and its answers come from there."""

    def __init__(self, member: Member) -> None:
        super().__init__()
        self.member, self.run, self.intake = member, uuid4().hex[:8], Intake()
        member.begin(self._work())

    async def _work(self) -> None:
        """Tells open questions again and again, and takes answers."""
        link: Link = self.member.link
        await link.up.wait()
        await link.nc.subscribe(names.news(names.answer(self.member.robot, "*")), cb=self._answered)
        while True:
            for reply in [*self.open.values()]:
                await self._tell(reply)
            await asyncio.sleep(AGAIN)

    def put(self, reply: Reply) -> Reply:
        self.member.begin(self._tell(reply))
        return super().put(reply)

    def closed(self, reply: Reply, text: str) -> bool:
        gone = super().closed(reply, text)
        if gone:
            self.member.begin(self._tell(reply, open=False))
        return gone

    async def _tell(self, reply: Reply, open: bool = True) -> None:
        name = self.context.tree.name if self.context is not None and self.context.tree is not None else ""
        body = {"id": f"{self.run}-{reply.number}", "tree": name, "text": reply.question, "open": open,
                "confirms": reply.confirms}  # fmt: skip
        if self.member.link.up.is_set():
            await self.member.link.nc.publish(names.said(self.member.robot, "asks"), json.dumps(body).encode())

    async def _answered(self, message: Any) -> None:
        if (body := self.intake.read(forms.ANSWER, message)) is None:
            return
        run, _, number = body["id"].partition("-")
        if run != self.run or not number.isdecimal() or len(number) > 9:
            return
        text, by = " ".join(body["text"].split()), whose(message.subject, body.get("by", ""))
        try:
            self.answer(int(number), text)
        except BtError:  # another one was first
            return
        if self.context is not None:
            self.context.emit(Notice("", "info", f"{by} answered: {text}"))


def person() -> FleetPerson | None:
    """Returns the person for a run that a robot's agent has started; None for another run."""
    member = from_environment()
    return FleetPerson(member) if member is not None else None
