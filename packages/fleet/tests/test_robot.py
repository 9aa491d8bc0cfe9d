"""One agent, with a coordinator and without: what it does alone, what it claims, what it knows after its death."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.coordinator.bid import Known
from bt_fleet.coordinator.coordinator import Coordinator
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runner import Outcome
from bt_fleet.server import names
from bt_fleet.server.link import Address, Link
from bt_fleet.store import record
from bt_fleet.store.record import DONE, DOUBT, STARTED, Record
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from packages.fleet.tests.proxy import Proxy
from packages.fleet.tests.serving import served
from packages.fleet.tests.still import Still

# an attempt to connect that fails leaves its socket to the garbage collector, in the client's library
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Clock:
    """A clock that only its owner moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Instant(Still):
    """A runner whose runs take no time but that of the clock; `hold` keeps a run going until it is set."""

    def __init__(self, clock: Clock, seconds: float = 0.0) -> None:
        self.clock, self.seconds = clock, seconds
        self.ran: list[str] = []
        self.hold = asyncio.Event()
        self.hold.set()
        self.begun = asyncio.Event()
        self._stop = asyncio.Event()

    async def known(self, task: Task) -> Known:
        return Known(max(self.seconds, 0.01), record.REPEAT if task.tree == "repeat" else record.STAYS)

    async def run(self, own: Own, again: bool) -> Outcome:
        self.ran.append(own.task.id)
        self.begun.set()
        self._stop.clear()
        waits = {asyncio.ensure_future(self.hold.wait()), asyncio.ensure_future(self._stop.wait())}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for each in waits:
            each.cancel()
        if not self.hold.is_set():
            return Outcome(None)
        self.clock.now += self.seconds
        return Outcome(record.SUCCESS)

    def stop(self, task: str) -> None:
        self._stop.set()


class Scene:
    """A server, a coordinator, and a proxy between robots and the server."""

    def __init__(self, folder: Path, proxy: Proxy, link: Link) -> None:
        self.folder, self.proxy, self.link, self.store = folder, proxy, link, Store(link)
        self.clock = Clock()
        self.agents: dict[str, tuple[asyncio.Task[None], Link, Held]] = {}
        self.robots: dict[str, Agent] = {}

    async def join(self, name: str, runner: Instant) -> None:
        link, held = Link(Address(self.proxy.url), name), Held(self.folder / name / "held.db")
        card = Card(name, {"level": 2})
        agent = self.robots[name] = Agent(card, link, held, runner, self.clock)
        work = asyncio.create_task(agent.work())
        self.agents[name] = work, link, held
        bucket = await self.link.bucket(names.ROBOTS)
        while name not in await keys(bucket):
            await asyncio.sleep(0.02)

    async def leave(self, name: str) -> None:
        """As a kill: nothing more is sent, nothing is finished."""
        work, link, held = self.agents.pop(name)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        await link.close()
        held.close()

    async def until(self, task: str, *states: str) -> Record:
        async for each in self.store.watch():
            if each is not None and each[0].task.id == task and each[0].state in states:
                return each[0]
        raise AssertionError

    async def close(self) -> None:
        for name in list(self.agents):
            await self.leave(name)


async def keys(bucket) -> list[str]:
    try:
        return list(await bucket.keys())
    except Exception:  # it is empty
        return []


@asynccontextmanager
async def scene(folder: Path, lease: float) -> AsyncIterator[Scene]:
    async with served(folder) as server, Link(server.address) as link:
        proxy = await Proxy(server.port).start()
        coordinator = Coordinator(link, lease)
        work = asyncio.create_task(coordinator.work())
        await coordinator.ready.wait()
        made = Scene(folder, proxy, link)
        try:
            yield made
        finally:
            await made.close()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await proxy.close()


def played(folder: Path, story: Callable[[Scene], Awaitable[None]], lease: float = 60.0) -> None:
    async def whole() -> None:
        async with scene(folder, lease) as made:
            await asyncio.wait_for(story(made), 60)

    asyncio.run(whole())


@pytest.mark.parametrize("count", [60])  # `make fleet` takes 500
def test_a_robot_alone_for_an_hour_hands_in_all_its_tasks_in_order(tmp_path: Path, count: int) -> None:
    """Its network is gone for an hour by its clock. It works on; afterwards the store has every end, in their order."""

    async def story(made: Scene) -> None:
        runner = Instant(made.clock, 3600 / count)
        runner.hold.clear()
        await made.join("r1", runner)
        for first in range(0, count, 20):
            tasks = [Task(f"t{n:03}", "repeat", to="r1") for n in range(first, first + 20)]
            await asyncio.gather(*(made.store.add(task) for task in tasks))
        agent_held = made.agents["r1"][2]
        while len(agent_held.tasks) < count:
            await asyncio.sleep(0.05)
        made.proxy.cut()
        begun = made.clock.now
        runner.hold.set()
        while agent_held.tasks:
            await asyncio.sleep(0.05)
        assert made.clock.now - begun >= 3600 - 1
        assert len(agent_held.unsent(2000)) >= count  # nobody has heard of them
        made.proxy.mend()
        while agent_held.unsent(1):
            await asyncio.sleep(0.05)
        await made.until(runner.ran[-1], DONE)
        info = await made.store.js.stream_info(names.REPORTS)
        said = [await made.store.js.get_msg(names.REPORTS, seq) for seq in range(1, info.state.messages + 1)]
        ends = [message.subject.rpartition(".")[2] for message in said if b'"ended"' in (message.data or b"")]
        assert ends == runner.ran and len(set(ends)) == count

    played(tmp_path, story)


