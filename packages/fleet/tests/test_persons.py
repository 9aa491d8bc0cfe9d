"""Who did what in a fleet is what their key says: an operator's message in another's name is theirs, or is refused."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

from bt_fleet.face import Fleet
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held
from bt_fleet.robot.robot import Agent
from bt_fleet.server import names
from bt_fleet.server.access import Identity, rights
from bt_fleet.server.keys import Keys, read
from bt_fleet.server.link import Address, Link
from bt_fleet.server.messages import Intake, whose
from bt_fleet.store import record
from bt_fleet.store.record import Record
from bt_fleet.store.settings import Switches
from bt_fleet.store.task import Task
from bt_fleet.versions import bundle
from bt_fleet.versions.bundle import Terms
from bt_runtime import BtError
from packages.fleet.tests.still import Still
from packages.fleet.tests.test_keys import guarded_fleet
from packages.fleet.tests.test_versions import project

BOB = {"by": "bob", "sender": "bob", "person": "bob", "robot": "bob"}  # wherever a body might name somebody


def played(folder: Path, play: Callable[[Fleet], Any], *held: Record) -> None:
    """Plays with ann's key, in a thread; these records stand in the store before."""

    async def main() -> None:
        async with guarded_fleet(folder) as (server, links):
            bucket = await links["coordinator"].bucket(names.TASKS)
            for each in held:
                await bucket.put(each.task.id, each.text())
            ann = Fleet(Address(server.url, creds=folder / "ann.key"), "bob").open(60)
            try:
                await asyncio.to_thread(play, ann)
            finally:
                await asyncio.to_thread(ann.close)

    asyncio.run(asyncio.wait_for(main(), 120))


def acts(fleet: Fleet) -> str:
    return "\n".join(f"{who} {what}" for _, who, what in fleet.acts())


def test_every_message_of_an_operator_in_anothers_name_is_told_under_the_keys(tmp_path: Path) -> None:
    """ann's program says everywhere that it is bob's. Records, deployments, halts and releases tell of ann's key."""

    def play(ann: Fleet) -> None:
        made = bundle.made("patrol", project(tmp_path / "good"))
        seal = made.sealed(read(tmp_path / "ann.key"), Terms("patrol", int(time.time())))

        def wish(what: str, **body: Any) -> None:
            ann.call(ann.store.wish(what, {**BOB, **body}))

        async def put() -> None:
            await (await ann.link.bucket(names.TREES)).put(made.digest, seal)

        ann.call(put())
        wish("send", task={"id": "t", "tree": "patrol", "to": "r7", "sender": "bob"})
        wish("cancel", task="t", reason="no\n1.0 bob cancelled it")
        for task, how in (("s", "success"), ("again", "again")):
            wish("settle", task=task, how=how)
        wish("deploy", tree="patrol", digest=made.digest, share=1)
        halt, release, drain = ({**BOB, "on": on, "reason": "why"} for on in (True, False, True))
        for key, body in ((names.halt(names.EVERY, "ann"), halt), (names.halt(names.EVERY, "ann"), release),
                          (names.halt("r8", "ann"), halt), (names.drain("r8", "ann"), drain)):  # fmt: skip
            ann.call(ann._switch(key, body))
        told = acts(ann)
        for what in ("sent t", "cancelled t: no 1.0 bob cancelled it", "settled s: success", "settled again: again",
                     f"deploys {made.digest} on all robots", "halted all robots: why", "released all robots: why",
                     "halted r8: why", "drains r8"):  # fmt: skip
            assert f"bob (key of ann) {what}" in told
        assert "bob " not in told.replace("bob (key of ann)", "").replace("1.0 bob cancelled it", "")
        assert ann.show("t").task.sender == "bob (key of ann)"
        assert ann.deployments()["patrol"].by == "bob (key of ann)"

    doubt = (Record(Task(name, "x", to="r8"), record.DOUBT, 1, "r8") for name in ("s", "again"))
    played(tmp_path, play, *doubt)


@pytest.mark.parametrize("key", [names.halt(names.EVERY, "bob"), names.halt("r7", "bob"), names.drain("r7", "bob"),
                                 "deploy.patrol"])  # fmt: skip
