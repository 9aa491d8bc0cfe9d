"""The server and the connection to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.server import names
from bt_fleet.server.keys import Key
from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import Server, ServerOptions, free_port
from bt_runtime import BtError
from packages.fleet.tests.proxy import Proxy
from packages.fleet.tests.serving import linked, served


def test_a_killed_server_comes_back_at_its_port_with_what_it_held(tmp_path: Path) -> None:
    """A message that was acknowledged survives kill -9 of the server, and the connection mends itself."""

    async def story() -> None:
        async with linked(tmp_path) as (server, link):
            watching = asyncio.create_task(server.watch())
            bucket = await link.js.create_key_value(bucket=names.TASKS)
            await bucket.create("t1", b"here")
            cut = asyncio.Event()
            link.listeners.append(lambda up: None if up else cut.set())
            before = server.pid
            os.kill(before or 0, signal.SIGKILL)
            await cut.wait()
            await link.up.wait()
            assert server.pid != before
            assert (await (await link.bucket(names.TASKS)).get("t1")).value == b"here"
            server.stop()
            await watching

    asyncio.run(asyncio.wait_for(story(), 60))


def test_no_server_is_one_sentence(tmp_path: Path) -> None:
    """Where nobody listens, the fault names the address and what to do."""

    async def story() -> None:
        address = Address(f"nats://127.0.0.1:{free_port('127.0.0.1')}")
        with pytest.raises(BtError, match=r"no fleet server answers at nats://127\.0\.0\.1"):
            await Link(address).opened(seconds=0.3)

    asyncio.run(story())


def test_an_attempt_that_no_server_answers_leaves_no_socket(tmp_path: Path) -> None:
    """Each socket is closed: of an attempt that fails, of one whose time is over, and of one that is cancelled."""
    met: list[asyncio.Task[bytes]] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(asyncio.ensure_future(reader.read()))
        if len(met) == 1:
            writer.write(b"what?\r\n")
        await met[-1]
        writer.close()

    async def story() -> None:
        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            address = Address(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            with pytest.raises(BtError, match="expecting INFO"):
                await Link(address).opened(seconds=1)
            trying = asyncio.ensure_future(Link(address).opened(None))
            while len(met) < 3:
                await asyncio.sleep(0.01)
            trying.cancel()
            await asyncio.gather(trying, return_exceptions=True)
            await asyncio.gather(*met)

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_link_whose_closing_is_cut_off_leaves_no_socket(tmp_path: Path) -> None:
    """A server that has stopped answers no flush; whoever does not wait for it has closed the connection too."""

    async def story() -> None:
        async with served(tmp_path) as server:
            proxy = await Proxy(server.port).start()
            link = await Link(Address(proxy.url)).opened(30)
            os.kill(server.pid or 0, signal.SIGSTOP)
            while ") T " not in Path(f"/proc/{server.pid}/stat").read_text():
                await asyncio.sleep(0.01)
            try:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(link.close(), 0.1)
                assert link.nc.is_closed
                while proxy.connections:
                    await asyncio.sleep(0.01)
            finally:
                os.kill(server.pid or 0, signal.SIGCONT)
                await proxy.close()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_package_that_a_key_needs_and_that_is_not_there_is_named(tmp_path: Path, monkeypatch) -> None:
    """The fault says which package is missing, not that no server answers."""
    key = tmp_path / "r7.key"
    key.write_text(Key("r7", "robot", "SU" + "A" * 56).text())
    monkeypatch.setitem(sys.modules, "nkeys", None)

    async def story() -> None:
        with pytest.raises(BtError, match="`nkeys` needs the `fleet` extra"):
            await Link(Address("nats://127.0.0.1:4", creds=key)).opened(seconds=5)

    asyncio.run(story())


def test_a_server_for_other_machines_is_asked_for(tmp_path: Path) -> None:
    """It listens beyond this machine only when that is said."""
    server = Server(ServerOptions(tmp_path, host="0.0.0.0", port=0))
    with pytest.raises(BtError, match="--anyone"):
        asyncio.run(server.start())


@pytest.mark.parametrize("word", ["", "a.b", "a*", "-x", "x" * 65, "ä", "a\n"])
def test_a_name_that_cannot_stand_in_a_subject_is_refused(word: str) -> None:
    """A dot or a star in a robot's name would reach other robots' subjects."""
    with pytest.raises(BtError, match="cannot be called"):
        names.named(word, "a robot")
