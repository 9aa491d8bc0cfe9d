"""The coordinator: assigns waiting tasks by auction, folds reports into records, takes tasks from lost robots.

Any number may work on one fleet: each decision is a compare-and-set in the store, and the second one is told so.
Nothing of it is kept here that the store does not hold.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bt_fleet.coordinator import auction
from bt_fleet.coordinator.balance import Balance, take_back
from bt_fleet.coordinator.bid import Offer, job_of
from bt_fleet.coordinator.patience import FEW, MOST, Patience
from bt_fleet.coordinator.quotas import Quotas
from bt_fleet.coordinator.rollout import Rollouts
from bt_fleet.coordinator.wishes import Wishes
from bt_fleet.robot.plan import Job
from bt_fleet.server import forms, messages, names
from bt_fleet.server.link import Link
from bt_fleet.store import record
from bt_fleet.store.record import ASSIGNED, DONE, DOUBT, STARTED, WAITING, Record, folded
from bt_fleet.store.settings import Settings
from bt_fleet.store.store import COORDINATORS, NO, Store
from bt_runtime.language.schema_quick import fits

if TYPE_CHECKING:
    from nats.aio.msg import Msg

LEASE = 6.0  # seconds without a heartbeat after which a robot is lost
SWEEP = 0.5
AGAIN = 3.0  # seconds after which an order that shows no effect is given again
BALANCE = 2.0
AHEAD = 600.0  # seconds before its window at which a task is assigned
_LOG = logging.getLogger(__name__)


@dataclass
class Seen:
    """A robot as its heartbeats tell of it."""

    heard: float
    beat: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    mute: float = 0.0  # moment until which calls do not wait for this silent robot


class Coordinator:
    def __init__(self, link: Link, lease: float = LEASE, wall: Callable[[], float] = time.time,
                 mono: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        self.link, self.store, self.lease = link, Store(link), lease
        self.wall, self.mono = wall, mono
        self.open: dict[str, tuple[Record, int]] = {}  # every task that is not done, with its revision
        self.robots: dict[str, Seen] = {}
        self.settings = Settings(self.store)  # halt, drain and deployments, as the store has them
        self.rollouts = Rollouts(self.store, self.settings.deployments, self.alive)
        self.patience = Patience()
        self.balance = Balance(self.store, mono)
        self.intake = self.store.intake  # counts messages that do not fit
        self.ready = asyncio.Event()
        self._waiting = asyncio.Event()
        self._promised: dict[str, tuple[str, Job]] = {}  # ordered, but not in the robot's offers yet
        self._why: dict[str, str] = {}
        self._retry: dict[str, float] = {}  # task → moment of its next call, when nobody could take it
        self._since = self.mono()  # robots are not lost before a whole lease from here
        self._consumers: set[str] = set()
        self._shown: dict[str, float] = {}  # task → moment of its record's last arrival or order
        self._missed: dict[str, int] = {}  # how often its robot has said that it does not have it

    async def work(self) -> None:
        """Works until cancelled."""
        await self.link.once(self.store.prepare)
        self.link.listeners.append(self._linked)
        await self.link.nc.subscribe(names.alive(), cb=self._alive)
        await self.link.nc.subscribe(names.fetch("*"), cb=self._fetched)
        await Wishes(self.store).start()
        parts = (self._watching, self.settings.watch, Quotas(self.store).watch, self._reports, self._auctions,
                 self._sweeping, self._balancing)  # fmt: skip
        await self.link.together(*(self.link.always(part) for part in parts))

    def _linked(self, up: bool) -> None:
        self._since = self.mono()
        self._consumers.clear()

    # ---- what the store says

    async def _watching(self) -> None:
        async for each in self.store.watch():
            if each is None:
                self.ready.set()
                continue
            self._noted(*each)

    def _noted(self, held: Record, revision: int) -> None:
        task = held.task.id
        if task in self.open and self.open[task][1] >= revision:
            return
        if held.state == DONE:
            self.open.pop(task, None)
            for known in (self._promised, self._shown, self._missed, self._why, self._retry):
                known.pop(task, None)
            return
        self.open[task] = held, revision
        self._shown[task] = self.mono()
        if held.state == WAITING:
            self._promised.pop(task, None)
            self._retry.pop(task, None)
            self._waiting.set()
        elif held.state == STARTED:
            self._promised.pop(task, None)

    # ---- what robots say

    async def _alive(self, message: Msg) -> None:
        """Answers a heartbeat. Whose it is, the subject says."""
        beat = self.intake.read(forms.BEAT, message)
        if beat is None or (name := self._sender(message.subject)) is None:
            return
        seen = self.robots.setdefault(name, Seen(self.mono()))
        fresh = self.mono() - seen.heard > self.lease or not seen.beat
        seen.heard, seen.beat = self.mono(), beat
        answer: dict[str, Any] = {"now": self.wall(), "lease": self.lease}
        if self.settings.whole:
            answer |= {
                "halt": self.settings.halt(names.EVERY),
                "own": self.settings.halt(name),
                "drain": self.settings.drained(name),
                "seen": self.settings.revision,
            }
        if "holds" in beat and self.ready.is_set():
            seen.facts = beat.get("facts", {})
            if name not in self._consumers:
                await self.store.ordering(name)
                self._consumers.add(name)
                await self._card(name, seen)
            answer["drop"] = await self._greeted(name, beat["holds"])
        if fresh:
            self._waiting.set()  # somebody came who may do what nobody could
            self._retry.clear()
        if message.reply:
            await message.respond(json.dumps(answer, separators=(",", ":")).encode())

    def _sender(self, subject: str) -> str | None:
        """Returns the robot that a subject names; None where a robot cannot be called so."""
        name = messages.sender(subject)
        if not fits(forms.NAME, name):
            self.intake.refuse(subject, "a robot cannot be called so")
            return None
        return name

    async def _fetched(self, message: Msg) -> None:
        """Hands a robot the next piece of the run that it goes on with; an empty answer when there is none."""
        robot, task = message.subject.split(".")[2:4]
        held, asked = self.open.get(task), message.data.decode("ascii", "replace")
        last = int(asked) if asked.isdecimal() and len(asked) < 20 else 0
        piece = None
        if held is not None and held[0].robot == robot and held[0].resume is not None:
            piece = await self.store.piece(held[0].resume[0], task, held[0].resume[1], last)
        number = {"Number": str(piece[0])} if piece is not None else None
        await self.link.nc.publish(message.reply, piece[1] if piece is not None else b"", headers=number)

    async def _card(self, name: str, seen: Seen) -> None:
        body = {"facts": dict(seen.facts), "joined": self.wall()}
        await (await self.link.bucket(names.ROBOTS)).put(name, json.dumps(body).encode())

    async def _greeted(self, name: str, holds: Mapping[str, list[Any]]) -> list[str]:
        """Compares what a robot holds with what the store says; returns what is not its own any more."""
        drop = []
        for task, (term, state) in holds.items():
            known = self.open.get(task)
            if known is None:
                found = await self.store.get(task)
                if found is None or found[0].state == DONE:
                    drop.append(task)
                    continue
                known = found
            held = known[0]
            if held.robot == name and held.term == term:
                if held.state == DOUBT:
                    await self._found(task, state == "running")
            elif not (held.robot == name and held.term < term):
                drop.append(task)
        for task, (held, _) in list(self.open.items()):
            if held.robot == name and held.state in (ASSIGNED, STARTED, DOUBT) and task not in holds:
                await self._missing(held)
        return drop

    async def _found(self, task: str, begun: bool) -> None:
        await self._change(task, lambda held: held.found(self.wall(), begun) if held.state == DOUBT else None)

    async def _missing(self, held: Record) -> None:
        """A robot lacks what it should have: the order is under way, or its report, or its disk is lost."""
        task = held.task.id
        for_ = self.mono() - self._shown.get(task, self.mono())  # no wall clock: those of two coordinators may differ
        if held.state == ASSIGNED and for_ > AGAIN and held.cancel:
            await self.reported(self._ended(held, record.CANCELLED, held.reason or "cancelled before it began"))
        elif held.state == ASSIGNED and for_ > AGAIN:
            await self._order(held)
        if held.state == STARTED and for_ > 10.0:
            self._missed[task] = self._missed.get(task, 0) + 1
            if self._missed[task] >= 3:
                why = f"{held.robot} does not know of it any more"
                await self._change(
                    task, lambda r: r.doubted(self.wall(), why) if r.term == held.term and r.state == STARTED else None
                )

    async def _reports(self) -> None:
        from nats.js import api

        config = api.ConsumerConfig(durable_name=COORDINATORS, ack_policy=api.AckPolicy.EXPLICIT, ack_wait=10,
                                    max_ack_pending=5000)  # fmt: skip
        await self.link.js.add_consumer(names.REPORTS, config)
        await self.store.each_taken(names.REPORTS, COORDINATORS, self._report)

    async def _report(self, message: Msg) -> None:
        """Takes a robot's report on a task that it was given. Its subject says whose it is, and on what."""
        said = self.intake.read(forms.REPORT, message, message.metadata.timestamp.timestamp())
        if said is None:
            return
        robot, task = message.subject.split(".")[2:4]
        report = {**{key: said[key] for key in forms.REPORTED if key in said}, "robot": robot, "task": task}
        known = self.open.get(task) or await self.store.get(task)
        if known is None or f"{robot}.{report['term']}" not in known[0].had:
            self.intake.refuse(message.subject, "it was not given this task")
            return
        await self.reported(report)
        if report["what"] == "ended":
            await self.rollouts.judge(known[0].task.tree)

    async def reported(self, report: dict[str, Any]) -> None:
        """Folds a report into its task's record. The verdict is written first: of two, the first one counts."""
        if report["what"] == "ended":
            first = await self.store.verdict(report)
            if first != report:
                _LOG.info("%s: %s came second with %s", report["task"], report["robot"], report["verdict"])
            report = first
        before = self.open.get(report["task"])
        after = await self._change(report["task"], lambda held: folded(held, report, self.wall()))
        if (
            after is not None
            and after.state == DONE
            and before is not None
            and before[0].robot not in (None, report["robot"])
        ):
            await self.store.order(before[0].robot or "", after.task.id,
                                   {"stop": "drop", "task": after.task.id, "term": before[0].term})  # fmt: skip

    async def _change(self, task: str, how: Callable[[Record], Record | None]) -> Record | None:
        """Changes a record, from the state that the watch has shown where that is the newest."""
        while True:
            known = self.open.get(task)
            if known is None:
                known = await self.store.get(task)
                if known is None or known[0].state == DONE:
                    return None
            after = how(known[0])
            if after is None or after is known[0]:
                return None
            if (revision := await self.store.replace(after, known[1])) is not None:
                self._noted(after, revision)
                return after
            found = await self.store.get(task)
            if found is None:
                return None
            self._noted(*found)

    # ---- auctions

    async def _auctions(self) -> None:
        await self.ready.wait()
        while not self.link.closing:
            await self._waiting.wait()
            self._waiting.clear()
            await asyncio.sleep(0.001)  # tasks that arrive together are auctioned together
            while batch := self._due():
                await self._auction(batch)

    def _due(self) -> list[Record]:
        now, mono = self.wall(), self.mono()
        due = [held for held, _ in self.open.values() if held.state == WAITING and not held.cancel
               and self._retry.get(held.task.id, 0.0) <= mono and (held.task.at or 0.0) <= now + AHEAD]  # fmt: skip
        due.sort(key=lambda held: (-held.task.priority, held.task.by or 1e12, held.sent))
        return auction.batch(due)

    def alive(self) -> set[str]:
        now = self.mono()
        return {name for name, seen in self.robots.items() if now - seen.heard <= self.lease}

    def _expected(self) -> set[str]:
        now = self.mono()
        return {name for name in self.alive() if self.robots[name].mute <= now}

    async def _auction(self, batch: list[Record]) -> None:
        called = [self.rollouts.asked(held) for held in batch]
        patience = self.patience if len(batch) <= FEW else None
        call = auction.Call(self.link, called, self.alive(), self.intake)
        offers = await call.collected(self._expected, MOST + len(batch) * 0.004, patience)
        for name in (self._expected() & call.texts.keys()) - offers.keys():
            if patience is None or self.patience.of(name) >= MOST:
                self.robots[name].mute = self.mono() + 5.0
        self._overlay(offers)
        if len(batch) * len(offers) > 100:
            result = await asyncio.to_thread(auction.decided, batch, offers, self.wall())
        else:
            result = auction.decided(batch, offers, self.wall())
        ends = await asyncio.gather(*(self._assign(held, result) for held in batch), return_exceptions=True)
        for error in (each for each in ends if isinstance(each, BaseException)):
            raise error

    def _overlay(self, offers: Mapping[str, Offer]) -> None:
        """Adds to the offers what was ordered since, and has not reached the robot's plan yet."""
        for task, (name, job) in list(self._promised.items()):
            if (offer := offers.get(name)) is not None:
                if any(each.id == task for each in offer.robot.jobs):
                    del self._promised[task]
                else:
                    offer.robot.insert(job)

    async def _assign(self, held: Record, result: auction.Result) -> None:
        task, name = held.task.id, result.given.get(held.task.id)
        if name is None:
            self._retry[task] = self.mono() + (1.0 if result.offers else 0.3)
            if (why := result.why_not(task)) != self._why.get(task):
                self._why[task] = why
                await self._change(task, lambda r: r.waits(why) if r.state == WAITING else None)
            return
        known = result.offers[name].costs[task]
        version = self.rollouts.version(held, name)
        open_ = (WAITING, held.term, False)
        after = await self._change(
            task,
            lambda r: (
                r.assigned(name, known.policy, self.wall(), version) if (r.state, r.term, r.cancel) == open_ else None
            ),
        )
        if after is not None:
            self._promised[task] = name, job_of(held.task, known, self.wall())
            await self._order(after, known.takes)

    async def _order(self, held: Record, takes: float = 60.0) -> None:
        self._shown[held.task.id] = self.mono()
        body: dict[str, Any] = {"do": held.task.plain(), "term": held.term, "policy": held.policy, "takes": takes}
        if held.version:
            body["do"]["digest"] = held.version
        body["at"] = round(self.wall(), 3)
        if held.resume is not None:
            body["resume"] = list(held.resume)
        await self.store.order(held.robot or "", held.task.id, body)

    # ---- what time does

    async def _sweeping(self) -> None:
        await self.ready.wait()
        while not self.link.closing:
            await asyncio.sleep(SWEEP)
            self._waiting.set()
            alive, now = self.alive(), self.wall()
            settled = self.mono() - self._since > self.lease
            for held, _ in list(self.open.values()):
                if held.cancel and held.state == WAITING:
                    await self.reported(self._ended(held, record.CANCELLED, held.reason or "cancelled before it began"))
                elif held.state == WAITING and held.task.by is not None and held.task.by < now:
                    await self.reported(
                        self._ended(held, record.EXPIRED, self._why.get(held.task.id, "nobody was free in time"))
                    )
                elif held.robot is None or held.state not in (ASSIGNED, STARTED):
                    continue
                elif held.robot not in alive:
                    if settled:
                        await self._lost(held)
                elif held.cancel and self.mono() - self._shown.get(held.task.id, 0.0) > AGAIN:
                    await self._stop(held)

    async def _stop(self, held: Record) -> None:
        """Tells a robot again that its task was cancelled: an order to stop may be lost, as the record of it is not."""
        self._shown[held.task.id] = self.mono()
        order = {"stop": "cancel", "task": held.task.id, "term": held.term, "reason": held.reason}
        await self.store.order(held.robot or "", held.task.id, order)

    def _ended(self, held: Record, verdict: str, reason: str) -> dict[str, Any]:
        return {"what": "ended", "task": held.task.id, "term": held.term, "robot": held.robot, "verdict": verdict,
                "reason": reason, "at": round(self.wall(), 3)}  # fmt: skip

    async def _lost(self, held: Record) -> None:
        """Takes a task from a robot that is not heard, as far as its policy and the claim allow."""
        task, robot = held.task.id, held.robot or ""
        begun = held.state == STARTED
        if held.state == ASSIGNED and held.task.to is None:
            begun = await self.store.claim(robot, task, held.term, "") == NO
        if begun and held.policy == record.MOVES and held.task.to is None:
            await self.store.fence(robot, task, held.term)
        await self._change(
            task, lambda r: r.lost(self.wall(), begun) if r.term == held.term and r.state == held.state else None
        )

    async def _balancing(self) -> None:
        """Takes back what nobody has begun, where another robot would be done with it earlier."""
        await self.ready.wait()
        while not self.link.closing:
            await asyncio.sleep(BALANCE)
            await self.store.make_room()
            planned = [held for held, _ in self.open.values() if held.state == ASSIGNED and held.task.to is None]
            alive = self.alive()
            stands = {name for name in alive if self.settings.drained(name) or self.settings.halted(name)}
            for held in planned:
                if held.robot in stands:
                    await take_back(self.store, held, f"{held.robot} takes no tasks")
            beats = [self.robots[name].beat for name in alive - stands]
            planned = [held for held in planned if held.robot in alive - stands]
            planned = auction.batch(self.balance.movable(planned))
            if planned and any(not beat.get("running") and not beat.get("plan") for beat in beats):
                offers = await auction.Call(self.link, planned, alive, self.intake).collected(self._expected, MOST)
                self._overlay(offers)
                await self.balance.move(planned, offers, self.wall())
