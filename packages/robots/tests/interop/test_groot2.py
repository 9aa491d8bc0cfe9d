"""Groot2's protocol, beside BehaviorTree.CPP's own publisher, and what is ours alone: grafts, bounds, refusals."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import bt_runtime as bt
from bt_runtime import BtError, debugger_of
from bt_runtime.events import Line, Notice
from packages.robots.tests.interop.pairs import ROUND, SKILLS, YAML, ours, theirs

publisher = pytest.importorskip("bt_robots.groot2.publisher")
Groot2 = publisher.Groot2
LAST = 65_535  # a uid that no node has
NESTED = """version: 1
tree: outer
blackboard: {n: {type: integer, default: 3}, rooms: {type: list, default: [hall, {door: true}]}}
root:
  sequence:
    - tree: {file: inner, name: call}
    - wait: 9
"""
INNER = "version: 1\ntree: inner\nblackboard: {own: {type: string, default: ä}}\nroot: {succeed: {}}\n"


def records(data: bytes) -> list[tuple[int, int]]:
    """(node, status) of transitions."""
    return [struct.unpack_from("<HB", data, at + 6) for at in range(0, len(data), 9)]


def hook(uid: int, **more: Any) -> bytes:
    about = {"enabled": True, "uid": uid, "mode": 0, "once": False, "desired_status": "SKIPPED", "position": 0}
    return json.dumps({**about, **more}).encode()


def test_every_answer_is_made_as_theirs_is(client: Any) -> None:
    pytest.importorskip("behaviortreepy")
    asked = [
        ("S", None), ("D", None), ("A", None), ("X", None), ("t", None), ("?", None), ("B", None), ("B", b"Nope"),
        ("r", None), ("r", b"stop"), ("r", b"x"), ("I", None), ("R", None), ("U", None), ("R", hook(99)),
        ("U", hook(99, remove_when_done=True)),
    ]  # fmt: skip
    told = []
    for make in (ours, theirs):
        with make() as side:
            side.tick()
            answers = [client(side.port).ask(*each) for each in asked]
            told.append([[part[:6], *rest] if len(part) == 22 else [part, *rest] for part, *rest in answers])
            told[-1][0][1] = bytes(sorted(told[-1][0][1]))
    for question, own, other in zip(asked, *told, strict=True):
        assert own == other or own[0] == b"error" == other[0], question
    assert [own[0] for own, each in zip(told[0], asked, strict=True) if each[0] == "?"] == [b"error"]


def test_a_recording_has_the_results_of_every_node_as_theirs_has(client: Any) -> None:
    pytest.importorskip("behaviortreepy")
    found = []
    for make in (ours, theirs):
        with make() as side:
            asking = client(side.port)
            assert len(asking.ask("r", b"start")[1]) == 16
            for _ in range(ROUND):
                side.tick()
            told = records(asking.ask("t")[1])
            assert asking.ask("t")[1] == b"" and len(asking.ask("r", b"stop")) == 1
        results = {uid: [status for each, status in told if each == uid and status > 1] for uid, _ in told}
        found.append({uid: own for uid, own in results.items() if own})
        assert told[-1] == (1, 0)  # the root is reset at last
    assert found[0] == found[1]


def test_a_graft_is_a_new_tree_with_a_name_of_its_own(client: Any) -> None:
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run, Groot2(run, 0) as shown:
        asking = client(shown.port)
        before = asking.ask("T")
        run.tick()
        assert asking.ask("S")[0][6:] == before[0][6:]
        assert "Sleep" not in before[1].decode()
        run.insert("/Main", "wait: 9", 0)
        run.tick()
        after = asking.ask("T")
        assert after[0][6:] != before[0][6:]
        uids = {int(e.get("_uid", 0)) for e in ElementTree.fromstring(after[1]).iter() if e.get("_uid")}
        assert uids == asking.statuses().keys() and len(uids) == 12
        first = ElementTree.fromstring(after[1]).find("BehaviorTree/Sequence/*")
        assert first is not None and first.tag == "Sleep"


def test_a_subtree_has_a_block_and_a_blackboard_of_its_own(client: Any, tmp_path: Any) -> None:
    msgpack = pytest.importorskip("msgpack")
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees" / "inner.yaml").write_text(INNER)
    with bt.Run(bt.load(NESTED, project=tmp_path)) as run, Groot2(run, 0) as shown:
        run.tick()
        asking = client(shown.port)
        root = ElementTree.fromstring(asking.ask("T")[1])
        places = [(each.get("ID"), each.get("_fullpath")) for each in root.iter("BehaviorTree")]
        assert places[0] == ("outer", "") and len(places) == 2
        call = next(root.iter("SubTree"))
        assert (call.get("ID"), call.get("_fullpath")) == places[1]
        told = msgpack.unpackb(asking.ask("B", f"outer;{places[1][1]};nobody".encode())[1])
        assert told == {"outer": {"n": 3, "rooms": ["hall", {"door": True}]}, places[1][1]: {"own": "ä"}}


def test_a_blackboard_that_is_too_large_is_told_in_part(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    msgpack = pytest.importorskip("msgpack")
    monkeypatch.setattr(publisher, "MOST_BOARD", 10_000)
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run, Groot2(run, 0) as shown:
        loop: list[Any] = []
        loop.append(loop)
        run.blackboard.update(long="x" * 50_000, loop=loop, odd=object(), big=2**80, nan=float("nan"), minus=-5)
        answer = client(shown.port).ask("B", b"Main")[1]
        assert len(answer) < 40_000 and set(msgpack.unpackb(answer)["Main"]) >= {"long"}


@pytest.mark.parametrize(("position", "status"), [(0, 0), (1, 2)], ids=["before", "after"])
def test_a_breakpoint_holds_the_run_before_its_node_has_begun_or_when_it_has_ended(
    position: int, status: int, client: Any
) -> None:
    run = bt.Run(bt.load(YAML, skills=SKILLS), hz=1000)
    with run, Groot2(run, 0, breakpoints=True) as shown:
        asking = client(shown.port)
        news = asking.news()
        uid = next(
            int(e.get("_uid", 0)) for e in ElementTree.fromstring(asking.ask("T")[1]).iter() if e.get("name") == "first"
        )
        wanted = hook(uid, position=position)
        assert len(asking.ask("I", wanted)) == 1
        assert json.loads(asking.ask("D")[1]) == json.loads(b"[" + wanted + b"]")
        reached = threading.Event()
        ticking = threading.Thread(target=lambda: (run.spin(), reached.set()))
        _subscribed(shown, news)
        ticking.start()
        head, told = news.recv_multipart()
        assert head[:2] == b"\x02N" and told == str(uid).encode()
        assert not reached.is_set() and asking.statuses()[uid] == status
        with run.parts.engine.between():
            found = next(node for node in run.nodes() if node.name == "first")
            assert found.status is (bt.Status.SUCCESS if position else bt.Status.INVALID)
            assert debugger_of(run).paused
        assert asking.ask("U", hook(uid, desired_status="SUCCESS"))[0] == b"error"
        assert len(asking.ask("U", hook(uid, remove_when_done=True))) == 1
        ticking.join(60)
        assert reached.is_set() and run.status is bt.Status.FAILURE


def _subscribed(shown: Any, news: Any) -> None:
    """Says something until it is heard, for who subscribes comes a little later than he says; takes all of it away."""
    zmq = pytest.importorskip("zmq")
    news.setsockopt(zmq.RCVTIMEO, 20)
    heard = False
    while not heard:
        shown.hooks.reached.append(0)
        try:
            heard = bool(news.recv_multipart())
        except zmq.Again:
            continue
    news.setsockopt(zmq.RCVTIMEO, 60_000)
    shown.hooks.reached.append(LAST)
    while news.recv_multipart()[1] != str(LAST).encode():
        pass


def test_a_run_that_is_held_goes_on_when_the_monitor_has_gone(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "SILENCE", 0.2)
    with bt.Run(bt.load(YAML, skills=SKILLS), hz=1000) as run, Groot2(run, 0, breakpoints=True) as shown:
        assert len(client(shown.port).ask("I", hook(1))) == 1
        assert run.spin() is bt.Status.FAILURE
        assert not debugger_of(run).breakpoints


def test_what_a_monitor_has_done_is_in_the_journal_and_a_replay_comes_to_the_same(client: Any, tmp_path: Any) -> None:
    from bt_runtime.journal import replay

    run = bt.Run(bt.load(YAML, skills=SKILLS), hz=1000, journal=tmp_path)
    with run, Groot2(run, 0, breakpoints=True) as shown:
        asking = client(shown.port)
        xml = ElementTree.fromstring(asking.ask("T")[1])
        uid = next(int(e.get("_uid", 0)) for e in xml.iter() if e.get("name") == "last")
        assert len(asking.ask("I", hook(uid))) == 1
        ticking = threading.Thread(target=run.spin)
        ticking.start()
        while not debugger_of(run).paused:
            asking.ask("S")
        assert len(asking.ask("U", hook(uid, remove_when_done=True))) == 1
        ticking.join(60)
        assert run.status is bt.Status.FAILURE
    assert run.parts.journal is not None and run.parts.journal.path is not None
    assert replay(run.parts.journal.path).difference == ""


def test_nobody_can_hold_a_run_that_does_not_allow_it_or_change_what_it_decides(client: Any) -> None:
    with ours() as side:
        assert b"--breakpoints" in client(side.port).ask("I", hook(1))[1]
    run = bt.Run(bt.load(YAML, skills=SKILLS))
    with run, Groot2(run, 0, breakpoints=True) as shown:
        asking = client(shown.port)
        assert asking.ask("I", hook(1, mode=1))[0] == b"error"
        assert asking.ask("I", hook(77))[0] == b"error"
        assert asking.ask("I", b"[" * 60_000)[0] == b"error"
        assert asking.ask("D")[1] == b"[]"


def test_a_tick_waits_for_nobody_who_asks(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer is being made, as long as it takes, the tree is ticked."""
    asked, go = threading.Event(), threading.Event()
    with bt.Run(bt.load(YAML, skills=SKILLS)) as run, Groot2(run, 0) as shown:
        monkeypatch.setattr(shown.mirror, "xml", lambda: (asked.set(), go.wait(60), b"<root/>")[2])
        asking = threading.Thread(target=lambda: client(shown.port).ask("T"))
        asking.start()
        assert asked.wait(60)
        for _ in range(3 * ROUND):
            run.tick()
        go.set()
        asking.join(60)
        assert run.parts.engine.count == 3 * ROUND


