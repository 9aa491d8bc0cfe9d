"""A vehicle's claims on places, as its process keeps them in the store; and the skill that drives with them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from bt_fleet.server import buckets, forms, messages, names
from bt_fleet.server.buckets import Kept
from bt_fleet.server.link import heard
from bt_fleet.shared.traffic.claims import FREE, Claims, Holding, Write, circle
from bt_runtime.events import Line
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.activity import Pending, Wrapping
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.tree.node import FAILURE, SUCCESS

if TYPE_CHECKING:
    from bt_fleet.server.link import Link
    from bt_runtime.tree.action import Action
    from bt_runtime.tree.gates import Start

BUCKET = names.LOCKS
PREFIX = "place/"  # before the name of a place, so that no lease can have its key
ASK = 2.0  # seconds that one request may take
AGAIN = 0.2  # seconds before what was not answered is tried again
LOOK = 1.0  # seconds between two looks of a vehicle that waits


class Stretch:
    """A stretch that a skill wants. The skill sets `end`; the rest is told by the process's `Places`."""

    def __init__(self, route: tuple[str, ...]) -> None:
        self.route = route
        self.granted = False
        self.why = "its places are asked for"  # reason told while the place is not granted
        self.circle: tuple[str, ...] = ()  # the robots that wait for each other, this one first
        self.failed = ""  # why it cannot be granted, or is granted no more
        self.end = ""  # "arrived" or "stopped"


