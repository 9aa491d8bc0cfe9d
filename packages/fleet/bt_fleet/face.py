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
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bt_fleet.server import forms, messages, names
from bt_fleet.server.buckets import snapshot
from bt_fleet.server.keys import Key
from bt_fleet.server.link import Address, Link, library
from bt_fleet.shared.traffic import places
from bt_fleet.shared.traffic.claims import Holding
from bt_fleet.store import record
from bt_fleet.store.record import DONE, Record
from bt_fleet.store.replica import restored
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task, new_id, placed
from bt_fleet.versions import bundle as bundles
from bt_fleet.versions import deployment
from bt_fleet.versions.bundle import Bundle, Terms
from bt_fleet.versions.deployment import Deployment
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
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
        ) as error:  # this key's account does not reach it
            raise BtError("this key may not do that, or no fleet is up", "another key: --creds FILE") from error
        except library().js.errors.APIError as error:
            raise BtError(f"the fleet's server refused it: {error.description}", "btr fleet up --store") from error

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> tuple[str, bool]:
        """Sends a task; returns its id, and False when a task of this id was there before. `more`: fields of Task."""
        task = Task(id or new_id(), placed(tree), dict(inputs or {}), sender=self.sender, **more)
        return task.id, self.call(self.store.add(task))

    def send_all(self, tasks: list[Task]) -> int:
        """Sends many tasks at once; returns how many were new."""

        async def each() -> int:
            added = 0
            for first in range(0, len(tasks), 256):
                added += sum(await asyncio.gather(*(self.store.add(task) for task in tasks[first : first + 256])))
            return added

        return self.call(each())

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
        held = self.show(task)
        if held.state == DONE:
            raise BtError(f"task {task} is done: {held.verdict}", "send a new one")
        by = self.sender or self.link.me
        after = self.call(
            self.store.change(task, lambda r: r.cancelled(self.store.wall(), by, reason) if r.state != DONE else None)
        )
        if after is not None and after.robot is not None:
            order = {"stop": "cancel", "task": task, "term": after.term, "reason": reason}
            self.call(self.store.order(after.robot, task, order))
        return after or held

    def settle(self, task: str, how: str, by: str) -> Record:
        """Decides a task that is in doubt: `again` gives it to any robot, otherwise the verdict."""
        held = self.show(task)
        if held.state == DONE:
            raise BtError(f"task {task} is done: {held.verdict}", "send a new one")
        if how == "again":
            after = self.call(self.store.change(task, lambda r: r.returned(self.store.wall(), f"settled by {by}")))
        else:
            report = {"what": "ended", "task": task, "term": held.term, "robot": held.robot, "verdict": how, "by": by,
                      "reason": f"settled by {by}"}  # fmt: skip
            first = self.call(self.store.verdict(report))
            after = self.call(self.store.change(task, lambda r: record.folded(r, first, self.store.wall())))
        return after or held

    def _set(self, key: str, value: Json) -> None:
        async def put() -> None:
            await (await self.link.bucket(names.SETTINGS)).put(key, json.dumps(value).encode())

        self.call(put())

    def halt(self, reason: str, robot: str | None = None) -> list[str]:
        """Halts one robot, or all; returns those that have answered within a second. The others halt when they are
        back, because the store keeps it."""
        return self.call(self._told(f"halt.{robot}" if robot else "halt", {"reason": reason}))

    def release(self, robot: str | None = None) -> list[str]:
        """Ends a halt: robots go on with what they were at."""
        return self.call(self._told(f"halt.{robot}" if robot else "halt", None))

    async def _told(self, key: str, value: Json) -> list[str]:
        """Keeps a halt or its release, which the server tells every robot; returns those that have taken it."""
        answered: set[str] = set()

        def heard(subject: str, body: Json) -> None:
            answered.add(messages.sender(subject))

        subject = names.news(names.halted("*"))
        subscription = await self.link.nc.subscribe(subject, cb=self.store.intake.each(forms.HALTED, heard))
        await (await self.link.bucket(names.SETTINGS)).put(key, json.dumps(value).encode())
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
        return self.call(self._deploy(name or Path(bundle.tree).stem, bundle, key, share, "deploys"))

    def back_to(self, tree: str, digest: str, key: Key) -> Deployment:
        """Signs an earlier version of a tree again, as the newest: all robots run it from the next task on."""

        async def put() -> Deployment:
            from nats.js.errors import NotFoundError

            try:
                entry = await (await self.link.bucket(names.TREES)).get(digest)
            except NotFoundError as error:
                raise BtError(f"the fleet has no version {digest}", "btr fleet versions") from error
            found, _ = bundles.opened(entry.value or b"", digest, None)
            return await self._deploy(tree, found, key, 1.0, "goes back to")

        return self.call(put())

    async def _deploy(self, tree: str, bundle: Bundle, key: Key, share: float, what: str) -> Deployment:
        settings, digest, now = await self.link.bucket(names.SETTINGS), bundle.digest, self.store.wall()
        before = (await self._deployments()).get(tree, Deployment(tree))
        if before.stable == digest and not before.candidate:
            raise BtError(f"all robots run this version of {tree}: {digest}", "see btr fleet versions")
        terms = Terms(tree, max(before.number + 1, int(now)), before.stable)
        await (await self.link.bucket(names.TREES)).put(digest, bundle.sealed(key, terms))
        change = {"candidate": digest} if share < 1 else {"stable": digest, "candidate": ""}
        who = self.sender or key.name
        note = f"{who} {what} {digest} {f'on {share:.0%} of the robots' if share < 1 else 'on all robots'}"
        after = replace(before.noted(note, now, **change), share=share, by=who, number=terms.number)
        await settings.put(f"deploy.{tree}", after.text())
        return after

    def deployments(self) -> dict[str, Deployment]:
        return self.call(self._deployments())

    async def _deployments(self) -> dict[str, Deployment]:
        kept = [each for each in await snapshot(self.link, names.SETTINGS) if each.key.startswith("deploy.")]
        read = [messages.read(forms.DEPLOYMENT, each.value) for each in kept if not each.gone]
        return {d.tree: d for d in map(deployment.of, read)}

    def drain(self, robot: str, on: bool = True) -> None:
        """A robot that drains takes no more tasks; what it has not begun goes to others."""
        self._set(f"drain.{robot}", on)

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
