"""The fleet's buckets, as they are made and read at once: without a consumer, which not everybody may make."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_runtime.fleet import names

if TYPE_CHECKING:
    from nats.js import JetStreamContext
    from nats.js.kv import KeyValue

    from bt_runtime.fleet.link import Link

MARKER = 60.0  # seconds for which the server remembers that a key has ended
_MOST = 100_000
_GONE = ("KV-Operation", "Nats-Marker-Reason")


class Kept(NamedTuple):
    """The last message of a key. `gone`: it was deleted, or its time is over."""

    key: str
    value: bytes
    revision: int
    gone: bool


async def made(js: JetStreamContext, name: str) -> KeyValue:
    """Opens a bucket; makes it where there is none. Changes of entries are also told on a plain subject."""
    from nats.js import api, errors

    try:
        return await js.key_value(name)
    except errors.NotFoundError:
        told = api.RePublish(src=f"$KV.{name}.>", dest=f"{names.CHANGED}.{name}.>")
        marker = MARKER if name == names.LOCKS else None
        config = api.KeyValueConfig(bucket=name, history=1, direct=True, republish=told, limit_marker_ttl=marker)
        return await js.create_key_value(config)


async def snapshot(link: Link, name: str, seconds: float = 5.0) -> list[Kept]:
    """Returns the last message of every key of a bucket; raises TimeoutError when the server does not answer."""
    found: list[Kept] = []
    done = asyncio.get_running_loop().create_future()

    async def take(message: Any) -> None:
        headers = message.headers or {}
        status = headers.get("Status")
        if status is None:
            found.append(kept(name, message))
        elif not done.done():  # 204: that was all; 404: there is none
            done.set_result(None)

    inbox = link.nc.new_inbox()
    subscription = await link.nc.subscribe(inbox, cb=take)
    try:
        asked = json.dumps({"multi_last": [f"$KV.{name}.>"], "batch": _MOST})
        await link.nc.publish(f"$JS.API.DIRECT.GET.KV_{name}", asked.encode(), reply=inbox)
        await asyncio.wait_for(done, seconds)
    finally:
        await subscription.unsubscribe()
    return found


def kept(name: str, message: Any) -> Kept:
    """Reads a message of a bucket that was asked for, or told of a change."""
    headers = message.headers or {}
    key = headers["Nats-Subject"].removeprefix(f"$KV.{name}.")
    return Kept(key, message.data, int(headers["Nats-Sequence"]), any(each in headers for each in _GONE))
