"""Whatever a key's owner sends, and wherever the answer is to go: it reaches no subject that is not theirs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

from bt_fleet.server import names
from bt_fleet.server.access import API, Role, rights
from bt_fleet.server.link import Link
from bt_fleet.store import record
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from packages.fleet.tests.test_keys import guarded_fleet

# an attempt to connect that fails leaves its socket to the garbage collector, in the client's library
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
ROLES: dict[str, Role] = {"r7": "robot", "ann": "operator", "vic": "viewer"}
BUCKETS = (names.TASKS, names.ROBOTS, names.ENTRIES, names.LOCKS, names.SETTINGS, names.TREES)
STREAMS = (
    names.VERDICTS,
    names.claims("r8"),
    names.ORDERS,
    names.REPORTS,
    names.NEWS,
    *(f"KV_{each}" for each in BUCKETS),
)
KEPT = {
    names.kept(names.TASKS, "kept"): f"KV_{names.TASKS}",
    names.kept(names.ENTRIES, "kept.r8"): f"KV_{names.ENTRIES}",
    names.kept(names.LOCKS, "kept.r8"): f"KV_{names.LOCKS}",
    names.kept(names.TREES, "kept"): f"KV_{names.TREES}",
    names.kept(names.SETTINGS, "deploy.kept"): f"KV_{names.SETTINGS}",
    names.kept(names.SETTINGS, names.halt(names.EVERY, "bob")): f"KV_{names.SETTINGS}",
    names.verdict("kept"): names.VERDICTS,
    names.claim("r8", "kept", 1): names.claims("r8"),
    names.order("r8", "kept"): names.ORDERS,
    names.report("r8", "kept"): names.REPORTS,
    names.journal("r8", "kept", 1): names.copies("r8"),
}
HEADERS = (None, {"Nats-Rollup": "all"}, {"KV-Operation": "PURGE", "Nats-Rollup": "sub"},
           {"Nats-Trace-Dest": names.verdict("traced")})  # fmt: skip


def everything() -> Iterator[str]:
    """Yields a subject of each kind that anybody in a fleet uses, under the names of others, and the server's own."""
    for robot in ("r7", "r8"):
        yield from (names.alive(robot), names.fetch(robot, "t"), names.call(robot), names.bid(robot, "c"))
        yield from (names.halted(robot), names.said(robot, "asks"), names.answer(robot, "bob"), names.order(robot, "t"))
        yield from (names.report(robot, "t"), names.claim(robot, "t", 1), names.journal(robot, "t", 1))
        yield from (names.answer(robot, "ann"), f"$JS.ACK.{names.ORDERS}.{robot}.1.1.1.1.0")
        yield from (names.kept(names.ENTRIES, f"door.{robot}"), names.kept(names.LOCKS, f"lift.{robot}"))
        yield f"$JS.API.CONSUMER.MSG.NEXT.{names.ORDERS}.{robot}"
    for person in ("ann", "bob", names.EVERY):
        yield from (names.wish(what, person) for what in ("send", "cancel", "settle", "deploy"))
        yield from (names.kept(names.SETTINGS, key(names.EVERY, person)) for key in (names.halt, names.drain))
    yield from (names.verdict("t"), names.kept(names.TASKS, "t"), names.kept(names.SETTINGS, "halt"))
    yield from (names.kept(names.SETTINGS, "deploy.t"), names.kept(names.ROBOTS, "r8"), names.kept(names.TREES, "a"))
    yield from (names.changed(names.SETTINGS, "halt"), names.news(names.answer("r8", "ann")), "$SYS.REQ.SERVER.PING")
    yield f"$JS.ACK.{names.REPORTS}.coordinators.1.1.1.1.0"
    for stream in STREAMS:
        yield from (f"$JS.API.STREAM.{word}.{stream}" for word in ("PURGE", "DELETE", "UPDATE", "SNAPSHOT"))
        yield from (f"$JS.API.CONSUMER.CREATE.{stream}", f"$JS.API.STREAM.MSG.DELETE.{stream}")


def own(role: Role, name: str) -> list[str]:
    """Returns a subject for each pattern of somebody's rights."""
    return [subject.replace("*", "x").replace(">", "x") for subject in rights(role, name).publish]


def foreign(role: Role, name: str) -> list[str]:
    """Returns what is not theirs, as far as they may not write it."""
    may = [subject.split(".") for subject in rights(role, name).publish]
    return [each for each in everything() if not any(_covers(pattern, each.split(".")) for pattern in may)]


def _covers(pattern: list[str], subject: list[str]) -> bool:
    for at, word in enumerate(pattern):
        if word == ">":
            return len(subject) > at
        if at >= len(subject) or word not in ("*", subject[at]):
            return False
    return len(pattern) == len(subject)


