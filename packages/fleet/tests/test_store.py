"""What the server itself refuses: a second verdict, a second claim, a record that somebody else has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.server import forms, names
from bt_fleet.server.link import library
from bt_fleet.store.record import Record
from bt_fleet.store.store import BEFORE, FIRST, JOURNALS, NO, Store
from bt_fleet.store.task import Task
from bt_runtime import BtError
from packages.fleet.tests.serving import linked


def stored(folder: Path, story: Callable[[Store], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with linked(folder) as (_, link):
            store = Store(link, lambda: 100.0)
            await store.prepare()
            await asyncio.wait_for(story(store), 30)

    asyncio.run(whole())


def test_a_task_that_is_sent_twice_is_there_once(tmp_path: Path) -> None:
    """The second one changes nothing, although it says something else."""

    async def story(store: Store) -> None:
        assert await store.add(Task("t", "patrol"))
        assert not await store.add(Task("t", "dance"))
        found = await store.get("t")
        assert found is not None and found[0].task.tree == "patrol"

    stored(tmp_path, story)


def test_a_verdict_is_for_ever(tmp_path: Path) -> None:
    """The server keeps the first one, refuses a second, and lets nobody delete it or purge it."""

    async def story(store: Store) -> None:
        nats = library()
        one = {"what": "ended", "task": "t", "verdict": "success", "robot": "r1"}
        assert await store.verdict(one) == one
        assert await store.verdict({**one, "verdict": "failure"}) == one
        with pytest.raises(nats.js.errors.APIError):
            await store.js.publish(names.verdict("t"), b"{}")  # without asking to be the first
        with pytest.raises(nats.js.errors.APIError):
            await store.js.delete_msg(names.VERDICTS, 1)
        with pytest.raises(nats.js.errors.APIError):
            await store.js.purge_stream(names.VERDICTS)
        assert await store.only(names.VERDICTS, names.verdict("t"), forms.VERDICT) == one

    stored(tmp_path, story)


def test_a_robot_and_a_coordinator_cannot_both_decide_a_term(tmp_path: Path) -> None:
    """Of a hundred who ask at once one is the first; asking again gives the same answer."""

    async def story(store: Store) -> None:
        await store.room("r1")
        asked = ["r1", ""] * 50
        got = await asyncio.gather(*(store.claim("r1", "t", 1, who) for who in asked))
        assert got.count(FIRST) == 1
        winner = asked[got.index(FIRST)]
        assert {(how, who == winner) for how, who in zip(got, asked, strict=True)} == {
            (FIRST, True), (BEFORE, True), (NO, False)}  # fmt: skip

    stored(tmp_path, story)


def test_of_two_who_change_a_record_the_second_sees_what_the_first_did(tmp_path: Path) -> None:
    """Twenty change it at once, and none of their changes is lost."""

    async def story(store: Store) -> None:
        await store.add(Task("t", "patrol"))

        def more(held: Record) -> Record:
            return held.assigned("r1", "stays", 1.0).returned(1.0, "")

        await asyncio.gather(*(store.change("t", more) for _ in range(20)))
        found = await store.get("t")
        assert found is not None and found[0].term == 20

    stored(tmp_path, story)


def test_a_record_that_is_done_stays_so(tmp_path: Path) -> None:
    """Not even a change that would be allowed by compare-and-set leads out of it."""

    async def story(store: Store) -> None:
        await store.add(Task("t", "patrol"))
        await store.change("t", lambda held: held.done("success", 2.0))
        with pytest.raises(BtError, match="is done: success"):
            await store.change("t", lambda held: held.assigned("r1", "stays", 3.0))

    stored(tmp_path, story)


def test_every_stream_is_bounded_and_a_robot_fills_its_own_alone(tmp_path: Path) -> None:
    """Six pieces of 7 MB are more than a robot's journals may take: its oldest go, and another robot's stay."""

    async def story(store: Store) -> None:
        for robot in ("r1", "r2"):
            await store.room(robot)
        assert await store.append(names.journal("r2", "t", 1), b"kept", 0) is not None
        last = 0
        for _ in range(6):
            last = await store.append(names.journal("r1", "t", 1), b"x" * 7_000_000, last) or 0
        infos = [*await store.js.streams_info()]
        assert {info.config.name for info in infos} >= {"fleet_copies_r1", "fleet_reports", "KV_fleet_tasks"}
        assert all((info.config.max_bytes or 0) > 0 for info in infos)
        bytes_of = {info.config.name: info.state.bytes for info in infos}
        assert bytes_of["fleet_copies_r1"] <= JOURNALS
        assert await store.journal("r2", "t", 1) == [b"kept"]

    stored(tmp_path, story)


def test_more_than_a_thousand_tasks_are_all_listed(tmp_path: Path) -> None:
    """What is asked for comes in pages; a change of one task meanwhile is no second task."""

    async def story(store: Store) -> None:
        await asyncio.gather(*(store.add(Task(f"t{number}", "patrol")) for number in range(1300)))
        await store.change("t7", lambda held: held.done("success", 2.0))
        assert len(await store.records()) == 1300

    stored(tmp_path, story)


def test_a_message_that_breaks_its_taker_comes_again_a_few_times(tmp_path: Path) -> None:
    """Whoever takes it ends and is started again; after five times it is acknowledged, and the next one is taken."""
    from nats.js import api

    async def story(store: Store) -> None:
        config = api.ConsumerConfig(durable_name="some", ack_policy=api.AckPolicy.EXPLICIT, ack_wait=0.1)
        await store.js.add_consumer(names.REPORTS, config)
        taken: list[str] = []

        async def take(message) -> None:
            taken.append(message.subject.rpartition(".")[2])
            if taken[-1] == "bad":
                raise ZeroDivisionError
            raise TimeoutError  # the end of this test

        for task in ("bad", "good"):
            await store.js.publish(names.report("r1", task), b"{}")
        while "good" not in taken:
            with suppress(ZeroDivisionError, TimeoutError):
                await store.each_taken(names.REPORTS, "some", take)
        assert taken.count("bad") == 5
        assert store.intake.refused == {"r1": 1}

    stored(tmp_path, story)


def test_what_an_earlier_version_has_made_gets_the_limits_of_this_one(tmp_path: Path) -> None:
    """A bucket of leases that took roll-ups, without a bound, with a lease in it: the lease stays, a roll-up is
    refused."""
    from nats.js import api

    async def story() -> None:
        async with linked(tmp_path) as (_, link):
            config = api.KeyValueConfig(bucket=names.LOCKS, history=1, direct=True, limit_marker_ttl=60)
            await (await link.js.create_key_value(config)).put("lift.r1", b"1")
            await link.js.add_stream(name=names.REPORTS, subjects=["fleet.report.*.*"])
            await Store(link).prepare()
            for name in (f"KV_{names.LOCKS}", names.REPORTS):
                assert ((await link.js.stream_info(name)).config.max_bytes or 0) > 0
            subject = names.kept(names.LOCKS, "lift.r2")
            with pytest.raises(library().js.errors.APIError, match="rollup"):
                await link.js.publish(subject, b"1", headers={"Nats-Rollup": "all"})
            assert (await link.js.get_last_msg(f"KV_{names.LOCKS}", names.kept(names.LOCKS, "lift.r1"))).data == b"1"

    asyncio.run(asyncio.wait_for(story(), 60))
