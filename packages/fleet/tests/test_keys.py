"""The server itself holds everybody to their rights: a robot answers and reports, an operator sends, a viewer reads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

from bt_fleet.coordinator.coordinator import Coordinator
from bt_fleet.server import guarded, names
from bt_fleet.server.access import Identity, configuration, rights
from bt_fleet.server.keys import COORDINATOR, Keys, public_of, read, verified
from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import Server, ServerOptions
from bt_fleet.shared.board import Board
from bt_fleet.shared.locks import Locks
from bt_fleet.store.store import BEFORE, FIRST, Store
from bt_fleet.store.task import Task
from bt_runtime import BtError
from bt_runtime.cli import Exit, call
from bt_runtime.language.project import trust

# an attempt to connect that fails leaves its socket to the garbage collector, in the client's library
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
PEOPLE = (("robot", "r7"), ("robot", "r8"), ("operator", "ann"), ("viewer", "vic"))


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
            await link.js.stream_info(names.NEWS)
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


def test_each_key_may_do_its_own(tmp_path: Path) -> None:
    """What belongs to a role works with its key, also with one that is made while the server runs; a revoked key is cut
    off."""

    async def play() -> None:
        async with guarded_fleet(tmp_path) as (server, links):
            await Store(links["coordinator"]).ordering("r7")
            sent = {"task": Task("t1", "patrol").plain()}
            assert (await Store(links["ann"]).wish("send", sent))["new"]
            assert not (await Store(links["ann"]).wish("send", sent))["new"]
            assert [held.task.id for held in await Store(links["vic"]).records()] == ["t1"]
            await _robots_part(links["r7"])
            subject = names.journal("r7", "t1", 1)
            await Store(links["coordinator"]).fence("r7", "t1", 1)
            assert (await Store(links["r7"]).end_of_journal("r7", subject))[1]
            assert len(await Store(links["vic"]).journal("r7", "t1", 1)) == 2
            assert await Store(links["vic"]).journal("nobody", "t1", 1) == []
            await _taken(links["coordinator"])
            held = await Store(links["ann"]).get("t1")
            assert held is not None
            assert held[0].verdict is None  # r7 has reported an end of what it was not given
            assert {name: link.refused for name, link in links.items()} == dict.fromkeys(links, "")
            Keys(tmp_path / "server").add("robot", "r9", tmp_path / "r9.key")
            await asyncio.to_thread(guarded.reload, tmp_path / "server")
            await Store(links["coordinator"]).ordering("r9")
            async with Link(Address(server.url, creds=tmp_path / "r9.key"), "r9") as late:
                assert await Store(late).claim("r9", "t2", 1, "r9") == FIRST
            Keys(tmp_path / "server").revoke("r7")
            await asyncio.to_thread(guarded.reload, tmp_path / "server")
            while links["r7"].up.is_set():
                await asyncio.sleep(0.01)
            assert links["r8"].up.is_set()
            with pytest.raises(BtError, match="Authorization Violation"):
                await Link(Address(links["r7"].address.url, creds=tmp_path / "r7.key"), "r7").opened(1)

    asyncio.run(play())


async def _robots_part(link: Link) -> None:
    """What a robot does: entries, locks, claims, reports, its own journal."""
    board, locks, store = Board(link, "r7"), Locks(link, "r7"), Store(link)
    await board.start()
    await locks.start()
    board.write("door", "open")
    assert await store.claim("r7", "t1", 1, "r7") == FIRST
    assert await store.claim("r7", "t1", 1, "r7") == BEFORE
    await store.report("r7", {"what": "started", "task": "t1", "term": 1, "id": "1"})
    await store.report("r7", {"what": "ended", "task": "t1", "term": 1, "verdict": "success", "id": "2"})
    subject = names.journal("r7", "t1", 1)  # each piece names the one before it
    assert await store.end_of_journal("r7", subject) == (0, False)
    assert await store.append(subject, b"{}", 0) is not None
    while board.writes("door") or not locks.holds("lift"):
        await asyncio.sleep(0.01)
    await board.stop()
    await locks.stop()


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
    may = rights("robot", "r7")
    assert not [subject for subject in (*may.publish, *may.hear) if "r8" in subject or subject == ">"]
    assert not [subject for subject in may.publish if "verdict" in subject or "tasks" in subject]
    text = configuration([Identity("r7", "robot", "UAAA")])
    assert "r8" not in text


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '[{"name": "a b", "role": "robot"}]', '[{"name": "a", "role": "king"}]',
             '[{"name": "a", "role": "robot", "public": "U\"}] } include x"}]', "[" * 100_000, "\xff"],
)  # fmt: skip
def test_a_damaged_list_of_keys_is_told_in_words(tmp_path: Path, text: str) -> None:
    """Whatever stands in `access.json`, the server is not started by it, and the message names the file."""
    (tmp_path / "access.json").write_text(text, "latin-1")
    with pytest.raises(BtError, match=r"access\.json is no list of keys"):
        guarded.configuration(tmp_path)


def test_a_pipe_in_the_place_of_the_keys_is_told_in_words(tmp_path: Path) -> None:
    """A FIFO called `access.json` is not waited for."""
    os.mkfifo(tmp_path / "access.json")
    with pytest.raises(BtError, match=r"access\.json is no list of keys"):
        guarded.configuration(tmp_path)


def test_what_the_server_includes_is_written_anew(tmp_path: Path) -> None:
    """A configuration that lies in the folder is not the server's: only the list of keys decides."""
    Keys(tmp_path).add("robot", "r7", tmp_path / "r7.key")
    (tmp_path / "access.conf").write_text('leafnodes { remotes: [ {url: "nats-leaf://127.0.0.1:1"} ] }')
    guarded.configuration(tmp_path)
    assert "leafnodes" not in (tmp_path / "access.conf").read_text()