class Witness:
    """Hears every message of the coordinators' account, and knows what the streams hold."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.heard: list[str] = []

    async def start(self) -> None:
        async def note(message: Any) -> None:
            self.heard.append(message.subject)

        await self.link.nc.subscribe(">", cb=note)
        await self.link.nc.flush()

    async def keeps(self) -> dict[str, bytes]:
        """Returns what stands in the streams under other names; at first it is put there."""
        found = {}
        for subject, stream in KEPT.items():
            if not self.heard:
                await self.link.js.publish(subject, b"{}")
            found[subject] = (await self.link.js.get_last_msg(stream, subject)).data or b""
        self.heard.append("kept")
        return found


async def sent(link: Link, subject: str, reply: str = "", headers: dict[str, str] | None = None) -> None:
    api = subject.replace("$JS.API", API)
    body = json.dumps({"what": "ended", "verdict": "success", "term": 1, "forged": True}).encode()
    for each in {subject, api}:
        await link.nc.publish(each, body, reply=reply, headers=headers)


@pytest.mark.parametrize("name", ROLES)
def test_no_answer_reaches_a_subject_that_is_not_theirs(tmp_path: Path, name: str) -> None:
    """Each subject that a role may publish is asked with each foreign subject as `reply`, and with the coordinators'
    own key as the control: only there the answer arrives."""
    role = ROLES[name]

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (_, links):
            await Store(links["coordinator"]).ordering("r7")
            await Store(links["coordinator"]).ordering("r8")
            witness = Witness(links["coordinator"])
            before = await witness.keeps()
            await witness.start()
            wrong = set(foreign(role, name))
            assert len(wrong) > 60
            for subject in own(role, name):
                for reply in wrong:
                    await sent(links[name], subject, reply)
            await links[name].nc.flush(60)
            await links["coordinator"].nc.flush(60)
            assert sorted(set(witness.heard) & wrong) == []
            assert await witness.keeps() == before
            async with Link(links["coordinator"].address) as other:
                await sent(other, names.alive("r7"), names.verdict("t"))
                await other.nc.publish(f"$JS.API.STREAM.INFO.{names.VERDICTS}", b"", reply=names.verdict("t"))
                while names.verdict("t") not in witness.heard:
                    await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(play(), 300))


@pytest.mark.parametrize("name", ROLES)
def test_nothing_is_written_where_nothing_may_be(tmp_path: Path, name: str) -> None:
    """Each foreign subject is published to outright, with headers that ask the server to delete or to repeat."""
    role = ROLES[name]

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (_, links):
            await Store(links["coordinator"]).ordering("r7")
            await Store(links["coordinator"]).ordering("r8")
            witness = Witness(links["coordinator"])
            before = await witness.keeps()
            await witness.start()
            wrong = set(foreign(role, name))
            for headers in HEADERS:
                for subject in (*wrong, *own(role, name)):
                    await sent(links[name], subject, "", headers)
            await links[name].nc.flush(60)
            await links["coordinator"].nc.flush(60)
            assert sorted(set(witness.heard) & (wrong | {names.verdict("traced")})) == []
            assert await witness.keeps() == before

    asyncio.run(asyncio.wait_for(play(), 300))


async def until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)


def test_what_concerns_somebody_reaches_them_and_nobody_else(tmp_path: Path) -> None:
    """Heartbeats and questions come to operators and viewers, an answer to the robot that asked, a halt to its robot
    or to all, a call to the robot that is called."""

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (_, links):
            heard: dict[str, list[str]] = {name: [] for name in links}
            for name in ("r7", "r8", "ann", "vic"):
                own = heard[name]

                async def note(message: Any, own: list[str] = own) -> None:
                    own.append(message.subject)

                await links[name].nc.subscribe("fleet.>", cb=note)
                await links[name].nc.flush()
            answer = await links["r7"].nc.request(names.alive("r7"), b"{}", timeout=60)
            assert json.loads(answer.data).get("halt") is None
            settings = await links["ann"].bucket(names.SETTINGS)
            every, mine = names.halt(names.EVERY, "ann"), names.halt("r7", "ann")

            async def tell() -> None:
                """Tells everything again and again, as a fleet does: what is not kept may be lost on its way."""
                while True:
                    await links["r7"].nc.publish(names.alive("r7"), b"{}")
                    await links["r7"].nc.publish(names.said("r7", "asks"), b"{}")
                    await links["ann"].nc.publish(names.answer("r7", "ann"), b"{}")
                    await links["coordinator"].nc.publish(names.call("r7"), b"{}")
                    for key in (every, mine, names.drain("r8", "ann")):
                        await settings.put(key, b'{"on":false}')
                    await asyncio.sleep(0.2)

            telling = asyncio.create_task(tell())
            told = [names.news(names.alive("r7")), names.news(names.said("r7", "asks")),
                    names.news(names.answer("r7", "ann"))]  # fmt: skip
            for name in ("ann", "vic"):
                await until(lambda name=name: {*told, names.changed(names.SETTINGS, every)} <= {*heard[name]})
            halts = [names.changed(names.SETTINGS, key) for key in (every, mine)]
            await until(lambda: {told[2], *halts, names.call("r7")} <= {*heard["r7"]})
            await until(lambda: halts[0] in heard["r8"])
            strangers = {*told, halts[1], names.call("r7"), names.changed(names.SETTINGS, names.drain("r8", "ann"))}
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            assert not strangers & {*heard["r8"]}

    asyncio.run(asyncio.wait_for(play(), 120))


def test_a_journal_is_handed_over_to_whoever_goes_on_with_the_run(tmp_path: Path) -> None:
    """r8 has the task, with r7's run to go on with: r8 gets r7's journal by asking for it, and r7 gets none of r8's."""

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (_, links):
            store = Store(links["coordinator"])
            for robot in ("r7", "r8"):
                await store.ordering(robot)
            for number, robot in enumerate(("r7", "r8")):
                await Store(links[robot]).append(names.journal(robot, "t", 1), b'{"n":%d}' % number, 0)
            await Store(links["ann"]).wish("send", {"task": Task("t", "patrol").plain()})
            first = await store.change("t", lambda held: held.assigned("r7", record.MOVES, 1.0).started(2.0))
            assert first is not None
            after = await store.change("t", lambda held: held.lost(3.0, True).assigned("r8", record.MOVES, 4.0))
            assert after is not None and after.resume == ("r7", 1)
            while not (found := await Store(links["r8"]).handed_over("r8", "t")):
                await asyncio.sleep(0.05)  # the coordinator's watch has not shown it the change yet
            assert found == [b'{"n":0}']
            assert await Store(links["r7"]).handed_over("r7", "t") == []

    asyncio.run(asyncio.wait_for(play(), 120))
