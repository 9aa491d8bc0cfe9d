"""For tests whose robots are threads: a server, and a wait for what another thread brings about."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")

from bt_fleet.server import buckets, names
from bt_fleet.server.link import Link
from bt_fleet.server.server import Server, ServerOptions


async def _started(server: Server) -> None:
    await server.start()
    async with Link(server.address) as link:
        for name in (names.ENTRIES, names.LOCKS):
            await buckets.made(link.js, name)


@contextmanager
def served(folder: Path, more: str = "") -> Iterator[Server]:
    server = Server(ServerOptions(folder, port=0, sync="2s", more=more))
    asyncio.run(_started(server))
    try:
        yield server
    finally:
        server.stop()


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits for what another thread brings about."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        pause.wait(0.005)