def test_it_is_bound_to_this_machine_unless_told_otherwise_and_a_port_that_is_taken_is_said_so() -> None:
    run = bt.Run(bt.load(YAML, skills=SKILLS))
    with run:
        with pytest.raises(BtError, match="outside this machine"):
            Groot2(run, 0, host="0.0.0.0")
        with Groot2(run, 0) as shown:
            assert shown.url == f"groot2://127.0.0.1:{shown.port}"
            with pytest.raises(BtError, match="cannot listen"):
                Groot2(run, shown.port)


def test_numbers_beyond_two_bytes_are_given_anew() -> None:
    from bt_robots.groot2.mirror import Mirror
    from bt_runtime.events import Placed, Reshaped, Tick

    mirror = Mirror("t")
    add = [Placed(70_000 + n, 70_000 if n else -1, str(n), "sequence", "control", "", "") for n in range(3)]
    shape = Reshaped(add, (), {70_000: [70_001, 70_002]})
    mirror.take(Tick(1, bt.Status.RUNNING, 0.0, shape=shape), 0)
    assert sorted(mirror.uids.values()) == [1, 2, 3] and len(mirror.statuses()) == 9
    assert mirror.xml().count(b"_uid") == 3


READY = (
    b"\xff" + b"\0" * 7 + b"\x01\x7f\x03\0NULL" + b"\0" * 16 + b"\0" + b"\0" * 31
    + b"\x04\x26\x05READY\x0bSocket-Type\0\0\0\x03REQ\x08Identity\0\0\0\0"
)  # fmt: skip


def waits_until(holds: Any) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.005)


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors by /proc")
def test_a_crowd_of_clients_does_not_take_the_descriptors_of_the_run(client: Any) -> None:
    """They are let go, and whoever monitors comes back by itself."""
    said: list[str] = []
    with ExitStack() as stack:
        run = stack.enter_context(bt.Run(bt.load(YAML, skills=SKILLS)))
        run.listen(lambda line: said.append(line.text), Line, Notice)
        shown = stack.enter_context(Groot2(run, 0))
        early, most = client(shown.port), 0
        assert early.ask("T")
        before = descriptors()
        for crowd in range(1, 301):
            one = stack.enter_context(socket.socket())
            one.settimeout(0.2)
            with suppress(OSError):
                one.connect(("127.0.0.1", shown.port + crowd % 2))
                one.sendall(READY)
            most = max(most, descriptors() - before - crowd)
        waits_until(lambda: shown.emptied)
        assert most < 2 * publisher.MOST_CLIENTS
        assert any("all are let go" in text for text in said)
        assert early.ask("T")
