"""The server itself holds everybody to their rights: a robot answers and reports, an operator sends, a viewer reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import guarded, names
from bt_runtime.fleet.access import Identity, configuration
from bt_runtime.fleet.board import Board
from bt_runtime.fleet.coordinator import Coordinator
from bt_runtime.fleet.keys import COORDINATOR, Keys, public_of, read, verified
from bt_runtime.fleet.link import Address, Link
from bt_runtime.fleet.locks import Locks
from bt_runtime.fleet.server import Server, ServerOptions
from bt_runtime.fleet.store import Store
from bt_runtime.fleet.task import Task

PEOPLE = (("robot", "r7"), ("robot", "r8"), ("operator", "ann"), ("viewer", "vic"))
Act = Callable[[Link], Awaitable[object]]

# who, what they try: each is refused by the server
REFUSED: dict[str, tuple[str, Act]] = {
    "a robot sends a task": ("r7", lambda link: link.nc.publish(f"$KV.{names.TASKS}.t2", b"{}")),
    "a robot orders another": ("r7", lambda link: link.nc.publish(names.order("r8", "t1"), b"{}")),
    "a robot reports for another": ("r7", lambda link: link.nc.publish(names.report("r8", "t1"), b"{}")),
    "a robot claims for another": ("r7", lambda link: link.nc.publish(names.claim("r8", "t1", 1), b"{}")),
    "a robot writes a verdict": ("r7", lambda link: link.nc.publish(names.verdict("t1"), b"{}")),
    "a robot beats for another": ("r7", lambda link: link.nc.publish(names.alive("r8"), b"{}")),
    "a robot halts the fleet": ("r7", lambda link: link.nc.publish(names.HALT, b"{}")),
    "a robot drains another": ("r7", lambda link: link.nc.publish(f"$KV.{names.SETTINGS}.drain.r8", b"true")),
    "a robot reads orders": ("r7", lambda link: link.nc.subscribe("fleet.order.>")),
    "a robot reads reports": ("r7", lambda link: link.nc.subscribe(names.report("r8"))),
    "a robot reads tasks": ("r7", lambda link: link.nc.publish(f"$JS.API.DIRECT.GET.KV_{names.TASKS}", b"")),
    "a robot reads an operator's answers": ("r7", lambda link: link.nc.subscribe("_INBOX.ann.>")),
    "a robot takes another's orders": (
        "r7", lambda link: link.nc.publish(f"$JS.API.CONSUMER.MSG.NEXT.{names.ORDERS}.robot_r8", b"")
    ),
    "a robot makes a consumer": (
        "r7", lambda link: link.nc.publish(f"$JS.API.CONSUMER.CREATE.KV_{names.ENTRIES}", b"")
    ),
    "an operator deletes a stream": (
        "ann", lambda link: link.nc.publish(f"$JS.API.STREAM.DELETE.{names.VERDICTS}", b"")
    ),
    "an operator reports for a robot": ("ann", lambda link: link.nc.publish(names.report("r7", "t1"), b"{}")),
    "a viewer sends a task": ("vic", lambda link: link.nc.publish(f"$KV.{names.TASKS}.t2", b"{}")),
    "a viewer halts the fleet": ("vic", lambda link: link.nc.publish(names.HALT, b"{}")),
    "a viewer writes an entry": ("vic", lambda link: link.nc.publish(f"$KV.{names.ENTRIES}.door", b"1")),
}  # fmt: skip


@asynccontextmanager
async def guarded_fleet(folder: Path) -> AsyncIterator[tuple[Server, dict[str, Link]]]:
    data, keys = folder / "server", Keys(folder / "server")
    for role, name in PEOPLE:
        keys.add(role, name, folder / f"{name}.key")
    options = ServerOptions(data, port=0, sync="1m", more=guarded.configuration(data))
    server = await Server(options).start()
    try:
        async with AsyncExitStack() as stack:
            files = {name: folder / f"{name}.key" for _, name in PEOPLE} | {"coordinator": data / COORDINATOR}
            links = {
                name: await stack.enter_async_context(Link(Address(server.url, creds=file), name))
                for name, file in files.items()
            }
            work = asyncio.create_task(Coordinator(links["coordinator"]).work())
            try:
                await asyncio.wait_for(_buckets(links["coordinator"]), 60)
                yield server, links
            finally:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
    finally:
        server.stop()


async def _buckets(link: Link) -> None:
    """Waits until the coordinator has made what the fleet keeps."""
    from nats.js.errors import NotFoundError

    while True:
        try:
            await link.js.stream_info(names.JOURNALS)
            return
        except NotFoundError:
            await asyncio.sleep(0.01)


async def _taken(link: Link) -> None:
    """Waits until the coordinator has taken every report."""
    from nats.js.errors import NotFoundError

    while True:
        with suppress(NotFoundError):
            info = await link.js.consumer_info(names.REPORTS, "coordinators")
            if info.ack_floor is not None and info.ack_floor.stream_seq >= 2:
                return
        await asyncio.sleep(0.01)


def test_each_key_may_do_its_own_and_nothing_else(tmp_path: Path) -> None:
    """What belongs to a role works with its key; everything else is refused by the server; a revoked key is cut off."""

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (_, links):
            assert await Store(links["ann"]).add(Task("t1", "patrol"))
            assert [held.task.id for held in await Store(links["vic"]).records()] == ["t1"]
            board, locks = Board(links["r7"], "r7"), Locks(links["r7"], "r7")
            await board.start()
            await locks.start()
            board.write("door", "open")
            assert await Store(links["r7"]).claim("r7", "t1", 1, "r7")
            await Store(links["r7"]).report("r7", {"what": "started", "task": "t1"}, "1")
            forged = {"what": "ended", "task": "t1", "robot": "r7", "term": 1, "verdict": "success"}
            await Store(links["r7"]).report("r7", forged, "2")  # a task that it was never given
            subject = names.journal("r7", "t1", 1)  # each piece names the one before it; any robot may go on with it
            assert await Store(links["r7"]).end_of_journal(subject) == (0, False)
            assert await Store(links["r7"]).append(subject, b"{}", 0) is not None
            await Store(links["coordinator"]).fence("r7", "t1", 1)
            assert (await Store(links["r7"]).end_of_journal(subject))[1]
            assert len(await Store(links["r8"]).journal("r7", "t1", 1)) == 2
            await _taken(links["coordinator"])
            held = await Store(links["ann"]).get("t1")
            assert held is not None
            assert held[0].verdict is None
            while board.writes("door") or not locks.holds("lift"):
                await asyncio.sleep(0.01)
            await board.stop()
            await locks.stop()
            assert {name: link.refused for name, link in links.items()} == dict.fromkeys(links, "")
            for what, (who, act) in REFUSED.items():
                link = links[who]
                link.refused = ""
                await act(link)
                async with asyncio.timeout(60):  # else the server has let it pass
                    while not link.refused:
                        await asyncio.sleep(0.002)
                assert "permissions violation" in link.refused.lower(), what
            Keys(tmp_path / "server").revoke("r7")
            await asyncio.to_thread(guarded.reload, tmp_path / "server")
            while links["r7"].up.is_set():
                await asyncio.sleep(0.01)
            assert links["r8"].up.is_set()
            with pytest.raises(BtError, match="Authorization Violation"):
                await Link(Address(links["r7"].address.url, creds=tmp_path / "r7.key"), "r7").opened(1)

    asyncio.run(play())


def test_a_server_with_a_certificate_is_reached_by_tls_alone(tmp_path: Path) -> None:
    """With the authority's file a link is opened; without it, or without TLS, none is."""
    pytest.importorskip("cryptography", reason="needs the fleet extra")
    ca = guarded.certify(tmp_path, ["localhost", "127.0.0.1"])
    assert (tmp_path / guarded.PRIVATE).stat().st_mode & 0o077 == 0

    async def play() -> None:
        server = await Server(ServerOptions(tmp_path, port=0, sync="1m", more=guarded.configuration(tmp_path))).start()
        try:
            async with Link(Address(server.url, ca=ca)) as link:
                assert link.nc.connected_url is not None
                await link.nc.flush()
            with pytest.raises(BtError, match="no fleet server answers"):
                await Link(Address(server.url.replace("nats:", "tls:"))).opened(0.2)
        finally:
            server.stop()

    asyncio.run(play())


