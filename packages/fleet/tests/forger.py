"""Somebody who has a key and means harm: publishes forged, malformed, repeated and late messages under every name.

A robot's key that was never given a task, and a viewer's. What they send is what anybody of the fleet sends, with the
word FORGED in it, or what they and an operator have heard before.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bt_fleet.server import names
from bt_fleet.server.access import _NEWS, API
from bt_fleet.server.link import Address, Link

WORD = "FORGED"
PEOPLE = (("robot", "mallory"), ("viewer", "vic"))
MALFORMED = (
    b"", b"[]", b"null", b"\xff\xfe", b"[" * 1000, b'{"a":NaN}', b'{"what":"ended"}', b'{"holds":{"t1":5}}',
    b'{"what":"started","term":%d}' % 10**70, b'{"do":{"id":"../x","tree":"t"},"term":1,"policy":"repeat","takes":1}',
)  # fmt: skip


class Heard:
    """The latest messages that an operator has been told, as they were published."""

    def __init__(self) -> None:
        self.messages: deque[tuple[str, bytes]] = deque(maxlen=2000)

    async def listen(self, link: Link) -> None:
        for subject in _NEWS:
            await link.nc.subscribe(subject, cb=self._note)

    async def _note(self, message: Any) -> None:
        kind, _, rest = message.subject.removeprefix("fleet.").partition(".")
        self.messages.append((f"$KV.{rest}" if kind == "changed" else f"fleet.{rest}", message.data))


class Forger:
    """One of them. Its link has its own key; its dice are seeded."""

    def __init__(self, url: str, key: Path, robots: list[str], tasks: int, seed: int, heard: Heard) -> None:
        self.link = Link(Address(url, creds=key), key.stem)
        self.me, self.robots, self.tasks, self.heard = key.stem, robots, tasks, heard
        self.dice = random.Random(f"{seed} {key.stem}")
        self.sent = 0

    async def work(self, count: int, pause: float, going: Callable[[], bool]) -> None:
        """Sends at least so many messages, and more while `going` says that others still act."""
        await self.link.opened(60)
        try:
            while self.sent < count or going():
                await asyncio.sleep(self.dice.expovariate(1 / pause))
                subject, body = self.message()
                reply = self.dice.choice(["", names.verdict(self._task()), names.report(self._robot(), self._task())])
                with suppress(Exception):  # the server is dead at present, or will not have it
                    for each in {subject, subject.replace("$JS.API", API)}:
                        await self.link.nc.publish(each, body, reply=reply)
                    self.sent += 1
        finally:
            await self.link.close()

    def _task(self) -> str:
        return f"t{self.dice.randrange(self.tasks)}"

    def _robot(self) -> str:
        return self.dice.choice([*self.robots, self.me])

    def message(self) -> tuple[str, bytes]:
        """Returns a message that is forged, malformed, or repeated late."""
        kind = self.dice.random()
        if kind < 0.25 and self.heard.messages:
            return self.dice.choice(self.heard.messages)
        subject, body = self.dice.choice(self._forged(self._robot(), self._task()))
        return subject, self.dice.choice(MALFORMED) if kind > 0.8 else json.dumps(body).encode()

    def _forged(self, robot: str, task: str) -> list[tuple[str, dict[str, Any]]]:
        term = self.dice.randint(1, 3)
        ended = {"what": "ended", "term": term, "verdict": self.dice.choice(["success", "failure"]), "reason": WORD,
                 "robot": robot, "task": task, "id": f"{task}.{term}.ended"}  # fmt: skip
        said = {"what": self.dice.choice(["started", "returned", "doubt", "fenced"]), "term": term, "reason": WORD}
        do = {"do": {"id": f"forged-{task}", "tree": "repeat"}, "term": 1, "policy": "repeat", "takes": 0.1}
        stop = {"stop": self.dice.choice(["cancel", "return", "drop"]), "task": task, "term": 9, "reason": WORD}
        record = {"task": {"id": task, "tree": "repeat", "sender": WORD}, "state": "done", "verdict": "failure",
                  "reason": WORD}  # fmt: skip
        added = {"task": {"id": f"forged-{task}", "tree": "repeat", "sender": WORD}}
        halt, by = {"on": True, "reason": WORD, "by": WORD}, self.dice.choice(["ann", "watcher", self.me])
        return [
            (names.verdict(task), ended), (names.report(robot, task), ended), (names.report(robot, task), said),
            (names.order(robot, task), do), (names.order(robot, task), stop),
            (names.claim(robot, task, term), {"by": ""}),
            (names.kept(names.TASKS, task), record), (names.kept(names.TASKS, f"forged-{task}"), added),
            (names.kept(names.SETTINGS, names.halt(names.EVERY, by)), halt), (names.wish("cancel", by), {"task": task}),
            (names.kept(names.SETTINGS, names.halt(robot, by)), halt), (names.wish("send", by), added),
            (names.kept(names.SETTINGS, names.drain(robot, by)), halt),
            (names.journal(robot, task, term), {"fence": True}),
            (names.alive(robot), {"holds": {task: [term, "running"]}, "running": task}),
            (names.fetch(robot, task), {}), (names.halted(robot), {"halted": WORD}), (names.call(robot), {"call": "c"}),
            (names.news(names.answer(robot, "ann")), {"id": "q", "text": WORD}),
            (names.changed(names.SETTINGS, names.halt(names.EVERY, by)), halt),
            (names.answer(robot, "ann"), {"id": "q", "text": WORD}),
            ("$JS.API.STREAM.PURGE.fleet_orders", {}), ("$JS.API.STREAM.DELETE.KV_fleet_tasks", {}),
            (f"$JS.API.CONSUMER.DELETE.fleet_orders.{robot}", {}),
            (f"$JS.API.CONSUMER.MSG.NEXT.fleet_orders.{robot}", {}),
            (f"$JS.ACK.fleet_orders.{robot}.1.{term}.{term}.1.0", {}),
        ]  # fmt: skip
