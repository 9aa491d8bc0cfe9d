"""Robots of a fleet share entries and locks: read at once, written by compare-and-set, held by leases."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

import bt_runtime as bt
from bt_fleet.server.server import Server
from bt_fleet.shared.board import Board, RefusedWrite
from bt_fleet.shared.locks import Locks
from bt_fleet.shared.member import Member
from bt_fleet.shared.sharing import Sharing
from bt_runtime.events import Line, Notice
from packages.fleet.tests.threads import served, until

DOOR = """
version: 1
tree: door
blackboard:
  door_3: {type: string, shared: fleet, stale_after: 30, when_stale: default, default: unknown}
root:
  sequence:
    - wait: {seconds: 100, unless: 'door_3 == "open" and not door_3_stale'}
    - succeed: {}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def two(server: Server) -> Iterator[tuple[Member, Member]]:
    with Member(server.address, "r1", lease=30.0) as one, Member(server.address, "r2", lease=30.0) as other:
        assert one.ready.wait(60)
        assert other.ready.wait(60)
        yield one, other


def test_what_one_robot_writes_another_reads(two: tuple[Member, Member]) -> None:
    """A write of one run reaches the other's blackboard between two ticks; a read never waits, the default included."""
    one, other = two
    with bt.Run(bt.load(DOOR), services={"fleet": one}) as writer, bt.Run(
        bt.load(DOOR), services={"fleet": other}
    ) as reader:  # fmt: skip
        writer.tick()
        assert reader.tick().running
        assert reader.blackboard["door_3"] == "unknown"
        writer.blackboard["door_3"] = "open"
        assert writer.blackboard["door_3"] == "open"
        assert reader.spin(seconds=60) is bt.Status.SUCCESS
        assert reader.blackboard["door_3"] == "open"
        assert other.board.known["door_3"].by == "r1"
    two[0].board.write("door_3", "closed")
    until(lambda: other.board.known["door_3"].value == "closed")


def test_an_included_tree_shares_the_entry_of_the_whole_run(two: tuple[Member, Member], tmp_path: Path) -> None:
    """A subtree's shared entry is the run's: its default is there before the fleet was heard, its writes go out."""
    inner = "version: 1\ntree: inner\nblackboard:\n  dock: {type: string, shared: fleet, default: free}\n"
    (tmp_path / "inner.yaml").write_text(inner + "root:\n  set: {dock: '{dock + \" no more\"}'}\n")
    (tmp_path / "outer.yaml").write_text("version: 1\ntree: outer\nroot:\n  tree: {file: inner.yaml}\n")
    with bt.Run(bt.load(tmp_path / "outer.yaml"), services={"fleet": two[0]}) as run:
        assert run.blackboard["dock"] == "free"
        assert run.spin() is bt.Status.SUCCESS
    until(lambda: two[1].board.known.get("dock"))
    assert two[1].board.known["dock"].value == "free no more"


def test_of_two_writes_at_once_the_first_stands(two: tuple[Member, Member]) -> None:
    """The second robot knew an older revision: it is told, and takes the value that stands."""
    one, other = two
    refused: list[RefusedWrite] = []
    other.board.refusals.append(refused.append)
    other.board.write("gate", "b")
    until(lambda: "gate" in one.board.known and not other.board.writes("gate"))
    stale = other.board.known["gate"]
    one.board.write("gate", "a")
    until(lambda: one.board.known["gate"].value == "a")
    until(lambda: other.board.known["gate"].value == "a")
    other.board.known["gate"] = stale  # as a robot that has not heard of it yet
    other.board.write("gate", "c")
    until(lambda: refused)
    assert (refused[0].value, refused[0].known and refused[0].known.value) == ("c", "a")
    assert other.board.known["gate"].value == "a"


def test_a_run_is_told_when_the_fleet_is_silent(server: Server) -> None:
    """With `when_stale: halt` the run halts when the value is older than `stale_after`, and `door_3_stale` says so."""
    now = [100.0]
    tree = bt.load(DOOR.replace("when_stale: default", "when_stale: halt"))
    with Member(server.address, "r3") as member:
        assert member.ready.wait(60)
        member.board.clock = lambda: now[0]
        member.board.heard, member.board.beat = 100.0, 3600.0
        lines: list[Line] = []
        with bt.Run(tree, services={"fleet": member}) as run:
            run.listen(lines.append, Line)
            member.board.beat = 3600.0
            run.tick()
            until(lambda: not member.board._beaten.is_set())
            run.tick()
            assert run.blackboard["door_3_stale"] is False
            now[0] = member.board.heard + 31
            run.tick()
            assert run.blackboard["door_3_stale"] is True
            assert run.stopped.startswith("`door_3` is too old: the fleet was last heard 31.0 s ago")
        assert lines[0].text == run.stopped


