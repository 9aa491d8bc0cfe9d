"""The connection to the fleet's server: opened once, reconnects for ever, and tells when it is there."""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from bt_fleet.server import names
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext
    from nats.js.kv import KeyValue

PORT = 4222
_WAIT = 0.25  # seconds between two attempts to reconnect


@dataclass(frozen=True)
class Address:
    """Where the server is, and what proves who asks. Nothing of it is ever put into the store."""

    url: str = f"nats://127.0.0.1:{PORT}"
    user: str | None = None
    password: str | None = None
    creds: Path | None = None  # a key of `btr fleet keys add`, or a file with a JWT and a seed
    ca: Path | None = None  # the authority that must have signed the server's certificate
    cert: Path | None = None  # a certificate of our own, with its key
    key: Path | None = None

    def tls(self) -> ssl.SSLContext | None:
        """Returns the TLS context; None where the address names no certificate and no `tls://`."""
        if self.ca is None and self.cert is None and not self.url.startswith("tls://"):
            return None
        logging.getLogger("asyncio").addFilter(_no_eof)
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=self.ca)
        if self.cert is not None:
            context.load_cert_chain(self.cert, self.key)
        return context


def _no_eof(entry: logging.LogRecord) -> bool:
    """Drops what asyncio says whenever a TLS connection of the client ends."""
    return "eof_received" not in entry.getMessage()


def library() -> Any:
    """Returns the module `nats`; BtError when the extra is not installed."""
    with Extra("fleet", "a fleet"):
        import nats
        import nats.errors
        import nats.js.errors
    return nats


def library_alone() -> None:
    """Imports the client without `importlib.metadata`, of which it asks only its own version: an agent is smaller by
    1.4 MB. For a process that has no other thread yet."""
    if "importlib.metadata" in sys.modules:
        return
    sys.modules["importlib.metadata"] = None  # type: ignore[assignment]
    try:
        library()
    finally:
        del sys.modules["importlib.metadata"]


PATIENCE = 5.0  # seconds that a server has for its first answer


def _hopeless(error: Exception) -> bool:
    """True for an answer that another attempt does not change: who asks is unknown, or the certificate is not valid."""
    return isinstance(error, ssl.SSLError) or "authorization" in str(error).lower()


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


