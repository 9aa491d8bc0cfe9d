"""Another process attaches to a run: it can do what the prompt can, and whatever becomes of it, the robot goes on."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, debugger_of, load
from bt_runtime.cli.running import attach
from bt_runtime.events import Tick
from bt_runtime.run.debug import door as doors
from bt_runtime.run.debug.client import Attached, attached, door
from bt_runtime.run.debug.door import MOST_CLIENTS, Door

ROOT = Path(__file__).parents[3]
PATROL = """\
version: 1
tree: patrol
root:
  repeat:
    times: 100000
    child:
      sequence:
        - wait: {name: go, seconds: 0.01}
        - log: {name: said, text: arrived, level: debug}
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A short path: that of a socket has about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="d") as made:
        yield Path(made) / "btr"


@pytest.fixture
def going(place: Path) -> Iterator[tuple[Run, Door]]:
    """A run that ticks in a thread of its own, with its door open."""
    with Run(load(PATROL), hz=200) as run:
        opened = Door(run, run.parts.name, place, limit=float("inf"))
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            yield run, opened
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)
            opened.close()
        assert not spinning.is_alive() and not opened.thread.is_alive() and not opened.path.exists()


def ticks(run: Run, count: int) -> None:
    """Returns when so many more were made; fails when the run stands."""
    made = threading.Semaphore(0)
    unhear = run.listen(lambda tick: made.release(), Tick)
    try:
        assert all(made.acquire(timeout=60) for _ in range(count))
    finally:
        unhear()


def asked(client: Attached, name: str, **given: object) -> dict:
    client.send(name, given)
    return next(m for m in client.messages() if "done" in m or "error" in m)


def until(client: Attached, news: str) -> dict:
    return next(m for m in client.messages() if m.get("news") == news)


def test_a_client_breaks_looks_and_goes_on(going):
    run, opened = going
    client = Attached(opened.path)
    asked(client, "break", path="**/said")
    assert until(client, "paused")["path"] == "/patrol/0/said"
    assert "held by the debugger" in asked(client, "why")["answer"]["said"]
    assert asked(client, "status")["answer"]["paused"] is True
    assert asked(client, "nonsense")["error"] == "there is no command `nonsense`"
    assert "takes no such" in asked(client, "step", ticks="1; import os")["error"]
    asked(client, "clear")
    asked(client, "continue")
    ticks(run, 5)
    client.close()