class Places:
    """One process's claims. `ask` and `finish` may be called anywhere; the rest runs on the link's loop."""

    def __init__(self, link: Link, robot: str) -> None:
        self.link = link
        self.claims = Claims(robot, uuid4().hex[:12])
        self.listeners: list[Callable[[], None]] = []  # called when a stretch was granted or lost, or waits otherwise
        self.asked: list[Stretch] = []  # the first one is claimed; the others wait for its end
        self._begun: Stretch | None = None
        self._complete = False  # everything that the store had was seen
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stirred = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    # For the tick, at once ---------------------------------------------------------------------

    def ask(self, route: Iterable[str]) -> Stretch:
        stretch = Stretch(tuple(route))
        self.asked.append(stretch)
        self._stir()
        return stretch

    def finish(self, stretch: Stretch, how: str) -> None:
        """Ends a stretch: the vehicle has "arrived" at its last place, or has "stopped" anywhere in it."""
        stretch.end = stretch.end or how
        self._stir()

    def taken(self) -> set[str]:
        """Returns the places that other robots hold, as far as is known."""
        held = dict(self.claims.seen)
        return {place for place, seen in held.items() if seen.robot not in ("", self.claims.robot)}

    # On the loop -------------------------------------------------------------------------------

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks.append(self._loop.create_task(self._work()))

    async def stop(self) -> None:
        """Gives back what was taken for a stretch that was not granted. Every other claim stays."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.asked.clear()
        self._turn()
        while self._complete and self.link.up.is_set() and (write := self.claims.next()) is not None:
            await self._send(write)

    def _stir(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stirred.set)

    async def _work(self) -> None:
        while not self.asked:  # a run without vehicles hears of no place
            await self._stirred.wait()
            self._stirred.clear()
        self._tasks.append(asyncio.get_running_loop().create_task(self.link.always(self._follow)))
        while True:
            await heard(self._stirred, LOOK)
            self._turn()
            while self._complete and (write := self.claims.next()) is not None:
                await self._send(write)
                self._turn()
            await self._look()

    async def _follow(self) -> None:
        async for each in buckets.follow(self.link, BUCKET):
            if each is None:
                self._complete = True
            elif (found := place_of(each)) is not None:
                self.claims.observe(*found)
            self._stirred.set()

    def _turn(self) -> None:
        """Ends the stretch that is over, and begins the next one."""
        claims, begun = self.claims, self._begun
        if begun is not None and (begun.end or begun.failed or begun not in self.asked):
            claims.arrived() if begun.end == "arrived" and claims.granted else claims.stopped()
            self._begun = None
        self.asked = [each for each in self.asked if not (each.end or each.failed)]
        if self._begun is None and self.asked and self._complete:
            first, stands = self.asked[0], claims.stands()
            if stands and first.route[0] not in stands:
                first.failed = f"the stretch begins at `{first.route[0]}`, and the vehicle holds {_listed(stands)}"
                self._tell()
                return
            self._begun = first
            claims.want(first.route)

    async def _look(self) -> None:
        """Tells the stretch how it stands: granted, lost, blocked by whom, in a circle."""
        stretch, claims = self._begun, self.claims
        if stretch is None:
            return
        before = (stretch.granted, stretch.why, stretch.circle, stretch.failed)
        stretch.granted = claims.granted
        if lost := claims.lost():
            seen = claims.seen[lost]
            by = f"is with {seen.robot}" if seen.robot else f"was freed{seen.note and f': {seen.note}'}"
            stretch.failed = f"`{lost}` {by}"
        elif blocked := claims.blocked():
            stretch.why = ", ".join(f"`{place}` is with {robot}" for place, robot in blocked.items())
            stretch.circle = await self._circle()
            if stretch.circle:
                stretch.why = "deadlock: " + told(stretch.circle, claims.seen)
                if claims.robot == max(stretch.circle):
                    stretch.failed = stretch.why
        if before != (stretch.granted, stretch.why, stretch.circle, stretch.failed):
            self._tell()
        if stretch.failed:
            self._stirred.set()

    async def _circle(self) -> tuple[str, ...]:
        """Returns the circle in which this robot waits. What was seen is asked for again: claims with the same
        revisions in both looks stood together between them."""
        known = dict(self.claims.seen)
        found = circle(known, self.claims.robot)
        if found:
            with suppress(Exception):
                now = all_places(await buckets.snapshot(self.link, BUCKET, ASK))
                if all(now.get(place, FREE).revision == seen.revision
                       for place, seen in known.items() if seen.robot in found):  # fmt: skip
                    return found
        return ()

    async def _send(self, write: Write) -> None:
        claims = self.claims
        body = {"process": claims.process, "wants": list(write.wants)}
        key = buckets.own_key(PREFIX + write.place, claims.robot)
        try:
            data = b"" if write.gives_back else json.dumps(body).encode()
            revision = await buckets.write(self.link, BUCKET, key, write.base, data, ASK, gone=write.gives_back)
        except Exception as error:
            if not buckets.conflict(error):
                logging.getLogger(__name__).debug("claim on %s: %r", write.place, error)
                await asyncio.sleep(AGAIN)
            with suppress(Exception):
                found = all_places(await buckets.snapshot(self.link, BUCKET, ASK, f"{PREFIX}{write.place}.*"))
                for place, seen in found.items():
                    claims.observe(place, seen)
            if claims.seen.get(write.place, FREE).revision == write.base:
                await asyncio.sleep(AGAIN)  # nothing new was heard
            return
        claims.done(write, revision)

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()


class Driving(Wrapping):
    """A skill that starts when its stretch is granted. Success gives back all but the last place; any other end keeps
    every place, because the vehicle may stand anywhere in them."""

    wakes = False

    def __init__(self, places: Places, route: Iterable[str], action: Action, start: Start) -> None:
        self.places, self.action, self.start = places, action, start
        self.stretch = places.ask(route)
        self.inner = Pending()
        self.told = False
        self.ending = ""

    def poll(self) -> EndedAnswer | News | None:
        stretch = self.stretch
        if stretch.circle and not self.told:
            self.told = True
            self.action.context.emit(Line(self.action.sentence, "warning", stretch.why))
        if self.pending:
            if stretch.failed:
                return EndedAnswer(FAILURE, None, stretch.failed)
            if not stretch.granted:
                return News(None, stretch.why)
            self.begin(self.start())
        if stretch.failed and not self.ending:
            self.ending = f"the claims of the vehicle are not whole: {stretch.failed}"
            self.inner.cancel(self.ending)
        if self.ending:
            return EndedAnswer(FAILURE, None, self.ending) if self.inner.stopped() else None
        done = self.inner.poll()
        if isinstance(done, EndedAnswer):
            self.places.finish(stretch, "arrived" if done.status is SUCCESS else "stopped")
        return done

    def cancel(self, reason: str) -> None:
        self.places.finish(self.stretch, "stopped")
        if not self.ending:
            self.inner.cancel(reason)


async def freed(link: Link, place: str, revision: int, reason: str) -> None:
    """Ends a claim for a person, if it is still the one that the person has seen."""
    key, body = buckets.own_key(PREFIX + place, link.me), json.dumps({"note": reason[:500]}).encode()
    try:
        await buckets.write(link, BUCKET, key, revision, body, ASK, gone=True)
    except Exception as error:
        if not buckets.conflict(error):
            raise
        raise BtError(f"the claim on `{place}` has changed meanwhile", "look again: btr fleet places") from error


def place_of(each: Kept) -> tuple[str, Holding] | None:
    """Reads a message of the bucket; None when it is about no place. A claim that cannot be read is a claim."""
    key, _, writer = each.key.partition(".")
    if not key.startswith(PREFIX) or not writer:
        return None
    try:
        body = messages.read(forms.PLACED, each.value) if each.value else {}
    except messages.Malformed:
        body = {}
    seen = Holding("" if each.gone else writer, each.revision, body.get("process", ""), tuple(body.get("wants", ())))
    note = f"{writer}: {body['note']}" if each.gone and body.get("note") else ""
    return key.removeprefix(PREFIX), seen._replace(note=note)


def all_places(found: Iterable[Kept]) -> dict[str, Holding]:
    """Returns the last message about each place."""
    last: dict[str, Holding] = {}
    for each in found:
        read = place_of(each)
        if read is not None and read[1].revision > last.get(read[0], FREE).revision:
            last[read[0]] = read[1]
    return last


def told(robots: tuple[str, ...], seen: Mapping[str, Holding]) -> str:
    """Says who waits for whom: "r1 waits for `a` (r2), r2 for `b` (r1)"."""
    parts: list[str] = []
    for robot, after in zip(robots, (*robots[1:], robots[0]), strict=True):
        wants = max((each for each in seen.values() if each.robot == robot), key=lambda each: each.revision).wants
        place = next((each for each in wants if seen.get(each, FREE).robot == after), "")
        parts.append(f"{robot} waits for `{place}` ({after})" if not parts else f"{robot} for `{place}` ({after})")
    return ", ".join(parts)


def _listed(places: Iterable[str]) -> str:
    return ", ".join(f"`{place}`" for place in places)