def test_keys_are_as_nats_writes_them(tmp_path: Path) -> None:
    """A key's file is for its owner alone; its public half, and signatures, are those of the official library."""
    nkeys = pytest.importorskip("nkeys", reason="a second opinion")
    keys = Keys(tmp_path / "server")
    path = keys.add("robot", "r7", tmp_path / "r7.key")
    assert path.stat().st_mode & 0o777 == 0o600
    key = read(path)
    official = nkeys.from_seed(key.seed.encode())
    assert official.public_key.decode() == public_of(key.seed) == keys.known()[1].public
    signature = key.sign(b"tree")
    assert verified(public_of(key.seed), b"tree", signature)
    assert not verified(public_of(key.seed), b"another tree", signature)
    assert key.seed not in (tmp_path / "server" / "access.json").read_text()
    assert key.seed not in (tmp_path / "server" / "access.conf").read_text()


def test_a_name_has_one_key(tmp_path: Path) -> None:
    """A second key for a name, a role that is none and an unknown name are refused in words."""
    keys = Keys(tmp_path)
    keys.add("robot", "r7", tmp_path / "r7.key")
    with pytest.raises(BtError, match="there is a key for `r7`"):
        keys.add("operator", "r7", tmp_path / "other.key")
    with pytest.raises(BtError, match="is no role"):
        keys.add("king", "arthur", tmp_path / "arthur.key")
    with pytest.raises(BtError, match="there is no key for `r9`"):
        keys.revoke("r9")


def test_rights_name_nobody_else() -> None:
    """A robot's part of the server's configuration names no other robot, and gives it no stream as a whole."""
    text = configuration([Identity("r7", "robot", "UAAA")])
    assert "r8" not in text
    assert '">"' not in text
    assert "fleet.verdict" not in text
