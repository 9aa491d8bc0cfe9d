"""No message ends whoever hears it: what does not fit its form is counted with its sender's name, and work goes on."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.coordinator import coordinator
from bt_fleet.face import Fleet
from bt_fleet.page.following import follow
from bt_fleet.server import forms, messages, names
from bt_fleet.server.forms import Form
from bt_fleet.server.link import library
from bt_fleet.server.messages import Intake, Malformed
from bt_fleet.shared.asking import FleetPerson, whose
from bt_fleet.shared.board import Board
from bt_fleet.shared.locks import Locks
from bt_fleet.store import store
from bt_fleet.store.record import DONE, STARTED
from bt_fleet.store.store import FIRST
from bt_fleet.store.task import Task
from packages.fleet.tests.test_robot import Instant, Scene, keys, played

# an attempt to connect that fails leaves its socket to the garbage collector, in the client's library
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
FORMS = {name: form for name, form in (vars(forms) | forms.WISHES).items() if isinstance(form, Form)}
BAD = (
    b"", b"not json", b"[]", b"null", b"{}", b"1", b'"x"', b"\xff\xfe",
    b"[" * 100_000, b'{"a":' * 60 + b"1" + b"}" * 60,
    b'{"what":"ended"}', b'{"what":"ended","verdict":"banana","term":1}', b'{"what":{"a":1},"term":"x"}',
    b'{"what":"ended","verdict":"success","term":1,"reason":{"x":1}}', b'{"free":NaN,"speed":1e999}',
    b'{"free":0,"place":null,"speed":1,"jobs":[[1]],"known":[[-1e308,"repeat",0,0]],"costs":{"t":0},"cannot":{}}',
    b'{"free":0,"place":[1],"speed":1,"jobs":[],"known":[["z","never",0,0]],"costs":{"t":7},"cannot":{}}',
    b'{"holds":{"t1":5}}', b'{"holds":[1,2]}', b'{"plan":{"a":1},"running":{"x":2}}', b'{"halted":[1]}',
    b'{"running":"a b*.>","holds":{"..":[1,"running"]}}', b'{"id":"q1","open":true}', b'{"id":[1],"text":2,"open":3}',
    b'{"do":{"id":"x"},"term":1}', b'{"do":{"id":"../x","tree":"t"},"term":1,"policy":"repeat","takes":1}',
    b'{"do":{"id":"x","tree":"t","needs":"<<<"},"term":1,"policy":"repeat","takes":1}',
    b'{"stop":"x","term":1,"task":1}',
    b'{"tasks":[{"id":1}],"call":"c"}', b'{"task":{"id":"x"}}', b'{"task":{"id":"x","tree":"t","needs":"<<"}}',
    b'{"reason":5}', b'{"by":7}', b'{"tree":1,"share":"x"}', b'{"value":"\\ud800"}',
    b'{"what":"started","term":%d}' % 10**70,
)  # fmt: skip


def subjects(robot: str) -> list[str]:
    """One subject of each kind that somebody of a fleet hears."""
    return [
        names.alive(robot), names.alive("a%20"), names.fetch(robot, "t"), names.halted(robot),
        names.said(robot, "asks"), names.answer(robot, "ann"), names.order(robot, "t"), names.call(robot),
        names.report(robot, "t"), names.report(robot, "job"), names.claim(robot, "t", 1), names.verdict("other"),
        names.journal(robot, "t", 1), names.kept(names.TASKS, "x"), names.kept(names.SETTINGS, names.halt("r9", "ann")),
        names.kept(names.SETTINGS, names.drain("r9", "ann")), names.kept(names.SETTINGS, "deploy.t"),
        names.kept(names.SETTINGS, "x"), *(names.wish(what, "ann") for what in (*forms.WISHES, "x")),
        names.kept(names.ENTRIES, f"door.{robot}"), names.kept(names.ENTRIES, "door"),
        names.kept(names.ENTRIES, "a.b.c"),
        names.kept(names.LOCKS, f"lift.{robot}"), names.kept(names.LOCKS, "lift"), names.kept(names.ROBOTS, "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_the_reader_raises_malformed_and_nothing_else(name: str) -> None:
    """Random bytes, malformed bodies and damaged sound ones."""
    dice = random.Random(name)
    sound = [json.dumps({key: dice.choice([1, "a", None, [1], {"b": 2}, 1.5, True]) for key in
                         dice.sample(list(FORMS[name].schema.get("properties", {"x": 1})), k=1)}).encode()
             for _ in range(20)]  # fmt: skip
    for _ in range(300):
        body = bytearray(dice.choice([*BAD[:9], *BAD[10:], *sound])[:2000])
        for _ in range(dice.randrange(3)):
            if body:
                body[dice.randrange(len(body))] = dice.randrange(256)
        try:
            messages.read(FORMS[name], bytes(body))
        except Malformed as error:
            assert error.message


def test_a_message_is_bounded() -> None:
    """Its size, its depth, its numbers and its texts."""
    form = Form("thing", {"type": "object"}, 1000)
    deep = b'{"a":' * 45 + b"1" + b"}" * 45
    for body, why in ((b'{"a":"%s"}' % (b"x" * 1000), "bytes"), (deep, "nested too deeply"),
                      (b'{"a":-Infinity}', "no number"), (b'{"a":1e400}', "too large"),
                      (b'{"a":%d}' % 10**80, "digits"),
                      (b'{"a":"\\udfff"}', "surrogates")):  # fmt: skip
        with pytest.raises(Malformed, match=why):
            messages.read(form, body)
    assert messages.read(form, '{"a": "é\\u00e9\\ud83d\\ude00"}'.encode()) == {"a": "éé😀"}


def test_who_sent_too_much_is_told_by_the_powers_of_two(caplog: pytest.LogCaptureFixture) -> None:
    """A thousand malformed messages of one robot are ten lines in the log, with its name."""
    intake = Intake()
    for _ in range(1000):
        intake.refuse(names.report("r2", "t"), "it is no JSON")
    assert intake.refused == {"r2": 1000}
    assert len(caplog.records) == 10 and all("r2" in entry.message for entry in caplog.records)


def test_a_robot_that_reports_too_much_does_not_keep_out_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reports fill their stream, which refuses new ones then, several times over."""
    monkeypatch.setattr(store, "REPORTED", forms.MB)
    monkeypatch.setattr(coordinator, "BALANCE", 0.05)

    async def story(made: Scene) -> None:
        await made.join("r1", Instant(made.clock))
        sent = 0
        while sent < 60:
            with suppress(library().js.errors.APIError):  # there is no room at present
                await made.link.js.publish(names.report("r2", f"x{sent}"), b"x" * 60_000)
                sent += 1
        await made.store.add(Task("t", "repeat"))
        assert (await made.until("t", DONE)).verdict == "success"

    played(tmp_path, story)