def test_a_robot_that_has_lost_its_disk_does_not_begin_again_what_it_had_claimed(tmp_path: Path) -> None:
    """The claim says that it had begun; nobody knows how far, so a person is asked."""

    async def story(made: Scene) -> None:
        runner = Instant(made.clock)
        runner.hold.clear()
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        await runner.begun.wait()
        await made.until("t", STARTED)
        await made.leave("r1")
        for file in (made.folder / "r1").glob("held.db*"):
            file.unlink()
        fresh = Instant(made.clock)
        await made.join("r1", fresh)
        again = {"do": Task("t", "stays").plain(), "term": 1, "policy": "stays", "takes": 1.0}
        await made.store.order("r1", "t", again)
        assert (await made.until("t", DOUBT)).robot == "r1"
        assert fresh.ran == []

    played(tmp_path, story)


def test_a_killed_robot_goes_on_with_what_it_had_begun(tmp_path: Path) -> None:
    """Its own disk tells; no other robot gets the task meanwhile, and there is one verdict."""

    async def story(made: Scene) -> None:
        runner, again = Instant(made.clock), Instant(made.clock)
        runner.hold.clear()
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        await runner.begun.wait()
        await made.leave("r1")
        await made.join("r1", again)
        held = await made.until("t", DONE)
        assert (held.verdict, held.robot, held.term, again.ran) == ("success", "r1", 1, ["t"])

    played(tmp_path, story)


def test_a_cancelled_task_is_stopped_where_it_runs(tmp_path: Path) -> None:
    """The robot stops the run, and the verdict says so."""

    async def story(made: Scene) -> None:
        runner = Instant(made.clock)
        runner.hold.clear()
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        await runner.begun.wait()
        await made.store.order("r1", "t", {"stop": "cancel", "task": "t", "term": 1})
        assert (await made.until("t", DONE)).verdict == "cancelled"

    played(tmp_path, story)


def test_a_lost_robots_task_is_done_by_another(tmp_path: Path) -> None:
    """r1 is cut off for good; what may be repeated is done by r2, what may not is in doubt."""

    async def story(made: Scene) -> None:
        one, two = Instant(made.clock), Instant(made.clock)
        one.hold.clear()
        await made.join("r1", one)
        await made.store.add(Task("a", "repeat", needs="level<3"))
        await made.store.add(Task("b", "stays", to="r1"))
        await made.until("a", STARTED, DONE)
        await made.leave("r1")
        await made.join("r2", two)
        held = await made.until("a", DONE)
        assert (held.robot, held.term) == ("r2", 2)
        assert two.ran == ["a"]

    played(tmp_path, story, lease=1.0)


def test_a_robot_that_drains_gives_what_it_has_not_begun_to_others(tmp_path: Path) -> None:
    """It finishes what it is at; the rest is done by the other robot, whose plan was no longer than its own."""

    async def story(made: Scene) -> None:
        one, two = Instant(made.clock), Instant(made.clock)
        one.hold.clear()
        await made.join("r1", one)
        await asyncio.gather(*(made.store.add(Task(f"t{n}", "stays")) for n in range(4)))
        await one.begun.wait()
        bucket = await made.link.bucket(names.SETTINGS)
        await bucket.put(names.drain("r1", "ann"), b'{"on":true}')
        await made.join("r2", two)
        begun = one.ran[0]
        for task in {f"t{n}" for n in range(4)} - {begun}:
            assert (await made.until(task, DONE)).robot == "r2"
        one.hold.set()
        assert (await made.until(begun, DONE)).robot == "r1"
        assert one.ran == [begun]

    played(tmp_path, story)


def test_a_term_that_was_revoked_by_a_coordinator_that_then_died_is_given_back(tmp_path: Path) -> None:
    """The record still says that the robot has it; it may not begin, says so, and gets a new term."""

    async def story(made: Scene) -> None:
        await made.store.room("r1")
        await made.store.claim("r1", "t", 1, "")
        runner = Instant(made.clock)
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        held = await made.until("t", DONE)
        assert (held.verdict, held.term, runner.ran) == ("success", 2, ["t"])

    played(tmp_path, story)
