"""The entries that all robots of a fleet share, as this robot last heard of them: a NATS key-value bucket.

A read takes what is here, at once. A write is sent in the background as a compare-and-set on the revision that this
robot knew: when another robot was first, that robot's value stands, and the listeners are told."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from bt_fleet.server import forms, messages, names
from bt_fleet.server.buckets import Kept, conflict, kept, latest, own_key, snapshot, write
from bt_fleet.server.link import heard
from bt_fleet.server.messages import Malformed
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_fleet.server.link import Link

BUCKET = names.ENTRIES
BEAT = 5.0  # seconds between two looks whether what is here is all that there is
ASK = 2.0  # seconds that one request may take
AGAIN = 0.2  # seconds before what could not be sent is sent again


class SharedEntry(NamedTuple):
    """An entry as the fleet has it."""

    value: Json
    revision: int
    by: str  # the robot that wrote it
    id: str = ""  # id of the write


class RefusedWrite(NamedTuple):
    """A write that lost: another robot's value was there before."""

    name: str
    value: Json
    known: SharedEntry | None


class _Pending(NamedTuple):
    value: Json
    base: int  # the revision that the writer knew; 0: none
    id: str
    gone: bool = False  # True: the entry is removed


Listener = Callable[[str, SharedEntry | None], None]