def test_no_message_ends_a_consumer(tmp_path: Path) -> None:
    """Every subject of a fleet gets every malformed body. Then the coordinator, a robot, its entries and locks, and
    whoever looks on still work: a task is sent, done and seen."""

    async def story(made: Scene) -> None:
        runner = Instant(made.clock)
        await made.join("r1", runner)
        board, locks = Board(made.link, "r1"), Locks(made.link, "r1")
        await board.start()
        await locks.start()
        person = FleetPerson.__new__(FleetPerson)
        person.run, person.intake = "0", Intake()
        seen: list[str] = []
        fleet = await asyncio.to_thread(Fleet(made.proxy.url).open)
        end = await asyncio.to_thread(
            follow,
            fleet,
            lambda held: seen.append(f"{held.task.id} {held.state}"),
            lambda robot, beat: seen.append(robot),
        )
        for subject in subjects("r1"):
            for body in BAD:
                await made.link.nc.publish(subject, body)
                message: Any = type("Sent", (), {"subject": subject, "data": body})
                await person._answered(message)
        await made.link.nc.flush(30)
        assert await made.store.add(Task("good", "repeat"))
        assert (await made.until("good", DONE)).verdict == "success"
        board.write("door", "open")
        while board.writes("door") or not locks.holds("lift") or "good done" not in seen or "r1" not in seen:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(end)
        await asyncio.to_thread(fleet.close)
        await board.stop()
        await locks.stop()
        for agent, _, _ in made.agents.values():
            assert not agent.done()

    played(tmp_path, story)