def test_a_value_of_the_wrong_type_is_told_and_not_taken(two: tuple[Member, Member]) -> None:
    """Another robot's tree may declare the entry differently: the run goes on with what it has."""
    one, other = two
    with bt.Run(bt.load(DOOR), services={"fleet": one}) as run:
        notices: list[Notice] = []
        run.listen(notices.append, Notice)
        run.tick()
        before = run.blackboard["door_3"]
        other.board.write("door_3", 7)
        until(lambda: notices)
        assert "`door_3` takes a string" in notices[0].text
        assert run.blackboard["door_3"] == before


class Ride(bt.Skill):
    """Rides a lift until it is told to leave."""

    inside: ClassVar[list[str]] = []

    def __init__(self) -> None:
        self.who, self.leave = threading.current_thread().name, False

    def start(self) -> None:
        Ride.inside.append(self.who)
        assert len(Ride.inside) == 1, "two robots in one lift"

    def poll(self) -> bt.Status:
        if len(self.feedback) < 5:
            self.feedback += "."
            return bt.Status.RUNNING
        Ride.inside.remove(self.who)
        self.feedback = ""
        return bt.Status.SUCCESS

    def cancel(self) -> None:
        Ride.inside.remove(self.who)


LIFTS = "version: 1\ntree: lifts\nroot:\n  repeat:\n    times: 4\n    child: {ride: {}}\n"


def test_only_one_robot_at_a_time_has_the_lift_and_none_waits_for_ever(two: tuple[Member, Member]) -> None:
    """Two robots that use the same two locks, named in opposite orders, take turns: each gets both four times."""
    ended: list[object] = []

    def robot(member: Member, uses: list[str]) -> None:
        ride = bt.skill("ride", uses=uses)(Ride)
        with bt.Run(bt.load(LIFTS, skills=[ride]), services={"fleet": member}) as run:
            ended.append(run.spin(seconds=100))

    pairs = [(two[0], ["fleet:lift", "fleet:hall"]), (two[1], ["fleet:hall", "fleet:lift"])]
    threads = [threading.Thread(target=robot, args=pair, name=pair[0].robot) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert ended == [bt.Status.SUCCESS] * 2
    assert Ride.inside == []


def test_a_robot_that_is_cut_off_leaves_the_lift_before_another_gets_it(server: Server) -> None:
    """Its skill is cancelled and fails by its own clock; the server then gives the lease to the other robot."""
    one, other = (Member(server.address, name, lease=2.0) for name in ("r5", "r6"))

    class Stay(bt.Skill):
        cancelled = False

        def start(self) -> None: ...

        def poll(self) -> bt.Status:
            return bt.Status.RUNNING

        def cancel(self) -> None:
            assert not other.locks.holds("shaft")
            Stay.cancelled = True

    ride = bt.skill("stay", uses=["fleet:shaft"])(Stay)
    with bt.Run(bt.load("version: 1\ntree: t\nroot:\n  stay: {}\n", skills=[ride]), services={"fleet": one}) as run:
        until(lambda: run.tick().running and one.locks.leases["shaft"].used == 1)
        one.begin(one.link.nc.close())  # the cable is pulled
        assert run.spin(seconds=60) is bt.Status.FAILURE
        assert Stay.cancelled
        assert "the lease of `shaft` was lost" in run.parts.engine.root.feedback_message
    until(lambda: other.locks.holds("shaft"))
    other.locks.leave("shaft")
    one.close()
    other.close()


def test_a_run_outside_a_fleet_says_that_nothing_is_shared() -> None:
    """The same tree runs alone, with its own entries and locks, and a warning tells so."""
    notices: list[Notice] = []
    with bt.Run(bt.load(DOOR)) as run:
        run.listen(notices.append, Notice)
        run.tick()
        assert Sharing not in run.parts.extensions
    assert notices[0].text == "this run is in no fleet: `door_3` are its own, and no other robot waits for it"


def test_reads_before_the_fleet_is_reached_are_answered(tmp_path: Path) -> None:
    """Board and locks of a robot without a network answer at once: nothing known, nothing held, infinitely old."""
    from bt_fleet.server.link import Address, Link

    link = Link(Address("nats://127.0.0.1:1"))
    board, locks = Board(link, "r9"), Locks(link, "r9")
    board.write("door_3", "open")
    assert (board.known, board.writes("door_3"), board.age(), locks.holds("lift")) == ({}, True, float("inf"), False)


def test_a_cancel_that_comes_with_news_ends_the_work() -> None:
    """`asyncio.wait_for` loses such a cancel before Python 3.12; the end of a process would wait for ever."""

    async def stopped() -> bool:
        locks = object.__new__(Locks)
        locks._stirred, locks.leases, locks.lease = asyncio.Event(), {}, 10.0
        work = asyncio.ensure_future(locks._work())
        await asyncio.sleep(0.01)
        locks._stirred.set()
        await asyncio.sleep(0)
        work.cancel()
        done, _ = await asyncio.wait({work}, timeout=5)
        return bool(done)

    assert asyncio.run(stopped())