class Board:
    """One robot's view of the shared entries. Its coroutines run on the link's loop; its reads may be anywhere."""

    def __init__(self, link: Link, robot: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.link, self.robot, self.clock = link, robot, clock
        self.known: dict[str, SharedEntry] = {}
        self.heard = -math.inf  # moment at which the copy was last known to be complete
        self.beat = BEAT
        self.listeners: list[Listener] = []
        self.refusals: list[Callable[[RefusedWrite], None]] = []
        self._pending: dict[str, _Pending] = {}
        self._lock = threading.Lock()  # a write of another thread, and the end of one on the loop
        self._seen = 0  # the last revision that arrived
        self._told: Any = None  # the subscription to changes
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beaten = asyncio.Event()
        self._anew = False  # after a reconnect: the server may have forgotten the watch

    # For anybody, at once ----------------------------------------------------------------------

    def age(self) -> float:
        """Returns the seconds since this robot last knew that its values are the fleet's."""
        return self.clock() - self.heard

    def writes(self, name: str) -> bool:
        """True while a write of this robot is not confirmed."""
        return name in self._pending

    def write(self, name: str, value: Json, gone: bool = False) -> None:
        """Sends a value in the background. Callable from any thread; never waits."""
        with self._lock:
            before = self._pending.get(name)
            known = self.known.get(name)
            base = before.base if before is not None else known.revision if known is not None else 0
            self._pending[name] = _Pending(value, base, uuid4().hex, gone)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._send, name)

    # On the loop -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Opens the bucket and waits for all that is in it."""
        self.link.listeners.append(self._linked)
        self._loop = asyncio.get_running_loop()
        await self._look()
        self._begin(self._beats())
        for name in list(self._pending):
            self._send(name)

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._told is not None and self.link.up.is_set():
            with suppress(Exception):
                await self._told.unsubscribe()

    def nudge(self) -> None:
        """Looks now whether everything has arrived, as when the beat has changed. Callable from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._beaten.set)

    def _linked(self, up: bool) -> None:
        self._anew = self._anew or up
        self.nudge()

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _beats(self) -> None:
        behind = 0
        while True:
            await heard(self._beaten, self.beat)
            try:
                if self._anew or behind > 2:
                    self._anew, behind = False, 0
                    await self._look()
                now = self.clock()
                behind = behind + 1 if await self._last() > self._seen else 0
                self.heard = now if behind == 0 else self.heard
            except Exception:  # the server cannot be reached: the values grow older until it can
                self._anew = True
                await asyncio.sleep(AGAIN)
                self._beaten.set()

    async def _last(self) -> int:
        """Returns the last revision of the bucket."""
        info = await asyncio.wait_for(self.link.js.stream_info(f"KV_{BUCKET}"), ASK)
        return int(info.state.last_seq)

    async def _look(self) -> None:
        """Takes all that the bucket has, and listens to its changes."""
        if self._told is None:
            self._told = await self.link.nc.subscribe(f"{names.CHANGED}.{BUCKET}.>", cb=self._changed)
        now, last = self.clock(), await self._last()
        found = latest(await snapshot(self.link, BUCKET, ASK))
        for name in [n for n in self.known if n not in found]:
            self._take(name, None)
        for name, each in found.items():
            self._take(name, _known(each))
        self._seen = max(self._seen, last)
        self.heard = now

    async def _changed(self, message: Any) -> None:
        each = kept(BUCKET, message)
        self._seen = max(self._seen, each.revision)
        for name, last in latest([each]).items():
            if each.gone and self.known.get(name, last).revision > each.revision:
                continue  # a writer has taken its own older value back
            self._take(name, _known(last))

    def _take(self, name: str, known: SharedEntry | None) -> None:
        before = self.known.get(name)
        if known is None:
            self.known.pop(name, None)
        elif before is None or known.revision > before.revision:
            self.known[name] = known
        else:
            return
        self._seen = max(self._seen, known.revision if known is not None else 0)
        if name not in self._pending:
            self._tell(name)

    def _tell(self, name: str) -> None:
        for listener in tuple(self.listeners):
            listener(name, self.known.get(name))

    def _send(self, name: str) -> None:
        if name in self._pending and name not in self._writing:
            self._writing.add(name)
            self._begin(self._write(name))

    async def _write(self, name: str) -> None:
        """Sends the latest value of an entry until the server has answered."""
        try:
            while (pending := self._pending.get(name)) is not None:
                try:
                    revision = await self._put(name, pending)
                except Exception as error:
                    if not conflict(error):
                        await asyncio.sleep(AGAIN)
                        continue
                    await self._lost(name, pending)
                    continue
                self._done(name, pending, revision)
        finally:
            self._writing.discard(name)

    async def _put(self, name: str, pending: _Pending) -> int:
        body = b"" if pending.gone else json.dumps({"value": pending.value, "id": pending.id}).encode()
        key = own_key(name, self.robot)
        return await write(self.link, BUCKET, key, pending.base, body, ASK, gone=pending.gone, id=pending.id)

    def _done(self, name: str, pending: _Pending, revision: int) -> None:
        known = None if pending.gone else SharedEntry(pending.value, revision, self.robot, pending.id)
        with self._lock:
            newest = self._pending[name]
            if newest is pending:
                del self._pending[name]
            else:  # written again meanwhile: the next one begins where this one ended
                self._pending[name] = newest._replace(base=revision)
            before = self.known.get(name)
            overtaken = before is not None and before.revision > revision
            if known is not None and not overtaken:
                self.known[name] = known
        if overtaken:
            self._tell(name)  # another robot's, later than ours

    async def _lost(self, name: str, pending: _Pending) -> None:
        """Takes the value that stands in the place of ours."""
        try:
            found = latest(await snapshot(self.link, BUCKET, ASK, own_key(name, "*"))).get(name)
            standing = _known(found) if found is not None else None
        except TimeoutError:
            return  # asked again: the write is still to be confirmed
        if standing is not None and standing.id == pending.id:  # ours: the answer was lost, not the write
            self._done(name, pending, standing.revision)
            return
        refused = RefusedWrite(name, self._pending.pop(name).value, standing)
        if standing is not None:
            self.known[name] = standing
        for each in tuple(self.refusals):
            each(refused)
        self._tell(name)


def _known(each: Kept) -> SharedEntry | None:
    if each.gone:
        return None
    by = each.key.rpartition(".")[2]
    try:
        body = messages.read(forms.ENTRY, each.value)
        return SharedEntry(body["value"], each.revision, by, body.get("id", ""))
    except Malformed:  # written by a stranger, as `nats kv put` does
        return SharedEntry(each.value[: forms.KB].decode("utf-8", "replace"), each.revision, by)
