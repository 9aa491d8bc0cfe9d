"""What the server keeps: records, verdicts, orders, reports, claims, journals. Each write is one acknowledged message,
and each decision is one compare-and-set: whoever comes second is told so."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bt_fleet.server import forms, messages, names
from bt_fleet.server.buckets import follow, made, snapshot, stream
from bt_fleet.server.forms import Form
from bt_fleet.server.link import Link, library
from bt_fleet.server.messages import Intake, Malformed
from bt_fleet.store import record
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext
    from nats.js.kv import KeyValue

MB = 1024 * 1024
JOURNALS, CLAIMED = 32 * MB, 8 * MB  # bytes of one robot
REPORTED = 256 * MB  # reports of all robots
COORDINATORS = "coordinators"  # the durable consumer that takes the reports
_BUCKETS = {names.TASKS: 1024 * MB, names.ROBOTS: 16 * MB, names.ENTRIES: 256 * MB, names.LOCKS: 32 * MB,
            names.SETTINGS: 32 * MB, names.TREES: 256 * MB}  # fmt: skip
_TRIES = 5  # times that a message may break whoever takes it, and that a coordinator is asked
_SOON = 0.25  # seconds between two such questions
_LOG = logging.getLogger(__name__)
_LAST = "Nats-Expected-Last-Subject-Sequence"
_ID = "Nats-Msg-Id"
_WRONG_LAST, _FULL = 10071, 10077  # the server's words for "another one was first"
DAY = 86400.0
FENCE = b'{"fence":true}'  # the last piece of a journal
FIRST, BEFORE, NO = "first", "before", "no"  # how a claim was decided


class Store:
    """The fleet's memory, through one link."""

    def __init__(self, link: Link, wall: Callable[[], float] = time.time) -> None:
        self.link, self.wall = link, wall
        self.intake = Intake()

    @property
    def js(self) -> JetStreamContext:
        return self.link.js

    async def prepare(self) -> None:
        """Makes all buckets and streams that are not there yet. May be called by many at once."""
        library()
        from nats.js import api

        for bucket, most in _BUCKETS.items():
            await made(self.js, bucket, most)
        new = {"discard": api.DiscardPolicy.NEW}
        memory = {"storage": api.StorageType.MEMORY}
        await self._stream(names.VERDICTS, ["fleet.verdict.*"], 512 * MB, deny_delete=True, deny_purge=True,
                           allow_direct=True, **_first_counts())  # fmt: skip
        # orders repeat what the records say, and are given again where one is missing: they need no disk
        await self._stream(names.ORDERS, ["fleet.order.*.*"], 256 * MB, max_age=30 * DAY, **memory)
        await self._stream(
            names.REPORTS,
            ["fleet.report.*.*"],
            REPORTED,
            max_age=30 * DAY,
            duplicate_window=600,
            max_msg_size=forms.REPORT.largest + 64 * forms.KB,
            **new,
        )
        told = [names.alive(), names.halted("*"), names.said("*", "*"), names.answer("*", "*")]
        again = api.RePublish(src="fleet.>", dest=f"{names.NEWS_OF}.>")
        await self._stream(names.NEWS, told, 64 * MB, no_ack=True, max_msgs_per_subject=1, max_age=60, republish=again,
                           **memory)  # fmt: skip

    async def _stream(self, name: str, subjects: list[str], most: int, **more: Any) -> None:
        """Makes a stream of at most so many bytes, where there is none."""
        from nats.js import api

        config = api.StreamConfig(
            name=name, subjects=subjects, max_bytes=most, **{"storage": api.StorageType.FILE, **more}
        )
        await stream(self.js, config)

    async def room(self, robot: str) -> None:
        """Makes the streams of a robot's journals and claims. One that writes too many journals loses the oldest of
        its own; one that claims too much can claim nothing more."""
        try:
            await self._stream(
                names.claims(robot),
                [names.claim(robot, "*")],
                CLAIMED,
                max_msgs=CLAIMED // 160,
                max_msg_size=forms.KB,
                max_age=30 * DAY,
                allow_direct=True,
                **_first_counts(),
            )
            await self._stream(names.copies(robot), [names.journal(robot)], JOURNALS, max_age=30 * DAY,
                               allow_direct=True)  # fmt: skip
        except library().js.errors.APIError as error:
            _LOG.warning("there is no room for journals and claims of %s: %s; btr fleet up --store", robot, error)

    async def _bucket(self) -> KeyValue:
        return await self.link.bucket(names.TASKS)

    async def add(self, task: Task) -> bool:
        """Stores a task; False when its id is known already, which changes nothing."""
        from nats.js.errors import KeyWrongLastSequenceError

        now = self.wall()
        messages.read(forms.TASK, _text(task.plain()))  # else nobody could read it
        try:
            sent = Record(task, since=now, sent=now, history=(f"{now:.3f} {task.sender or names.SOMEBODY} sent it",))
            await (await self._bucket()).create(task.id, sent.text())
        except KeyWrongLastSequenceError:
            return False
        return True

    async def wish(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Asks a coordinator for something, under this key's name; returns what came of it. BtError when it will not.
        One that dies with the wish has not answered, so that it is asked again: twice changes nothing more."""
        nats = library()
        for left in range(_TRIES, 0, -1):
            try:
                answer = await self.link.nc.request(names.wish(what, self.link.me), _text(body), timeout=3)
                break
            except (TimeoutError, nats.errors.NoRespondersError) as error:
                if left > 1:
                    await asyncio.sleep(_SOON)
                elif self.link.refused or not isinstance(error, TimeoutError):
                    raise
                else:
                    raise BtError("no coordinator of the fleet answers", "start one: btr fleet up") from error
        done: dict[str, Any] = messages.read(forms.DONE, answer.data)
        if "error" in done:
            raise BtError(done["error"], done.get("hint") or "")
        return done

    async def get(self, task: str) -> tuple[Record, int] | None:
        """Returns a record with its revision; None when there is no such task."""
        from nats.js.errors import NotFoundError

        try:
            entry = await (await self._bucket()).get(task)
        except NotFoundError:
            return None
        held = self._known(task, entry.value)
        return (held, entry.revision or 0) if held is not None else None

    async def change(self, task: str, how: Callable[[Record], Record | None]) -> Record | None:
        """Changes a record by compare-and-set, again when another one was first; None when `how` changes nothing."""
        from nats.js.errors import KeyWrongLastSequenceError

        while (found := await self.get(task)) is not None:
            before, revision = found
            after = how(before)
            if after is None or after is before:
                return None
            if before.state == record.DONE:
                raise BtError(f"task {task} is done: {before.verdict}", "send a new one")
            try:
                await (await self._bucket()).update(task, after.text(), revision)
            except KeyWrongLastSequenceError:
                continue
            return after
        return None

    async def replace(self, after: Record, revision: int) -> int | None:
        """Writes a record over the revision that was read; None when another one was first."""
        from nats.js.errors import KeyWrongLastSequenceError

        try:
            return int(await (await self._bucket()).update(after.task.id, after.text(), revision))
        except KeyWrongLastSequenceError:
            return None

    async def watch(self) -> AsyncIterator[tuple[Record, int] | None]:
        """Yields every record and then each change of one; None once after those that were there. For coordinators:
        others use `follow`."""
        watcher = await (await self._bucket()).watchall(include_history=False)
        try:
            async for entry in watcher:
                if entry is None:
                    yield None
                elif (held := self._known(entry.key, entry.value)) is not None:
                    yield held, entry.revision or 0
        finally:
            await watcher.stop()

    def _known(self, task: str, value: bytes | None) -> Record | None:
        """Reads a record that stands in the bucket; None for what is none, or is another task's."""
        try:
            held = record.of(value or b"")
        except BtError as error:
            self.intake.refuse(names.kept(names.TASKS, task), error.message)
            return None
        return held if held.task.id == task else None

    async def follow(self, task: str = ">") -> AsyncIterator[Record | None]:
        """Yields records and their changes as `watch`, without a consumer, which not everybody may make."""
        async for each in follow(self.link, names.TASKS, task):
            if each is None:
                yield None
            elif not each.gone and (held := self._known(each.key, each.value)) is not None:
                yield held

    async def records(self) -> list[Record]:
        found = (self._known(each.key, each.value) for each in await snapshot(self.link, names.TASKS) if not each.gone)
        return [each for each in found if each is not None]

    async def first(self, subject: str, body: Mapping[str, Any]) -> bool:
        """Publishes the one message that a subject ever has; False when another one was first."""
        from nats.js.errors import APIError

        try:
            await self.js.publish(subject, _text(body), headers={_LAST: "0"})
        except APIError as error:
            if error.err_code in (_WRONG_LAST, _FULL):
                return False
            raise
        return True

    async def only(self, stream: str, subject: str, form: Form) -> dict[str, Any] | None:
        """Returns the message that `first` wrote; None when there is none, or it does not fit its form."""
        from nats.js.errors import NotFoundError

        try:
            message = await self.js.get_last_msg(stream, subject, direct=True)
            return messages.read(form, message.data or b"")  # type: ignore[no-any-return]
        except NotFoundError:
            return None
        except Malformed as error:
            self.intake.refuse(subject, error.message)
            return None

    async def verdict(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Writes a task's verdict, or returns the one that was there first."""
        subject = names.verdict(report["task"])
        if await self.first(subject, report):
            return dict(report)
        found = await self.only(names.VERDICTS, subject, forms.VERDICT)
        return {"what": "ended", "robot": None, **found, "task": report["task"]} if found else dict(report)

    async def claim(self, robot: str, task: str, term: int, who: str) -> str:
        """FIRST when `who` decides this term now: the robot itself, or "" for a coordinator that revokes it. BEFORE
        when the same one has decided it earlier, NO when the other one has."""
        subject = names.claim(robot, task, term)
        try:
            if await self.first(subject, {"by": who}):
                return FIRST
        except library().js.errors.NoStreamResponseError:
            if who:
                raise
            await self.room(robot)  # there was none for its claims: nobody knows what it has begun
            return NO
        held = await self.only(names.claims(robot), subject, forms.CLAIM)
        return BEFORE if held is not None and held["by"] == who else NO

    async def each(self, stream: str, consumer: str) -> AsyncIterator[Msg]:
        """Yields the messages of a durable consumer, for ever. Who takes one acknowledges it when it is dealt with."""
        source = await self.js.pull_subscribe_bind(stream=stream, consumer=consumer)
        try:
            while not self.link.closing:
                with suppress(TimeoutError):
                    for message in await source.fetch(64, timeout=30):
                        yield message
        finally:
            await source.unsubscribe()

    async def each_taken(self, stream: str, consumer: str, take: Callable[[Msg], Awaitable[None]]) -> None:
        """Gives each message to `take`, and acknowledges it then. One that breaks its taker comes again a few times,
        then no more: it must not end every process that is started after this one."""
        async for message in self.each(stream, consumer):
            try:
                await take(message)
            except (TimeoutError, library().errors.Error):
                raise
            except Exception as error:
                if message.metadata.num_delivered < _TRIES:
                    raise
                _LOG.exception("%s is given up", message.subject)
                self.intake.refuse(message.subject, f"it broke its reader {_TRIES} times: {error!r:.100}")
            await message.ack()

    async def make_room(self) -> None:
        """Removes the reports that were taken, once half of their stream is full: a robot that reports too much does
        not keep out the others."""
        if (await self.js.stream_info(names.REPORTS)).state.bytes > REPORTED // 2:
            taken = (await self.js.consumer_info(names.REPORTS, COORDINATORS)).ack_floor
            await self.js.purge_stream(names.REPORTS, seq=(taken.stream_seq if taken else 0) + 1)

    async def ordering(self, name: str) -> None:
        """Makes the durable consumer from which a robot takes its orders."""
        from nats.js import api

        config = api.ConsumerConfig(
            durable_name=names.consumer(name), filter_subject=names.order(name), ack_policy=api.AckPolicy.EXPLICIT,
            deliver_policy=api.DeliverPolicy.ALL, ack_wait=10, max_ack_pending=2000)  # fmt: skip
        try:
            await self.js.add_consumer(names.ORDERS, config)
        except library().js.errors.NotFoundError:  # the server was started anew, and orders are not on its disk
            await self.prepare()
            await self.js.add_consumer(names.ORDERS, config)
        await self.room(name)

    async def order(self, robot: str, task: str, body: Mapping[str, Any]) -> None:
        await self.js.publish(names.order(robot, task), _text(body))

    async def journal(self, robot: str, task: str, term: int | str) -> list[bytes]:
        """Returns what has reached the store of a run's journal."""
        return (await self.journal_after(robot, task, term, 0))[1]

    async def journal_after(self, robot: str, task: str, term: int | str, last: int) -> tuple[int, list[bytes]]:
        """Returns the pieces of a journal after this one, with the number of the last of them."""
        pieces: list[bytes] = []
        while (found := await self.piece(robot, task, term, last)) is not None:
            last = found[0]
            pieces.append(found[1])
        return last, pieces

    async def piece(self, robot: str, task: str, term: int | str, last: int) -> tuple[int, bytes] | None:
        """Returns the piece of a journal after this one, with its number; None for none."""
        from nats.errors import NoRespondersError
        from nats.js.errors import NotFoundError, ServiceUnavailableError

        subject = names.journal(robot, task, term)
        try:
            found = await self.js.get_msg(names.copies(robot), last + 1, subject, direct=True, next=True)
        except (NotFoundError, NoRespondersError, ServiceUnavailableError):  # the robot has never joined
            return None
        return found.seq or 0, found.data or b""

    async def handed_over(self, robot: str, task: str) -> list[bytes]:
        """Returns the journal of the run that a robot goes on with, from a coordinator, who knows which one that is."""
        pieces: list[bytes] = []
        last = 0
        while True:
            answer = await self.link.nc.request(names.fetch(robot, task), str(last).encode(), timeout=3)
            number = (answer.headers or {}).get("Number", "")
            if not number.isdecimal():
                return pieces
            last = int(number)
            pieces.append(answer.data)

    async def append(self, subject: str, piece: bytes, last: int) -> int | None:
        """Adds a piece to a journal; returns its number. None when `last` is not the last one any more."""
        from nats.js.errors import APIError

        try:
            ack = await self.js.publish(subject, piece, headers={_LAST: str(last)})
        except APIError as error:
            if error.err_code == _WRONG_LAST:
                return None
            raise
        return int(ack.seq)

    async def end_of_journal(self, robot: str, subject: str) -> tuple[int, bool]:
        """Returns the number of a journal's last piece, 0 for none; and whether it is a fence."""
        from nats.js.errors import NotFoundError

        try:
            found = await self.js.get_last_msg(names.copies(robot), subject, direct=True)
        except NotFoundError:
            return 0, False
        return found.seq or 0, found.data == FENCE

    async def fence(self, robot: str, task: str, term: int) -> None:
        """Closes the journal of a robot's term: what the robot has not written there by now, it may not begin."""
        with suppress(library().js.errors.NoStreamResponseError):  # no room was made for it: it began nothing
            await self.js.publish(names.journal(robot, task, term), FENCE)

    async def report(self, robot: str, body: Mapping[str, Any]) -> None:
        """Publishes a robot's report. The server drops a repetition within ten minutes by its `id`, which nobody else
        can guess."""
        number = {_ID: str(body["id"])} if "id" in body else {}
        await self.js.publish(names.report(robot, body["task"]), _text(body), headers=number)


def _first_counts() -> dict[str, Any]:
    """Returns the limits of a stream whose subjects have one message each, which nothing replaces."""
    from nats.js import api

    return {"max_msgs_per_subject": 1, "discard": api.DiscardPolicy.NEW, "discard_new_per_subject": True}


def _text(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