def test_only_its_user_can_open_the_socket(going, place):
    _, opened = going
    assert stat.S_IMODE(opened.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    place.chmod(0o755)
    with pytest.raises(BtError, match="alone"):
        doors.made(place)


def test_a_client_that_dies_during_its_pause_holds_nothing(going):
    run, opened = going
    client = Attached(opened.path)
    asked(client, "break", path="**/said")
    until(client, "paused")
    client.close()
    ticks(run, 20)
    assert debugger_of(run).breakpoints == [] and not debugger_of(run).paused


def test_when_the_last_client_has_gone_the_run_pays_nothing_any_more(going):
    run, opened = going
    client = Attached(opened.path)
    asked(client, "step")
    assert run.parts.context.gates.ticks
    client.close()
    ticks(run, 5)
    opened.close()
    assert run.parts.context.gates.ticks == ()


@pytest.mark.parametrize(
    "said",
    [b"\x00\xff\n", b"[1]\n", b"{}\n", b'{"do": 3}\n', b'{"do":"force","path":"**","acts":["x"]}\n',
     b"[" * 60_000 + b"\n", b'{"do":"break","path":"' + b"*" * 5000 + b'"}\n', b"\n\n\n"],
)  # fmt: skip
def test_what_is_malformed_is_answered_in_words_and_changes_nothing(going, said):
    run, opened = going
    client = Attached(opened.path)
    client.socket.sendall(said)
    if said.strip():
        assert "error" in next(m for m in client.messages() if "news" not in m)
    assert asked(client, "status")["answer"]["breakpoints"] == []
    ticks(run, 5)
    client.close()


def test_clients_that_are_huge_slow_or_too_many_keep_no_tick_from_being_made(going):
    run, opened = going
    huge = Attached(opened.path)
    for _ in range(64):
        try:
            huge.socket.sendall(b"x" * 65_536)
        except OSError:
            break  # shown out
    deaf = Attached(opened.path)  # asks and asks, and reads nothing
    deaf.socket.setblocking(False)
    question = json.dumps({"do": "help"}).encode() + b"\n"
    for _ in range(200):
        try:
            deaf.socket.send(question * 100)
        except OSError:
            break
    half = Attached(opened.path)  # never ends its line
    half.socket.sendall(b'{"do":')
    many = [socket.socket(socket.AF_UNIX) for _ in range(3 * MOST_CLIENTS)]
    for each in many:
        each.setblocking(False)
        with suppress(OSError):
            each.connect(str(opened.path))
    ticks(run, 50)
    assert len(opened.clients) <= MOST_CLIENTS
    for each in (*many, huge, deaf, half):
        each.close()
    ticks(run, 5)
    with_room = Attached(opened.path)
    assert next(with_room.messages())["news"] == "attached"
    with_room.close()


def test_the_door_costs_a_tick_nothing_until_somebody_debugs(place):
    """As many calls in a tick with a door open, and after a debugger was closed, as without any."""
    counts = []
    for how in ("never", "open", "closed"):
        with Run(load("version: 1\ntree: t\nroot:\n  sequence: [{succeed: }, {wait: 1000}]\n")) as run:
            opened = Door(run, run.parts.name, place) if how == "open" else None
            if how == "closed":
                debugger_of(run).break_at("**")
                debugger_of(run).close()
            run.tick()
            calls = 0

            def count(frame: object, event: str, argument: object) -> None:
                nonlocal calls
                calls += event == "call"

            sys.setprofile(count)
            try:
                for _ in range(50):
                    run.parts.engine.tick_unless(None, always=True)
            finally:
                sys.setprofile(None)
            counts.append(calls)
            if opened is not None:
                opened.close()
    assert counts[0] == counts[1] == counts[2]


def test_btr_attach_debugs_a_run_of_another_process(tmp_path, place):
    """Two real processes: one runs, one attaches, and the first ends as it would have."""
    (tmp_path / "patrol.yaml").write_text(PATROL.replace("100000", "40"))
    around = {**os.environ, "XDG_RUNTIME_DIR": str(place.parent)}
    btr = [sys.executable, "-m", "bt_runtime.cli"]
    runs = subprocess.Popen(
        [*btr, "run", str(tmp_path / "patrol.yaml"), "--debug", "--runs", str(tmp_path / "runs"), "--break", "**/said"],
        cwd=ROOT, env=around, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert runs.stderr is not None
    for line in runs.stderr:
        if line.startswith("paused"):
            break
    commands = ["status", "why", "force **/go success", "step", "undo", "clear", "continue"]
    done = subprocess.run(
        [*btr, "attach", *(word for each in commands for word in ("-c", each))],
        cwd=ROOT, env=around, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "paused at /patrol/0/said" in done.stdout and "held by the debugger" in done.stdout
    assert "undone: **/go is forced: success" in done.stdout
    out, _ = runs.communicate(timeout=900)
    assert runs.returncode == 0 and out.strip().endswith("SUCCESS")
    gone = subprocess.run([*btr, "attach"], cwd=ROOT, env=around, capture_output=True, text=True, timeout=900)
    assert gone.returncode != 0 and "btr run --debug" in gone.stderr


def test_piped_commands_are_answered_before_btr_attach_leaves(tmp_path, place):
    """The end of standard input is no reason to leave before the last answer."""
    (tmp_path / "patrol.yaml").write_text(PATROL.replace("100000", "40"))
    around = {**os.environ, "XDG_RUNTIME_DIR": str(place.parent)}
    btr = [sys.executable, "-m", "bt_runtime.cli"]
    runs = subprocess.Popen(
        [*btr, "run", str(tmp_path / "patrol.yaml"), "--debug", "--runs", str(tmp_path / "runs"), "--break", "**/said"],
        cwd=ROOT, env=around, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert runs.stderr is not None
    for line in runs.stderr:
        if line.startswith("paused"):
            break
    done = subprocess.run(
        [*btr, "attach", "--json"], input="force **/go success\nstatus\nclear\n",
        cwd=ROOT, env=around, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    runs.communicate(timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"done"') == 3


def test_a_prompt_stays_while_the_run_has_nothing_to_say(going, monkeypatch, capsys):
    """The time limit of an answer is none of news."""
    run, opened = going
    monkeypatch.setattr("bt_runtime.run.debug.client.PATIENCE", 0.01)

    class Typist:
        def readline(self) -> str:
            ticks(run, 20)
            return ""

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Typist())
    client = Attached(opened.path)
    attach._prompt(client, False)
    client.close()
    assert "has gone" not in capsys.readouterr().err


def test_a_socket_that_a_killed_process_left_is_passed_over(going, place, monkeypatch):
    _, opened = going
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place / "zombie.debug"))
    left.close()
    os.utime(opened.path, (1, 1))  # the other one seems the latest
    monkeypatch.setattr("bt_runtime.run.debug.client.folder", lambda: place)
    client = attached("last")
    assert client.path == opened.path and not (place / "zombie.debug").exists()
    client.close()


def test_a_run_that_talks_nonsense_is_no_traceback(place):
    doors.made(place)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "odd.debug"))
        listener.listen()
        client = Attached(door("odd", place))
        other, _ = listener.accept()
        other.sendall(b"<html>\n")
        with pytest.raises(BtError, match="not JSON"):
            next(client.messages())
        other.close()
        client.close()


def test_a_name_that_no_run_has_is_answered_with_a_way_out(place):
    with pytest.raises(BtError) as caught:
        door("patrol", place)
    assert "--debug" in caught.value.hint