def test_a_setting_under_anothers_name_reaches_nobody(tmp_path: Path, key: str) -> None:
    def play(ann: Fleet) -> None:
        ann.call(ann.link.nc.publish(names.kept(names.SETTINGS, key), b'{"on":true,"reason":"x"}'))
        ann.halt("own")
        assert [each for each in ann.acts() if each[1] != "ann"] == []
        assert "halted all robots: own" in acts(ann)

    played(tmp_path, play)


def test_a_wish_is_refused_in_words(tmp_path: Path) -> None:
    """A task that is done or unknown, a version that is nowhere, and what is no wish: the coordinator says so."""

    def play(ann: Fleet) -> None:
        with pytest.raises(BtError, match="the fleet knows no task t"):
            ann.cancel("t")
        ann.send("patrol", id="t", to="r7")
        ann.cancel("t")
        assert ann.wait("t", 60).verdict == record.CANCELLED
        with pytest.raises(BtError, match="task t is done: cancelled"):
            ann.settle("t", "success")
        with pytest.raises(BtError, match="the fleet has no version abc"):
            ann.call(ann.store.wish("deploy", {"tree": "patrol", "digest": "abc"}))
        with pytest.raises(BtError, match="this is no cancel"):
            ann.call(ann.store.wish("cancel", {"task": "../x"}))
        with pytest.raises(BtError, match="this is no"):
            ann.call(ann.store.wish("obey", {}))

    played(tmp_path, play)


def test_of_all_persons_words_the_latest_holds() -> None:
    """A halt by ann is ended by bob's release, not by an older one, nor by what is no release."""
    switches = Switches(Intake())

    def say(who: str, revision: int, on: bool, reason: str = "") -> str | None:
        switches.take(names.halt("r7", who), json.dumps({"on": on, "reason": reason}).encode(), revision)
        return switches.halted("r7")

    assert say("ann", 5, True, "a person\nis there") == "halted by ann: a person is there"
    assert say("bob", 4, False) is not None
    for junk in (b"", b"null", b"false", b'{"on":0}'):
        switches.take(names.halt("r7", "ann"), junk, 6)
    assert switches.halted("r7") is not None
    assert say("bob", 7, False) is None
    assert switches.halted("r8") is None


def test_a_name_in_a_body_stands_beside_the_keys_name(tmp_path: Path) -> None:
    """Only those without a key are whoever they say; nobody's key can be called as they are."""
    assert whose("fleet.answer.r7.ann", "bob") == "bob (key of ann)"
    assert whose("fleet.answer.r7.ann", " ann ") == whose("fleet.answer.r7.ann") == "ann"
    assert whose(f"fleet.answer.r7.{names.SOMEBODY}", "bob") == "bob"
    with pytest.raises(BtError, match="cannot be called"):
        Keys(tmp_path).add("operator", names.SOMEBODY, tmp_path / "x.key")
    assert not [subject for subject in rights("operator", "ann").publish if "verdict" in subject or "order" in subject]
    assert Identity("ann", "operator")


def test_a_coordinator_that_has_not_heard_of_a_halt_does_not_release_it(tmp_path: Path) -> None:
    """One that was started just now says nothing of halts, and one that lags is not believed."""
    held = Held(tmp_path / "held.db")
    agent = Agent(Card("r1", {}), Link(Address()), held, Still())
    subject = names.kept(names.SETTINGS, names.halt(names.EVERY, "ann"))
    told = {"data": b'{"on": true, "reason": "smoke"}', "headers": {"Nats-Sequence": "7", "Nats-Subject": subject}}

    async def said(*given: object) -> None: ...

    agent.link._client = SimpleNamespace(publish=said)  # type: ignore[assignment]
    asyncio.run(agent._told_to_halt(SimpleNamespace(**told)))  # type: ignore[arg-type]
    nothing = {"halt": None, "own": None, "drain": False}
    for answer in ({}, {**nothing, "seen": 6}):
        agent._answered({"now": 0.0, **answer}, 0.0)
        assert agent.halted == "halted by ann: smoke"
    agent._answered({"now": 0.0, **nothing, "seen": 8}, 0.0)
    assert agent.halted is None
    held.close()
