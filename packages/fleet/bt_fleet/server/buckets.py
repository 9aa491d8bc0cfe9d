"""The fleet's buckets, as they are made and read at once: without a consumer, which not everybody may make."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_fleet.server import names
from bt_fleet.server.link import Link, library

if TYPE_CHECKING:
    from nats.js import JetStreamContext
    from nats.js.api import StreamConfig
    from nats.js.kv import KeyValue

MB = 1024 * 1024
_LOG = logging.getLogger(__name__)
_WORDS = 50  # messages of one setting that are kept, to tell who said them
_PAGE = 500  # messages of one answer
_LOOK = 10.0  # seconds between two looks whether a change was not told
_GONE = ("KV-Operation", "Nats-Marker-Reason")


class Kept(NamedTuple):
    """The last message of a key. `gone`: it was deleted, or its time is over."""

    key: str
    value: bytes
    revision: int
    gone: bool
    at: str = ""  # moment of the write, by the server's clock


def own_key(name: str, writer: str) -> str:
    """The key below which a writer keeps its value of a name: of all writers' values the latest one holds."""
    return f"{name}.{writer}"


def compared(bucket: str, name: str, base: int) -> dict[str, str]:
    """Returns the headers of a write that is refused unless this is the last revision of any writer; 0: there is
    none."""
    return {"Nats-Expected-Last-Subject-Sequence": str(base),
            "Nats-Expected-Last-Subject-Sequence-Subject": names.kept(bucket, own_key(name, "*"))}  # fmt: skip


async def write(
    link: Link, bucket: str, key: str, base: int, body: bytes, seconds: float, ends: float | None = None,
    gone: bool = False, id: str = "",
) -> int:  # fmt: skip
    """Writes a key `NAME.WRITER` if `base` is the last revision of the name by any writer; returns the new revision.
    `gone`: takes the value back. `ends`: the seconds after which the server forgets the message."""
    headers = compared(bucket, key.rpartition(".")[0], base)
    headers |= {"KV-Operation": "DEL"} if gone else {}
    headers |= {"Nats-Msg-Id": id} if id else {}
    subject = names.kept(bucket, key)
    ack = await link.js.publish(subject, body, timeout=seconds, headers=headers, msg_ttl=ends)
    return int(ack.seq)


def conflict(error: Exception) -> bool:
    """True when the server says that another revision is there."""
    from nats.js.errors import KeyWrongLastSequenceError

    return isinstance(error, KeyWrongLastSequenceError) or getattr(error, "err_code", None) == 10071


def latest(found: Iterable[Kept]) -> dict[str, Kept]:
    """Returns the latest value of each name, by any writer. Keys without a writer are those of an earlier version."""
    last: dict[str, Kept] = {}
    for each in found:
        name, dot, writer = each.key.partition(".")
        if dot and "." not in writer and (name not in last or last[name].revision < each.revision):
            last[name] = each
    return last


async def made(js: JetStreamContext, name: str, most: int = 64 * MB) -> KeyValue:
    """Opens a bucket; makes it where there is none. Changes of entries are also told on a plain subject. Nobody can
    delete what is kept: a writer only replaces the last message of a key. Of settings earlier ones are kept too."""
    from nats.js import api

    told = api.RePublish(src=names.kept(name), dest=names.changed(name))
    config = api.StreamConfig(
        name=f"KV_{name}", subjects=[names.kept(name)], max_bytes=most,
        max_msgs_per_subject=_WORDS if name == names.SETTINGS else 1, deny_delete=True,
        allow_rollup_hdrs=False, discard=api.DiscardPolicy.NEW, allow_direct=True, republish=told,
        storage=api.StorageType.FILE, allow_msg_ttl=name == names.LOCKS)  # fmt: skip
    await stream(js, config)
    return await js.key_value(name)


async def stream(js: JetStreamContext, config: StreamConfig) -> None:
    """Makes a stream, or brings one that an earlier version has made to these limits."""
    from nats.js.errors import BadRequestError

    try:
        await js.add_stream(config)
    except BadRequestError:
        try:
            await js.update_stream(config)
        except BadRequestError as error:
            _LOG.warning("%s stays as it was made: %s", config.name, error.description)


async def snapshot(link: Link, name: str, seconds: float = 5.0, key: str = ">") -> list[Kept]:
    """Returns the last message of every key of a bucket; raises TimeoutError when the server does not answer."""
    found: list[Kept] = []
    after = 0
    while True:
        page = await _page(link, name, seconds, key, after)
        found += page
        if len(page) < _PAGE:
            return found
        after = page[-1].revision


async def _page(link: Link, name: str, seconds: float, key: str, after: int) -> list[Kept]:
    """Returns the first messages of a bucket after this one; each key has one message only."""
    found: list[Kept] = []
    done = asyncio.get_running_loop().create_future()

    async def take(message: Any) -> None:
        if (message.headers or {}).get("Status") is None:
            found.append(kept(name, message))
        elif not done.done():  # 204: that was all; 404: there is none
            done.set_result(None)

    inbox = link.nc.new_inbox()
    subscription = await link.nc.subscribe(inbox, cb=take)
    try:
        asked = json.dumps({"seq": after + 1, "next_by_subj": names.kept(name, key), "batch": _PAGE})
        await link.nc.publish(f"{link.api}.DIRECT.GET.KV_{name}", asked.encode(), reply=inbox)
        await asyncio.wait_for(done, seconds)
    finally:
        await subscription.unsubscribe()
    return found


def kept(name: str, message: Any) -> Kept:
    """Reads a message of a bucket that was asked for, or told of a change. Only the server writes there."""
    headers = message.headers or {}
    key = headers["Nats-Subject"].removeprefix(f"$KV.{name}.")
    gone = any(each in headers for each in _GONE)
    return Kept(key, message.data, int(headers["Nats-Sequence"]), gone, headers.get("Nats-Time-Stamp", ""))


async def follow(link: Link, name: str, key: str = ">") -> AsyncIterator[Kept | None]:
    """Yields the last message of every key, then None once, then each change, for ever. A change that was not told,
    because the connection was cut, is found by looking again."""
    told: asyncio.Queue[Kept] = asyncio.Queue()
    known: dict[str, int] = {}

    async def heard(message: Any) -> None:
        told.put_nowait(kept(name, message))

    subscription = await link.nc.subscribe(names.changed(name, key), cb=heard)
    try:
        first = True
        while not link.closing:
            try:
                found = await snapshot(link, name, key=key)
            except (TimeoutError, library().errors.Error):
                if first:
                    raise
                found = []
            for each in found:
                if known.get(each.key, 0) < each.revision:
                    known[each.key] = each.revision
                    yield each
            if first:
                first = False
                yield None
            again = asyncio.get_running_loop().time() + _LOOK
            while (left := again - asyncio.get_running_loop().time()) > 0:
                try:
                    async with asyncio.timeout(left):  # `wait_for` may lose a cancel: link.heard
                        change = await told.get()
                except TimeoutError:
                    break
                if known.get(change.key, 0) < change.revision:
                    known[change.key] = change.revision
                    yield change
    finally:
        with suppress(Exception):
            await subscription.unsubscribe()
