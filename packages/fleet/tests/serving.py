"""A server of its own for each test, in a folder that goes away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bt_fleet.server.link import Link
from bt_fleet.server.server import Server, ServerOptions


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Server]:
    """A server on a free port; its disk is synced seldom, since no test cuts the power."""
    server = await Server(ServerOptions(folder / "server", port=0, sync="1m")).start()
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def linked(folder: Path) -> AsyncIterator[tuple[Server, Link]]:
    async with served(folder) as server, Link(server.address) as link:
        yield server, link
