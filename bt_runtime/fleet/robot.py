"""The agent process of a robot: takes orders, answers calls, runs one task after the other, and reports.

It works on while the network is gone. What it holds and what it has to report lies on its own disk first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import names, record
from bt_runtime.fleet import task as tasks
from bt_runtime.fleet.battery import Battery
from bt_runtime.fleet.bid import Known, Offer, job_of
from bt_runtime.fleet.hand_in import AGAIN, HandIn, unanswered
from bt_runtime.fleet.held import CLAIMED, CLAIMING, PLANNED, RUNNING, Held, Own
from bt_runtime.fleet.link import Link
from bt_runtime.fleet.plan import Place, Robot, distance
from bt_runtime.fleet.runner import Outcome, Refused, Runner
from bt_runtime.fleet.store import BEFORE, NO, Store
from bt_runtime.fleet.task import Task
from bt_runtime.types import Json

if TYPE_CHECKING:
    from nats.aio.msg import Msg

BEAT = 1.0  # seconds between two heartbeats
WORK, FINISH, STOP = "work", "finish", "stop"  # what a robot does that hears nothing
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Card:
    """What a robot says of itself."""

    name: str
    facts: Mapping[str, Json] = field(default_factory=dict)  # what `needs` are compared with
    place: Place | None = None
    speed: float = 1.0
    battery: Battery = field(default_factory=Battery)
    alone: str = WORK
    alone_after: float = 10.0  # seconds without an answer after which `alone` holds


class Agent:
    """One robot's agent. `work` lasts until it is cancelled or the robot has drained."""

    def __init__(self, card: Card, link: Link, held: Held, runner: Runner, wall: Callable[[], float] = time.time,
                 mono: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        self.card, self.link, self.held, self.runner = card, link, held, runner
        self.store = Store(link)
        self.wall, self.mono = wall, mono
        self.shift = 0.0  # the coordinator's wall clock, less ours
        self.plan = Robot(card.name, place=card.place, speed=card.speed)
        self.running: str | None = None
        self.halted: str | None = None  # why it stands still
        self.draining = False
        self._stopped: dict[str, str] = {}  # task → why its run was told to stop
        self._ends = 0.0  # when the run that goes on is expected to end, by `mono`
        self._heard = -1e9  # when the last heartbeat was sent that was answered
        self._lease = card.alone_after  # seconds of silence after which others may have our tasks
        self._greeted = asyncio.Event()  # a coordinator has said what of our tasks is still ours
        self._wake = asyncio.Event()
        self.hand_in = HandIn(card.name, self.store, held, runner.journal, self._fenced)
        self._known: dict[tuple[str, str], Known] = {}

    async def work(self) -> None:
        """Works until cancelled. The link may be opened later: it is waited for."""
        for own in self.held.tasks.values():
            if own.state != RUNNING:
                self.plan.insert(self._job(own))
        self.link.listeners.append(lambda up: None if up else self._greeted.clear())
        await self.link.together(
            self._connected(), self._scheduled(), self._silent(), self.hand_in.reporting(),
            self.hand_in.copying(lambda: self.running))  # fmt: skip

    # ---- the network

    async def _connected(self) -> None:
        await self.link.opened(None)
        nc = self.link.nc
        await nc.subscribe(names.CALL, cb=self._called)
        await nc.subscribe(names.HALT, cb=self._told_to_halt)
        self.hand_in.reports.set()
        await self.link.together(self._beating(), self.link.always(self._ordered))

    async def _beating(self) -> None:
        count = 0
        while not self.link.closing:
            greet = not self._greeted.is_set() or count % 10 == 0
            sent = self.mono()
            try:
                answer = await self.link.nc.request(names.alive(self.card.name), self._beat(greet), timeout=2 * BEAT)
                self._answered(json.loads(answer.data), sent)
                count += 1
            except Exception as error:  # no coordinator, no network: the next one may be answered
                if not unanswered(error):
                    raise
                _LOG.debug("%s: heartbeat: %s", self.card.name, error)
            await asyncio.sleep(max(0.05, BEAT - (self.mono() - sent)))

    def _beat(self, greet: bool) -> bytes:
        body: dict[str, Any] = {"robot": self.card.name, "running": self.running, "plan": len(self.plan.jobs),
                                "place": self.plan.place,
                                "runs": str(getattr(self.runner, "folder", "")),
                                "halted": self.halted, "draining": self.draining}  # fmt: skip
        if greet:
            body["facts"] = self.facts()
            body["holds"] = {own.task.id: [own.term, own.state] for own in self.held.tasks.values()}
        return json.dumps(body, separators=(",", ":")).encode()

    def _answered(self, answer: Mapping[str, Any], sent: float) -> None:
        self._heard = sent
        self.shift = answer["now"] - self.wall()
        self.draining = answer.get("drain", False)
        self._lease = answer.get("lease", self._lease)
        self._halt(answer.get("halt"))
        if "drop" in answer:
            for task in answer["drop"]:
                self._dropped(task)
            self._greeted.set()
            self._wake.set()

    async def _silent(self) -> None:
        """Holds to the robot's rule for when it hears nothing. A run that another robot may go on with ends at half of
        the lease, so that the two never act at the same time."""
        while not self.link.closing:
            await asyncio.sleep(0.25)
            own = self.held.tasks.get(self.running or "")
            silence = self.mono() - self._heard
            if own is not None and (
                (own.policy == record.MOVES and silence > self._lease / 2) or (self.card.alone == STOP and self.alone)
            ):
                self._stop(own.task.id, "alone")

    @property
    def alone(self) -> bool:
        return self.mono() - self._heard > self.card.alone_after

    async def _ordered(self) -> None:
        """Takes orders, one after the other; each is acknowledged once it is on the disk."""
        await self._greeted.wait()
        async for message in self.store.each(names.ORDERS, names.consumer(self.card.name)):
            await self._order(json.loads(message.data))
            await message.ack()

    async def _order(self, body: Mapping[str, Any]) -> None:
        if "do" in body:
            task = tasks.of(body["do"])
            before = self.held.tasks.get(task.id)
            if max(before.term if before else 0, self.held.ended(task.id)) < body["term"]:
                resume = body.get("resume") and (body["resume"][0], body["resume"][1])
                own = Own(task, body["term"], PLANNED, body["policy"], body["takes"], resume, body.get("at", 0.0))
                if before is not None:
                    self._dropped(task.id)
                self.held.put(own, synced=False)
                self.plan.insert(self._job(own))
                self._wake.set()
            return
        held = self.held.tasks.get(body["task"])
        if held is not None and held.term <= body["term"]:
            self._stop_order(held, body)

    def _stop_order(self, own: Own, body: Mapping[str, Any]) -> None:
        """Cancels a task, gives it back when it was not begun, or drops it because another robot has done it."""
        how, task = body["stop"], own.task.id
        if how == "drop":
            self._dropped(task)
        elif own.state == RUNNING:
            if how == "cancel":
                self._stop(task, record.CANCELLED)
        else:
            self._unplan(task)
            if how == "cancel":
                self._report_drop(own, what="ended", verdict=record.CANCELLED, reason=body.get("reason", ""))
            else:
                self._report_drop(own, what="returned", reason=body.get("reason", ""))

    async def _told_to_halt(self, message: Msg) -> None:
        said = json.loads(message.data)
        if said.get("robot") not in (None, self.card.name):
            return
        self._halt(said["halt"])
        if message.reply:
            await message.respond(json.dumps({"robot": self.card.name, "halted": self.halted}).encode())

    def _halt(self, why: str | None) -> None:
        if why and not self.halted and self.running is not None:
            self._stop(self.running, "halted")
        self.halted = why or None
        self._wake.set()

    # ---- bids

    async def _called(self, message: Msg) -> None:
        if self.halted or self.draining:
            offer = Offer(Robot(self.card.name), {}, {})
            await message.respond(json.dumps(offer.plain()).encode())
            return
        costs: dict[str, Known] = {}
        cannot: dict[str, str] = {}
        facts = self.facts()
        for data in json.loads(message.data)["tasks"]:
            if self.card.name in data["refused"]:
                cannot[data["id"]] = "could not begin it"
                continue
            task = tasks.of(data)
            if task.to not in (None, self.card.name):
                continue
            try:
                costs[task.id] = await self._cost(task, facts)
            except BtError as error:
                cannot[task.id] = error.message
        self.plan.free = abs(self._ends - self.mono()) if self.running else 0.0  # late: as late once more
        await message.respond(json.dumps(Offer(self.plan, costs, cannot).plain(), separators=(",", ":")).encode())

    async def _cost(self, task: Task, facts: Mapping[str, Json]) -> Known:
        if lacks := tasks.lacking(task.needs, facts):
            raise BtError(f"lacks {lacks}", "join it with --has, or send it to another robot")
        known = await self.runner.known(task)
        if (left := self.card.battery.left(facts)) is None:
            return known
        way = distance(self.plan.end(), known.place) / self.card.speed
        promised = self.plan.cost().work + (max(0.0, self._ends - self.mono()) if self.running else 0.0)
        return replace(known, strain=round(self.card.battery.strain(left, promised, way + known.takes), 1))

    def facts(self) -> dict[str, Json]:
        """Returns what needs are compared with; the battery as it is now."""
        left = self.card.battery.left(self.card.facts)
        return {**self.card.facts, **({"battery": left} if left is not None else {})}

    def _job(self, own: Own) -> Any:
        return job_of(own.task, Known(own.takes, own.policy), self.wall() + self.shift)

    def _ours(self) -> bool:
        """True while a coordinator has just said what is still ours."""
        return self._greeted.is_set() and self.mono() - self._heard < self._lease / 4

    # ---- runs

    async def _scheduled(self) -> None:
        with suppress(TimeoutError):  # what was being run when this robot died may be another one's now
            async with asyncio.timeout(3):
                await self._greeted.wait()
        while not self.link.closing:
            self._wake.clear()
            own, again, wait = self._next()
            if own is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
                continue
            if await self._may_begin(own):
                await self._run(self.held.tasks[own.task.id], again)
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await self._wake.wait()

    def _next(self) -> tuple[Own | None, bool, float | None]:
        """Returns the task to run now, and whether it was begun before; else the seconds until one may be begun."""
        if self.halted or (self.card.alone != WORK and self.alone):
            return None, False, 1.0
        for own in list(self.held.tasks.values()):
            if own.state == RUNNING and (own.policy != record.MOVES or self._ours()):
                return own, True, None
        now, wait = self.wall() + self.shift, None
        for job in self.plan.jobs:
            own = self.held.tasks[job.id]
            if own.task.by is not None and own.task.by < now and own.state in (PLANNED, CLAIMING):
                self._unplan(own.task.id)
                self._report_drop(own, what="ended", verdict=record.EXPIRED, reason="its time was over before it began")
                return self._next()
            if own.task.at is not None and own.task.at > now:
                wait = min(wait or 3600.0, own.task.at - now)
            elif own.policy == record.REPEAT or own.state == CLAIMED or self.link.up.is_set():
                return own, False, None
        return None, False, wait if not self.plan.jobs else min(wait or 1.0, 1.0)

    async def _may_begin(self, own: Own) -> bool:
        """Claims a term of a task. The claim decides against a coordinator that takes the task back.

        What may be repeated needs none while the order is fresh or nobody can be asked.
        """
        if own.state in (CLAIMED, RUNNING):
            return True
        fresh = self.wall() + self.shift - own.ordered < 2.0
        if own.policy == record.REPEAT and (fresh or not self.link.up.is_set()):
            return True
        first = own.state != CLAIMING
        if first:
            own = own._replace(state=CLAIMING)
            self.held.put(own, synced=False)
        try:
            how = await self.store.claim(self.card.name, own.task.id, own.term, self.card.name)
        except Exception as error:
            if not unanswered(error):
                raise
            return False
        if self.held.tasks.get(own.task.id) != own:
            return False
        if how == NO:  # whoever took it back may have died before the record said so
            self._unplan(own.task.id)
            self._report_drop(own, what="returned", reason="its term was taken back")
        elif how == BEFORE and first and own.policy != record.REPEAT:
            self._unplan(own.task.id)
            self._report_drop(own, what="doubt", reason="it had begun it, and has lost what it knew of it")
        else:
            return True
        return False

    async def _run(self, own: Own, again: bool) -> None:
        task = own.task
        self._stopped.pop(task.id, None)
        own = own._replace(state=RUNNING)
        self._unplan(task.id)
        self.held.put(own, self._report(own, what="started"), synced=own.policy != record.REPEAT)
        self.running, begun = task.id, self.mono()
        self._ends = begun + own.takes
        self.hand_in.reports.set()
        try:
            await self._moved_in(own, again)
            self.hand_in.begin(own)
            if again and own.policy == record.MOVES:  # what this robot had begun is in the store before it goes on
                while self.runner.journal(own) is not None and await self.hand_in.copied(own) == AGAIN:
                    await asyncio.sleep(0.2)
                if self.held.tasks.get(task.id) != own:
                    return
            outcome = await self.runner.run(own, again)
        except Refused as error:
            self._report_drop(own, what="returned", reason=str(error), refused=True)
            return
        except BtError as error:
            outcome = Outcome(record.FAILURE, error.message)
        finally:
            self.running = None
        if self.held.tasks.get(task.id) != own:
            return  # it is another robot's by now
        why = self._stopped.pop(task.id, "")
        if outcome.verdict is None:  # cut off; unless it was cancelled it is gone on with
            if why != record.CANCELLED:
                await asyncio.sleep(0.1)
                return
            outcome = Outcome(record.CANCELLED, "cancelled")
        if outcome.verdict != record.CANCELLED:
            self.held.took(task.tree, self.mono() - begun, outcome.verdict == record.SUCCESS)
        self._report_drop(own, what="ended", verdict=outcome.verdict, reason=outcome.reason, outputs=outcome.outputs,
                          seconds=round(self.mono() - begun, 3))  # fmt: skip

    def _stop(self, task: str, why: str) -> None:
        """Stops a run; once, because a second signal would kill it."""
        if task not in self._stopped:
            self.runner.stop(task)
        self._stopped[task] = why

    def _fenced(self, own: Own) -> None:
        """Another robot goes on with the run: here it ends."""
        if self.held.tasks.get(own.task.id, own).term == own.term and own.task.id in self.held.tasks:
            self.held.drop(own.task.id, self._report(own, what="fenced"))
            self.hand_in.reports.set()
            self._dropped(own.task.id)

    def _dropped(self, task: str) -> None:
        """Another robot has it, or it is done: this robot ends its part without a word."""
        self._unplan(task)
        if task in self.held.tasks:
            self.held.drop(task)
        if self.running == task:
            self.runner.stop(task)
        self._wake.set()

    def _unplan(self, task: str) -> None:
        self.plan.jobs = [job for job in self.plan.jobs if job.id != task]

    async def _moved_in(self, own: Own, again: bool) -> None:
        """Fetches the journal of the run that this one goes on with."""
        if own.resume is not None and not again:
            pieces = await self.store.journal(own.resume[0], own.task.id, own.resume[1])
            if pieces:
                await self.runner.move_in(own, pieces)

    # ---- reports

    def _report(self, own: Own, **body: Any) -> dict[str, Any]:
        return {**body, "task": own.task.id, "term": own.term, "robot": self.card.name,
                "at": round(self.wall() + self.shift, 3)}  # fmt: skip

    def _report_drop(self, own: Own, **body: Any) -> None:
        self.held.drop(own.task.id, self._report(own, **body))
        self.hand_in.reports.set()
        self._wake.set()
