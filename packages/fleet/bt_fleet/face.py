"""The fleet for programs and for the command line: send tasks, look at them, cancel, halt, drain.

with Fleet() as fleet:
    fleet.send("patrol", inputs={"room": "kitchen"}, id="p1")
    print(fleet.wait("p1").verdict)
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bt_fleet.server import forms, messages, names
from bt_fleet.server.buckets import snapshot
from bt_fleet.server.keys import Key
from bt_fleet.server.link import Address, Link, library
from bt_fleet.shared.traffic import places
from bt_fleet.shared.traffic.claims import Holding
from bt_fleet.store import record, settings
from bt_fleet.store.record import DONE, Record
from bt_fleet.store.replica import restored
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task, new_id, placed
from bt_fleet.versions import bundle as bundles
from bt_fleet.versions import deployment
from bt_fleet.versions.bundle import Bundle, Terms
from bt_fleet.versions.deployment import Deployment
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.types import Json

T = TypeVar("T")
SOON = 1.0  # seconds in which every robot that can be reached must have halted


class Fleet(Closing):
    """One connection to a fleet. Its loop runs in a thread of its own; every method may be called from any thread."""

    def __init__(self, address: Address | str | None = None, sender: str = "") -> None:
        self.address = Address(address) if isinstance(address, str) else address or Address()
        self.sender = sender
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fleet", daemon=True)

    def open(self, seconds: float = 5.0) -> Fleet:
        if self._thread.is_alive():
            return self
        self._thread.start()
        try:
            self.call(self._open(seconds))
        except BaseException:
            self._end()
            raise
        return self

    async def _open(self, seconds: float) -> None:
        self.link = await Link(self.address, "operator").opened(seconds)
        self.store = Store(self.link)

    def close(self) -> None:
        self.call(self.link.close())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Fleet:
        return self.open()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the connection's loop, and waits for it."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except TimeoutError as error:
            refused = getattr(getattr(self, "link", None), "refused", "")
            if not refused:
                raise
            raise BtError(f"the fleet's server refused it: {refused}", "ask for another key: --creds FILE") from error
        except (
            library().errors.NoRespondersError,
            library().js.errors.NoStreamResponseError,
        ) as error:  # this key's account may not ask it
            raise BtError("this key may not do that, or no fleet is up", "another key: --creds FILE") from error
        except library().js.errors.APIError as error:
            raise BtError(f"the fleet's server refused it: {error.description}", "btr fleet up --store") from error

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> tuple[str, bool]:
        """Sends a task; returns its id, and False when a task of this id was there before. `more`: fields of Task."""
        task = Task(id or new_id(), placed(tree), dict(inputs or {}), **more)
        return task.id, self.call(self._send(task))

    async def _send(self, task: Task) -> bool:
        return bool((await self.store.wish("send", self._by({"task": task.plain()})))["new"])

    def _by(self, body: dict[str, Json], by: str = "") -> dict[str, Json]:
        """Adds how the person is called, where no key says it, or where somebody uses this key's program."""
        return {**body, "by": by or (self.sender if self.link.me == names.SOMEBODY else "")}

    def ls(self) -> list[Record]:
        """Returns all records, the oldest first."""
        return sorted(self.call(self.store.records()), key=lambda held: held.sent)

    def show(self, task: str) -> Record:
        found = self.call(self.store.get(names.named(task, "a task")))
        if found is None:
            raise BtError(f"the fleet knows no task {task}", "btr fleet ls")
        return found[0]

    def wait(
        self, task: str, seconds: float | None = None, told: Callable[[Record], None] = lambda held: None
    ) -> Record:  # fmt: skip
        """Returns the record once the task is done; TimeoutError after `seconds`. `told` gets each state before."""

        async def done() -> Record:
            async for held in self.store.follow(task):
                if held is not None and held.state == DONE:
                    return held
                if held is not None:
                    told(held)
            raise BtError("the connection to the fleet was closed", "make a new Fleet")

        async def bounded() -> Record:
            return await asyncio.wait_for(done(), seconds)

        self.show(task)
        return self.call(bounded())

    def journal(self, task: str, path: Path) -> Path:
        """Writes what has reached the store of a task's latest run to a file that `btr runs show` reads."""
        held = self.show(task)
        for robot, _, term in (each.rpartition(".") for each in reversed(held.had)):
            if pieces := self.call(self.store.journal(robot, task, term)):
                return restored(pieces, path)
        raise BtError(f"of task {task} no journal has reached the store", "its robot hands it in when it has a network")

    def cancel(self, task: str, reason: str = "") -> Record:
        """Wants a task to end: at once where nobody has begun it, else by its robot, which stops the run."""
        self.call(self.store.wish("cancel", self._by({"task": names.named(task, "a task"), "reason": reason})))
        return self.show(task)

    def settle(self, task: str, how: str) -> Record:
        """Decides a task that is in doubt: `again` gives it to any robot, otherwise the verdict."""
        self.call(self.store.wish("settle", self._by({"task": names.named(task, "a task"), "how": how})))
        return self.show(task)

    def halt(self, reason: str = "", robot: str | None = None, by: str = "") -> list[str]:
        """Halts one robot, or all; returns those that have answered within a second. The others halt when they are
        back, because the store keeps it. `by`: how the person at this key's program is called."""
        return self.call(self._told(robot, self._by({"on": True, "reason": reason}, by)))

    def release(self, robot: str | None = None, reason: str = "", by: str = "") -> list[str]:
        """Ends a halt: robots go on with what they were at."""
        return self.call(self._told(robot, self._by({"on": False, "reason": reason}, by)))

    async def _switch(self, key: str, value: Json) -> None:
        await (await self.link.bucket(names.SETTINGS)).put(key, json.dumps(value).encode())

    async def _told(self, robot: str | None, value: Json) -> list[str]:
        """Keeps a halt or its release, which the server tells every robot; returns those that have taken it."""
        answered: set[str] = set()

        def heard(subject: str, body: Json) -> None:
            answered.add(messages.sender(subject))

        subject = names.news(names.halted("*"))
        subscription = await self.link.nc.subscribe(subject, cb=self.store.intake.each(forms.HALTED, heard))
        await self._switch(names.halt(robot or names.EVERY, self.link.me), value)
        await asyncio.sleep(SOON)
        await subscription.unsubscribe()
        return sorted(answered)

    def places(self) -> dict[str, Holding]:
        """Returns the last message about each place of the map: who holds it, and what its holder waits for."""
        return places.all_places(self.call(snapshot(self.link, places.BUCKET)))

    def free(self, place: str, reason: str) -> str:
        """Ends a robot's claim on a place, under the name that this connection's key has; returns that robot. Call it
        only where a person sees that no vehicle is there."""
        found = self.places().get(place)
        if found is None or not found.robot:
            raise BtError(f"no robot holds the place `{place}`", "btr fleet places")
        self.call(places.freed(self.link, place, found.revision, reason))
        return found.robot

    def answer(self, robot: str, body: Mapping[str, Json]) -> None:
        """Answers a question of a robot's run, under the name that this connection's key has."""
        subject = names.answer(robot, self.link.me)
        self.call(self.link.nc.publish(subject, json.dumps(body).encode()))

    def deploy(self, bundle: Bundle, key: Key, share: float = 1.0, name: str = "") -> Deployment:
        """Stores a signed version of a tree; this share of the robots tries it, or all run it from the next task on."""
        return self.call(self._deploy(name or Path(bundle.tree).stem, bundle, key, share))

    def back_to(self, tree: str, digest: str, key: Key) -> Deployment:
        """Signs an earlier version of a tree again, as the newest: all robots run it from the next task on."""

        async def put() -> Deployment:
            from nats.js.errors import NotFoundError

            try:
                entry = await (await self.link.bucket(names.TREES)).get(digest)
            except NotFoundError as error:
                raise BtError(f"the fleet has no version {digest}", "btr fleet versions") from error
            found, _ = bundles.opened(entry.value or b"", digest, None)
            return await self._deploy(tree, found, key, 1.0, back=True)

        return self.call(put())

    async def _deploy(self, tree: str, bundle: Bundle, key: Key, share: float, back: bool = False) -> Deployment:
        digest, now = bundle.digest, self.store.wall()
        before = (await self._deployments()).get(tree, Deployment(tree))
        if before.stable == digest and not before.candidate:
            raise BtError(f"all robots run this version of {tree}: {digest}", "see btr fleet versions")
        terms = Terms(tree, max(before.number + 1, int(now)), before.stable)
        await (await self.link.bucket(names.TREES)).put(digest, bundle.sealed(key, terms))
        wish: dict[str, Json] = {"tree": tree, "digest": digest, "share": share, "back": back}
        await self.store.wish("deploy", self._by(wish))
        return (await self._deployments())[tree]

    def deployments(self) -> dict[str, Deployment]:
        return self.call(self._deployments())

    async def _deployments(self) -> dict[str, Deployment]:
        kept = [each for each in await snapshot(self.link, names.SETTINGS) if each.key.startswith("deploy.")]
        read = [messages.read(forms.DEPLOYMENT, each.value) for each in kept if not each.gone]
        return {d.tree: d for d in map(deployment.of, read)}

    def acts(self) -> list[tuple[float, str, str]]:
        """Returns what persons did, the oldest first: when, who, and what. Of a setting the latest words are kept, of
        a task the latest changes."""
        found: list[tuple[float, str, str]] = []
        for each in self.call(snapshot(self.link, names.SETTINGS)):
            if not each.key.startswith("deploy."):
                found += settings.act(each)
        found += [act for each in self.deployments().values() for act in deployment.acts(each)]
        return sorted(found + [act for held in self.ls() for act in record.acts(held)])

    def drain(self, robot: str, on: bool = True) -> None:
        """A robot that drains takes no more tasks; what it has not begun goes to others."""
        joined = self.robots()
        if robot not in joined:
            hint = did_you_mean(robot, joined, "btr fleet ls --robots lists them")
            raise BtError(f"no robot `{robot}` has joined", hint)
        self.call(self._switch(names.drain(robot, self.link.me), self._by({"on": on})))

    def robots(self) -> dict[str, dict[str, Any]]:
        """Returns what every robot that ever joined says of itself."""

        found = self.call(snapshot(self.link, names.ROBOTS))
        return {each.key: messages.read(forms.CARD, each.value) for each in found if not each.gone}


def each_change(fleet: Fleet, listener: Callable[[Record], None]) -> Callable[[], None]:
    """Calls `listener` in the fleet's thread with every record and each change of one; returns what ends that."""

    async def follow() -> None:
        async for held in fleet.store.follow():
            if held is not None:
                listener(held)

    future = asyncio.run_coroutine_threadsafe(follow(), fleet._loop)

    def end() -> None:
        future.cancel()

    return end