def test_a_bid_counts_for_whoever_sent_it_and_says_finite_numbers(tmp_path: Path) -> None:
    """Another robot answers every call with bids that are malformed, or name r1 in their body: r1 gets the task."""

    async def story(made: Scene) -> None:
        await made.join("r1", Instant(made.clock))
        link = made.link

        async def answer(message: Any) -> None:
            call = json.loads(message.data)["call"]
            ids = [task["id"] for task in json.loads(message.data)["tasks"]]
            cannot = {"robot": "r1", "free": 0, "place": None, "speed": 1, "jobs": [], "known": [], "costs": {},
                      "cannot": dict.fromkeys(ids, "no")}  # fmt: skip
            known = [[float("nan"), "repeat", None, None]]
            cheap = {**cannot, "known": known, "costs": dict.fromkeys(ids, 0), "cannot": {}}
            for body in (
                json.dumps(cannot),
                json.dumps(cheap),
                json.dumps({**cheap, "known": [[-1e9, "repeat", 1, 2]]}),
            ):
                await link.nc.publish(names.bid("r2", call), body.encode())
                await link.nc.publish(names.bid("zz", call), body.encode())

        await link.nc.subscribe(names.call("r2"), cb=answer)
        await link.nc.publish(names.alive("r2"), json.dumps({"robot": "r1", "holds": {}}).encode())
        await made.store.add(Task("good", "repeat"))
        assert (await made.until("good", DONE)).robot == "r1"

    played(tmp_path, story)


def test_nothing_in_a_body_speaks_for_somebody_else(tmp_path: Path) -> None:
    """r2 names r1 in each of its messages, while r1 runs a task: r1's task goes on, no other robot joins, and r2's
    entries, locks, claims and answers are r2's."""

    async def story(made: Scene) -> None:
        runner = Instant(made.clock)
        runner.hold.clear()
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        held = await made.until("t", STARTED)
        link, mine = made.link, {"robot": "r1", "by": "r1", "task": "t", "term": held.term}
        for body in ({**mine, "holds": {}}, {**mine, "robot": "ghost", "holds": {}, "facts": {"gripper": True}}):
            for _ in range(8):  # an order that is not held is asked for a few times before it counts as lost
                await link.nc.request(names.alive("r2"), json.dumps(body).encode(), timeout=10)
        for what in ("started", "returned", "doubt", "fenced", "ended"):
            said = {**mine, "what": what, "verdict": "failure", "outputs": {"robot": "r1"}}
            await link.js.publish(names.report("r2", "t"), json.dumps(said).encode())
        await link.js.publish(names.kept(names.ENTRIES, "door.r2"), json.dumps({**mine, "value": "open"}).encode())
        await link.js.publish(names.kept(names.LOCKS, "lift.r2"), json.dumps(mine).encode())
        assert await made.store.claim("r2", "t", held.term, "r1") == FIRST
        board, locks = Board(link, "r9"), Locks(link, "r9")
        await board.start()
        await locks.start()
        assert board.known["door"].by == "r2"
        while locks.holds("lift") or locks.holder("lift") != "r2":
            await asyncio.sleep(0.01)
        assert whose(names.news(names.answer("r1", "ann")), "bob") == "bob (key of ann)"
        assert whose(names.news(names.answer("r1", "ann")), "ann") == "ann"
        assert await keys(await link.bucket(names.ROBOTS)) == ["r1", "r2"]
        await board.stop()
        await locks.stop()
        runner.hold.set()
        done = await made.until("t", DONE)
        assert (done.verdict, done.robot, done.term) == ("success", "r1", held.term)
        assert [line.partition(" ")[2] for line in done.history][-1] == "success (r1)"

    played(tmp_path, story)
