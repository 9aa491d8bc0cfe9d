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
from typing import TYPE_CHECKING, Any

from bt_fleet.coordinator.bid import Known, Offer, job_of
from bt_fleet.robot import report
from bt_fleet.robot.bidder import Bidder
from bt_fleet.robot.card import STOP, WORK, Card
from bt_fleet.robot.hand_in import AGAIN, HandIn, unanswered
from bt_fleet.robot.held import CLAIMED, CLAIMING, PLANNED, RUNNING, Held, Own
from bt_fleet.robot.plan import Robot
from bt_fleet.robot.runner import Outcome, Refused, Runner
from bt_fleet.server import buckets, forms, names
from bt_fleet.server.link import Link
from bt_fleet.store import record
from bt_fleet.store import task as tasks
from bt_fleet.store.settings import Switches
from bt_fleet.store.store import BEFORE, NO, Store
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from nats.aio.msg import Msg

BEAT = 1.0  # seconds between two heartbeats
_LOG = logging.getLogger(__name__)


class Agent:
    """One robot's agent. `work` lasts until it is cancelled or the robot has drained."""

    def __init__(self, card: Card, link: Link, held: Held, runner: Runner, wall: Callable[[], float] = time.time,
                 mono: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        self.card, self.link, self.held, self.runner = card, link, held, runner
        self.store = Store(link)
        self.wall, self.mono = wall, mono
        self.shift = 0.0  # the coordinator's wall clock, less ours
        self.plan = Robot(card.name, place=card.place, speed=card.speed)
        self.bidder = Bidder(card, self.plan, runner, mono)
        self.running: str | None = None
        self._switches = Switches(self.store.intake)  # halts as they were told
        self._halts: dict[str, str] = {}  # why it stands still, by whom it was said for: EVERY, or this robot
        self.on_halt: Callable[[str | None], None] = lambda why: None  # called with each word of it
        self.draining = False
        self._stopped: dict[str, str] = {}  # task → why its run was told to stop
        self._heard = -1e9  # moment of the last answered heartbeat
        self._lease = card.alone_after  # seconds of silence after which others may have our tasks
        self._greeted = asyncio.Event()  # a coordinator has said what of our tasks is still ours
        self._wake = asyncio.Event()
        self.hand_in = HandIn(card.name, self.store, held, runner.journal, self._fenced)

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
        await nc.subscribe(names.call(self.card.name), cb=self._called)
        for robot in (names.EVERY, self.card.name):  # what is kept is told at once, also without a coordinator
            await nc.subscribe(names.changed(names.SETTINGS, names.halt(robot)), cb=self._told_to_halt)
        self.hand_in.reports.set()
        await self.link.together(self._beating(), self.link.always(self._ordered))

    async def _beating(self) -> None:
        count = 0
        while not self.link.closing:
            greet = not self._greeted.is_set() or count % 10 == 0
            sent = self.mono()
            try:
                answer = await self.link.nc.request(names.alive(self.card.name), self._beat(greet), timeout=2 * BEAT)
                if (said := self.store.intake.read(forms.GREETING, answer)) is not None:
                    self._answered(said, sent)
                count += 1
            except Exception as error:  # no coordinator, no network: the next one may be answered
                if not unanswered(error):
                    raise
                _LOG.debug("%s: heartbeat: %s", self.card.name, error)
            await asyncio.sleep(max(0.05, BEAT - (self.mono() - sent)))

    def _beat(self, greet: bool) -> bytes:
        body: dict[str, Any] = {"running": self.running, "plan": len(self.plan.jobs),
                                "place": self.plan.place,
                                "runs": str(getattr(self.runner, "folder", "")),
                                "halted": self.halted, "draining": self.draining}  # fmt: skip
        if greet:
            body["facts"] = self.card.now()
            body["holds"] = {own.task.id: [own.term, own.state] for own in self.held.tasks.values()}
        return json.dumps(body, separators=(",", ":")).encode()

    def _answered(self, answer: Mapping[str, Any], sent: float) -> None:
        self._heard = sent
        self.shift = answer["now"] - self.wall()
        self._lease = answer.get("lease", self._lease)
        if answer.get("seen", -1) >= self._switches.revision:  # else its coordinator has not heard the latest halt yet
            self.draining = answer.get("drain", False)
            self._halt(names.EVERY, answer.get("halt"))
            self._halt(self.card.name, answer.get("own"))
            self.on_halt(self.halted)
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
        await self.store.each_taken(names.ORDERS, names.consumer(self.card.name), self._order)

    async def _order(self, message: Msg) -> None:
        if (body := self.store.intake.read(forms.ORDER, message)) is None:
            return
        if "do" in body:
            try:
                task = tasks.of(body["do"])
            except BtError as error:
                self.store.intake.refuse(names.order(self.card.name, str(body["do"]["id"])), error.message)
                return
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
        held = self.held.tasks.get(body.get("task", ""))
        if held is not None and "stop" in body and held.term <= body["term"]:
            self._stop_order(held, body)

    def _stop_order(self, own: Own, body: Mapping[str, Any]) -> None:
        """Cancels a task, gives it back when it was not begun, or drops it because another robot has done it."""
        how, task = body["stop"], own.task.id
        if how == "drop":
            self._dropped(task)
        elif own.state == RUNNING:
            if how == "cancel":  # on the disk first: the run may stand still, or this process may end before it is done
                self.held.put(own._replace(cancel=own.cancel or body.get("reason") or record.CANCELLED))
                if self.running == task:
                    self._stop(task, record.CANCELLED)
                self._wake.set()
        else:
            self._unplan(task)
            if how == "cancel":
                self._report_drop(own, what="ended", verdict=record.CANCELLED, reason=body.get("reason", ""))
            else:
                self._report_drop(own, what="returned", reason=body.get("reason", ""))

    async def _told_to_halt(self, message: Msg) -> None:
        """Takes a halt or a release as soon as it is kept."""
        change = buckets.kept(names.SETTINGS, message)
        self._switches.take(change.key, change.value, change.revision)
        for robot in (names.EVERY, self.card.name):
            self._halt(robot, self._switches.halt(robot))
        self.on_halt(self.halted)
        body = json.dumps({"halted": self.halted}).encode()
        await self.link.nc.publish(names.halted(self.card.name), body)

    def _halt(self, robot: str, why: str | None) -> None:
        """Notes a halt of the fleet or of this robot, or its release."""
        before = self.halted
        if why:
            self._halts[robot] = why
        else:
            self._halts.pop(robot, None)
        if self.halted and not before and self.running is not None:
            self._stop(self.running, "halted")
        self._wake.set()

    @property
    def halted(self) -> str | None:
        """Why it stands still."""
        return next(iter(self._halts.values()), None)

    # ---- runs

    async def _called(self, message: Msg) -> None:
        """Answers a call: what the tasks would cost."""
        if (said := self.store.intake.read(forms.CALL, message)) is None:
            return
        offer = Offer(Robot(self.card.name), {}, {})
        if not (self.halted or self.draining):
            offer = await self.bidder.offer(said["tasks"])
        body = json.dumps(offer.plain(), separators=(",", ":")).encode()
        await self.link.nc.publish(names.bid(self.card.name, said["call"]), body)

    def _job(self, own: Own) -> Any:
        return job_of(own.task, Known(own.takes, own.policy), self.wall() + self.shift)

    def _ours(self) -> bool:
        """True while a coordinator has just said what is still ours."""
        return self._greeted.is_set() and self.mono() - self._heard < self._lease / 4

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
                if not self._still and own.task.id in self.held.tasks:  # while the claim was asked for, much may happen
                    await self._run(self.held.tasks[own.task.id], again)
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await self._wake.wait()

    def _next(self) -> tuple[Own | None, bool, float | None]:
        """Returns the task to run now, and whether it was begun before; else the seconds until one may be begun."""
        for own in list(self.held.tasks.values()):
            if own.state == RUNNING and own.cancel:  # also while it is halted
                self._cancelled(own)
        if self._still:
            return None, False, 1.0
        for own in self.held.tasks.values():
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

    @property
    def _still(self) -> bool:
        """True while nothing may be begun or gone on with."""
        return bool(self.halted) or (self.card.alone != WORK and self.alone)

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
        self.bidder.ends = begun + own.takes
        self.hand_in.reports.set()
        try:
            await self._moved_in(own, again)
            self.hand_in.begin(own)
            if again and own.policy == record.MOVES:  # what this robot had begun is in the store before it goes on
                while self._goes_on(own) and self.runner.journal(own) is not None:
                    if await self.hand_in.copied(own) != AGAIN:
                        break
                    await asyncio.sleep(0.2)
            outcome = await self.runner.run(own, again) if self._goes_on(own) else Outcome(None)
        except Refused as error:
            self._report_drop(own, what="returned", reason=str(error), refused=True)
            return
        except BtError as error:
            outcome = Outcome(record.FAILURE, error.message)
        finally:
            self.running = self.bidder.ends = None
        await self._ended(own, outcome, self.mono() - begun)

    def _goes_on(self, own: Own) -> bool:
        """False when the task is another robot's by now, or its run was told to stop."""
        held = self.held.tasks.get(own.task.id)
        return held is not None and held.term == own.term and own.task.id not in self._stopped

    async def _ended(self, own: Own, outcome: Outcome, seconds: float) -> None:
        """Reports how a run has ended. What was cut off is gone on with, unless it was cancelled."""
        task, held = own.task, self.held.tasks.get(own.task.id)
        self._stopped.pop(task.id, "")
        if held is None or held.term != own.term:
            return  # the task is another robot's by now
        if outcome.verdict is None:
            if held.cancel:
                self._cancelled(held)
            else:
                await asyncio.sleep(0.1)
            return
        self.held.took(task.tree, seconds, outcome.verdict == record.SUCCESS)
        self._report_drop(own, what="ended", verdict=outcome.verdict, reason=outcome.reason, outputs=outcome.outputs,
                          seconds=round(seconds, 3))  # fmt: skip

    def _cancelled(self, own: Own) -> None:
        """Ends a task that somebody has cancelled, and whose run does not go on."""
        reason = "cancelled" if own.cancel == record.CANCELLED else own.cancel
        self._report_drop(own, what="ended", verdict=record.CANCELLED, reason=reason)

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
            pieces = await self.store.handed_over(self.card.name, own.task.id)
            if pieces:
                await self.runner.move_in(own, pieces)

    # ---- reports

    def _report(self, own: Own, **body: Any) -> dict[str, Any]:
        return report.of(own, self.wall() + self.shift, body)

    def _report_drop(self, own: Own, **body: Any) -> None:
        self.held.drop(own.task.id, self._report(own, **body))
        self.hand_in.reports.set()
        self._wake.set()