class Link:
    """One connection. `opened` waits until the server answers; afterwards the connection mends itself."""

    def __init__(self, address: Address, name: str = "btr") -> None:
        self.address = address
        self.name = name
        self.up = asyncio.Event()  # set while connected
        self.listeners: list[Callable[[bool], None]] = []  # called with True when connected, False when cut off
        self.refused = ""  # the server's last refusal of this key
        self._client: Client | None = None
        self._trying: Any = None  # the client from its first attempt on
        self._buckets: dict[str, KeyValue] = {}
        self.closing = False  # true: whatever works on this link must end
        self.relinked = asyncio.Event()  # set, and replaced, whenever the connection is there again
        self._last: Exception = TimeoutError("no answer")
        self.api = "$JS.API"  # the server's words for its streams, as this link's account calls them
        self.me = names.SOMEBODY  # under whose name this link speaks

    @property
    def nc(self) -> Client:
        if self._client is None:
            raise BtError("the fleet's server is not connected", "open the link first")
        return self._client

    @property
    def js(self) -> JetStreamContext:
        return self.nc.jetstream(timeout=3, prefix=self.api)

    async def opened(self, seconds: float | None) -> Link:
        """Connects within `seconds`, or raises BtError. None: tries for ever, as a robot without a network does."""
        nats = library()
        self._refused: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._trying = client = nats.NATS()
        attempt = asyncio.ensure_future(client.connect(**self._options()))  # it repeats its attempts by itself
        try:
            await asyncio.wait({attempt, self._refused}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            failed = attempt.exception() if attempt.done() else None
            if attempt.done() and failed is None:
                self._client = client
                self._told(True)
                return self
        finally:
            if self._client is None:
                await _ended(attempt)
                self._drop()
        if isinstance(failed, ImportError):
            raise Extra("fleet", f"`{failed.name}`").missing() from failed
        error = failed or (self._refused.result() if self._refused.done() else self._last)
        raise BtError(f"no fleet server answers at {self.address.url}: {_why(error)}",
                      "start one: btr fleet up; or name it: --server nats://HOST:PORT") from error  # fmt: skip

    def _options(self) -> dict[str, object]:
        here = self.address
        proof: dict[str, object] = {}
        if here.creds is not None:
            from bt_fleet.server import access, keys

            if keys.is_key(here.creds):
                key = keys.read(here.creds)
                proof["nkeys_seed_str"] = key.seed
                self.me = key.name
                self.api = access.SERVER_API if key.role == "coordinator" else access.API
            else:
                proof["user_credentials"] = str(here.creds)
        if here.user is not None:
            proof |= {"user": here.user, "password": here.password or ""}
        if (tls := here.tls()) is not None:
            proof["tls"] = tls
        return {"servers": [here.url], "name": self.name, "connect_timeout": 2, "reconnect_time_wait": _WAIT,
                "max_reconnect_attempts": -1, "allow_reconnect": True, "ping_interval": 2, "max_outstanding_pings": 2,
                "error_cb": self._error, "disconnected_cb": self._lost, "reconnected_cb": self._back,
                "pending_size": 8 * 2**20, **proof}  # fmt: skip

    async def _error(self, error: Exception) -> None:
        self._last = error
        self._drop()
        if _hopeless(error) and not self._refused.done():
            self._refused.set_result(error)
        logging.getLogger(__name__).debug("fleet link: %s", error)
        if "permissions violation" in str(error).lower():
            self.refused = str(error).removeprefix("nats: ")

    def _drop(self) -> None:
        """Closes the socket of an attempt that failed. The client opens its next one without closing it."""
        if not self._trying.is_connected and (socket := self._trying._transport) is not None:
            socket.close()

    async def _lost(self) -> None:
        self._told(False)

    async def _back(self) -> None:
        self._told(True)

    def _told(self, up: bool) -> None:
        (self.up.set if up else self.up.clear)()
        if up:
            self.relinked.set()
            self.relinked = asyncio.Event()
        for listener in list(self.listeners):
            listener(up)

    async def bucket(self, name: str) -> KeyValue:
        """Returns a bucket that exists; BtError when the server has none, because no coordinator has made it."""
        if name not in self._buckets:
            nats = library()
            try:
                self._buckets[name] = await self.js.key_value(name)
            except nats.js.errors.NotFoundError as error:
                raise BtError(
                    f"the server at {self.address.url} holds no fleet", "make one there: btr fleet up"
                ) from error
        return self._buckets[name]

    async def once(self, part: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs a part until it has succeeded once."""
        done = asyncio.Event()

        async def work() -> None:
            await part()
            done.set()
            await asyncio.Event().wait()

        trying, ending = asyncio.ensure_future(self.always(work)), asyncio.ensure_future(done.wait())
        try:
            await asyncio.wait({trying, ending}, return_when=asyncio.FIRST_COMPLETED)
            if trying.done():
                trying.result()
        finally:
            ending.cancel()
            trying.cancel()
            await asyncio.gather(trying, ending, return_exceptions=True)

    async def together(self, *parts: Coroutine[Any, Any, None]) -> None:
        """Runs parts until one of them fails, or all are cancelled. Their loops go by `closing`, because a wait that
        ends at the moment of its cancellation may swallow it."""
        async with asyncio.TaskGroup() as group:
            for part in parts:
                group.create_task(part)
            try:
                await asyncio.Event().wait()
            finally:
                self.closing = True

    async def always(self, part: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs a part for ever: anew after each reconnection, because what it had asked of the server is lost then, and
        after each answer that the server did not give."""
        nats = library()
        while not self.closing:
            await self.up.wait()
            again = asyncio.ensure_future(self.relinked.wait())
            work = asyncio.ensure_future(part())
            try:
                await asyncio.wait({again, work}, return_when=asyncio.FIRST_COMPLETED)
                if work.done() and (error := work.exception()) is not None:
                    if not isinstance(error, TimeoutError | nats.errors.Error):
                        raise error
                    logging.getLogger(__name__).debug("%s: %r", part.__qualname__, error)
                    await asyncio.sleep(_WAIT)
            finally:
                again.cancel()
                while not work.done():
                    work.cancel()
                    await asyncio.wait({work}, timeout=1)

    async def close(self) -> None:
        """Leaves no socket, though it be cut off while a server that is gone is still waited for."""
        client = self._client
        if client is not None:
            try:
                if not client.is_closed:
                    with suppress(Exception):
                        await client.flush(1)
            finally:
                await _ended(client._reconnection_task)
                with suppress(OSError):  # the server has cut the line
                    await client.close()
                self._drop()
        self.up.clear()

    async def __aenter__(self) -> Link:
        return self if self._client is not None else await self.opened(PATIENCE)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:  # fmt: skip
        await self.close()


async def _ended(work: asyncio.Future[Any] | None) -> None:
    """Cancels work of the client until it has ended: it waits by `asyncio.wait_for`, which may lose a cancel."""
    while work is not None and not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=0.1)


async def heard(news: asyncio.Event, seconds: float) -> None:
    """Waits for news, so long at most, and clears it. `asyncio.wait_for`, before Python 3.12, loses a cancel that comes
    in the same turn as the news."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()
    news.clear()