def test_mqtt_needs_a_key_and_stays_on_this_machine(tmp_path: Path) -> None:
    """MQTT is spoken only to clients that have a key, and to other machines only with `--anyone` and TLS."""
    with pytest.raises(BtError, match="no client may speak MQTT"):
        guarded.configuration(tmp_path, "127.0.0.1:1883")
    Keys(tmp_path).add("mqtt", "agv", tmp_path / "agv.key")
    assert "mqtt {" in guarded.configuration(tmp_path, "127.0.0.1:1883")
    for there in ("0.0.0.0:1883", ":1883", "[::]:1883"):
        with pytest.raises(BtError, match="can be reached from outside"):
            guarded.configuration(tmp_path, there)
    with pytest.raises(BtError, match="in clear"):
        guarded.configuration(tmp_path, "0.0.0.0:1883", anyone=True)
    guarded.certify(tmp_path, ["127.0.0.1"])
    assert guarded.configuration(tmp_path, "0.0.0.0:1883", anyone=True).count("cert_file") == 2


def test_a_list_of_keys_of_somebody_else_is_not_taken_without_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that came from elsewhere names who may connect: `up` and `keys add` refuse it until it is trusted. A
    list made here is trusted, also after each change of it."""
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    foreign, ours = tmp_path / "foreign", tmp_path / "ours"
    Keys(foreign).add("operator", "evil", tmp_path / "evil.key")
    add = ["fleet", "keys", "add", "robot", "r1", "--data", str(foreign), "--to", str(tmp_path / "r1.key")]
    for words in (["fleet", "up", "--data", str(foreign), "--port", "0"], add):
        assert call(words) == Exit.USAGE
        assert "is not of your making" in capsys.readouterr().err
    assert not (tmp_path / "r1.key").exists()
    trust.remember(Keys(foreign).path)
    assert call(add) == 0
    for name in ("ann", "bob"):
        assert call(["fleet", "keys", "add", "operator", name, "--data", str(ours), "--to", str(tmp_path / name)]) == 0
    assert trust.knows(Keys(ours).path)
    (ours / "access.json").write_text((foreign / "access.json").read_text() + " ")
    assert not trust.knows(Keys(ours).path)
