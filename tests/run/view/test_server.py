"""Who may read and command a run, and what happens to those who may not."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress

import pytest

from bt_runtime import BtError, Person, Run, Status, View, debugger_of, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Tick
from bt_runtime.language.project.address import Busy
from bt_runtime.run.debug.debugger import debugging
from bt_runtime.run.view import Feed
from bt_runtime.run.view.server import Server
from tests.run.view.scenes import house_run

PATROL = "version: 1\ntree: patrol\nroot:\n  sequence:\n    - wait: 0.001\n    - wait: 1000\n"


@pytest.fixture
def view():
    with Run(load(PATROL)) as run, View(run) as view:
        yield view


def ask(server: Server, method: str, path: str, body: str | None = None, **headers: str):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def command(server: Server, name: str, **headers: str):
    return ask(server, "POST", "/command", json.dumps({"do": name}), **{"X_Token": server.token, **headers})


def test_the_page_is_served_with_a_policy_that_lets_nothing_foreign_run(view):
    for path in ("/", "/page.js", "/fold.js", "/page.css"):
        status, body, headers = ask(view.server, "GET", path)
        assert status == 200 and body
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/../server.py", "/%2e%2e/server.py", "/page/../../live.py", "/events/", "/page.py", "/.js"]
)
def test_nothing_but_the_pages_files_can_be_fetched(view, path):
    assert ask(view.server, "GET", path)[0] == 404


@pytest.mark.parametrize("token", ["", "wrong", "ü" * 40])
def test_without_the_token_nobody_reads_events_or_gives_commands(view, token):
    from urllib.parse import quote

    assert ask(view.server, "GET", f"/events?token={quote(token)}")[0] == 403
    assert command(view.server, "pause", X_Token=quote(token))[0] == 403
    assert debugging(view.run) is None


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("size", ["Content-Length: 60", "Transfer-Encoding: chunked"])
def test_the_body_of_what_is_refused_is_never_taken_for_the_next_request(view, method, size):
    hidden = b"GET /else HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % view.server.port
    head = f"{method} /command HTTP/1.1\r\nHost: 127.0.0.1:{view.server.port}\r\n{size}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", view.server.port), timeout=60) as one:
        one.sendall(head)
        said = b""
        while b"\r\n\r\n" not in said:
            said += one.recv(4096)
        assert b"\r\nConnection: close\r\n" in said
        with suppress(OSError):
            one.sendall(hidden)
            while more := one.recv(4096):
                said += more
    assert said.count(b"HTTP/1.1 ") == 1


def test_another_sites_page_cannot_command_nor_come_in_under_its_own_name(view):
    assert command(view.server, "pause", Origin="http://elsewhere.example")[0] == 403
    assert ask(view.server, "GET", "/", Host="elsewhere.example")[0] == 421
    assert command(view.server, "pause", Host="elsewhere.example")[0] == 421
    assert debugging(view.run) is None
    assert command(view.server, "pause", Origin=f"http://127.0.0.1:{view.server.port}")[0] == 200
    assert debugger_of(view.run).paused


@pytest.mark.parametrize("body", ["", "[]", "{", '{"do": 3}', '{"do": "format"}', "[" * 4000, '{"do": null}'])
def test_a_command_that_is_none_is_answered_with_why(view, body):
    status, said, _ = ask(view.server, "POST", "/command", body, X_Token=view.server.token)
    assert status in (400, 409) and json.loads(said)["error"]


def test_a_body_that_is_too_long_is_not_read(view):
    assert ask(view.server, "POST", "/command", "x" * 300_000, X_Token=view.server.token)[0] == 413


def test_an_address_that_others_can_reach_needs_the_flag():
    with pytest.raises(BtError, match="outside") as caught:
        Server(Feed(), host="0.0.0.0")
    assert "--anyone" in caught.value.hint
    server = Server(Feed(), host="0.0.0.0", anyone=True)
    server.close()


def test_a_port_that_is_taken_is_a_fault_with_a_way_out(view):
    with pytest.raises(Busy, match="cannot listen") as caught:
        Server(Feed(), port=view.server.port)
    assert "--port" in caught.value.hint


def test_a_number_that_is_no_port_is_a_fault_with_a_way_out():
    with pytest.raises(Busy, match="a port is a number from 0 to 65535") as caught:
        Server(Feed(), port=99_999)
    assert "--port" in caught.value.hint


def test_pause_holds_the_run_between_two_ticks_step_lets_one_through_and_halt_ends_it():
    ticked, held = threading.Semaphore(0), []
    with ExitStack() as stack:
        run = stack.enter_context(Run(load("version: 1\ntree: t\nroot:\n  wait: 1000\n"), hz=1000))
        run.listen(lambda tick: (held.append(tick.number), ticked.release()), Tick)
        view = stack.enter_context(View(run, paused=True))
        assert view.feed.picture().latest["hold"]["on"]
        ended = threading.Thread(target=run.spin)
        ended.start()
        try:
            for count in (1, 2, 3):
                assert ticked.acquire(timeout=60)
                assert not ticked.acquire(timeout=0.05), "it went on although it is paused"
                assert held[-1] == count
                command(view.server, "step")
            command(view.server, "resume")
            assert all(ticked.acquire(timeout=60) for _ in range(10))
            command(view.server, "pause")
            status, said, _ = command(view.server, "halt")
            assert status == 200, said
        finally:
            ended.join(60)
        assert not ended.is_alive() and run.parts.runner.stopped == "stopped from the page"
        view.finish()
        over = view.feed.picture().latest["over"]
        assert over["status"] == "I" and over["why"] == "stopped from the page"
        assert command(view.server, "pause")[0] == 409


def asking(**about):
    done = []

    @skill("fell the {tree}", on_resume="repeat", **{"confirm": True, **about})
    def fell(tree: str) -> None:
        done.append(tree)

    return load("version: 1\ntree: t\nroot:\n  sequence: [{fell: oak}, {fell: elm}]\n", skills=[fell]), done


def open_questions(view):
    return view.feed.picture().latest["asks"]["open"]


def answered(view, number, text, **headers):
    body = json.dumps({"do": "answer", "id": number, "text": text})
    return ask(view.server, "POST", "/command", body, **{"X_Token": view.server.token, **headers})[0]


@pytest.mark.parametrize("journal", [False, True])
def test_a_question_is_asked_in_the_page_and_answered_from_it_once(tmp_path, journal):
    tree, done = asking()
    where = {"journal": tmp_path / "runs"} if journal else {}
    with Run(tree, services={"person": Person()}, **where) as run, View(run) as view:
        assert open_questions(view) == []
        run.tick()
        assert open_questions(view) == [{"id": 1, "text": "May I fell the oak? (yes or no)"}]
        assert answered(view, 1, "yes", X_Token="wrong") == 403
        assert answered(view, 1, "yes", Origin="http://elsewhere.example") == 403
        for wrong in (2, "1", None, True):
            assert answered(view, wrong, "yes") == 409
        assert answered(view, 1, "yes") == 200
        assert answered(view, 1, "no") == 409, "whoever is first has answered"
        while not open_questions(view):
            run.tick()
        assert answered(view, 2, "no, leave it") == 200
        assert run.spin(seconds=60) is Status.FAILURE
        assert open_questions(view) == []
        assert run.parts.engine.root.children[1].feedback_message == "A person was asked, and said: no, leave it"
    assert done == ["oak"]


def test_who_never_answers_has_said_no_when_the_authors_time_is_over():
    tree, done = asking(confirm=30)
    clock = Manual()
    with Run(tree, services={"person": Person()}, clock=clock) as run, View(run) as view:
        assert run.tick().running
        clock.advance(29.9)
        assert run.tick().running
        clock.advance(0.2)
        assert run.spin(ticks=9) is Status.FAILURE
        assert open_questions(view) == []
        assert (
            run.parts.engine.root.children[0].feedback_message
            == "A person was asked, and did not answer within 30 seconds."
        )
    assert done == []


def test_a_question_that_is_not_meant_any_more_is_taken_back():
    tree, _ = asking()
    with Run(tree, services={"person": Person()}) as run, View(run) as view:
        run.tick()
        run.halt("enough")
        assert open_questions(view) == []
        assert answered(view, 1, "yes") == 409


def test_ctrl_c_ends_a_run_that_is_paused():
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 1000\n")) as run, View(run, paused=True):
        ended = threading.Thread(target=run.spin)
        ended.start()
        run.parts.runner.halt("interrupted")  # what the signal's handler does
        ended.join(60)
        assert not ended.is_alive()


def events(server: Server, last: str = ""):
    """Messages of the stream, one after the other."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", f"/events?token={server.token}", headers={"Last-Event-ID": last} if last else {})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"
    number = ""
    for line in answer:
        if line.startswith(b"id: "):
            number = line[4:].strip().decode()
        elif line.startswith(b"data: "):
            yield number, json.loads(line[6:])
    answer.close()
    connection.close()


def test_a_reader_gets_everything_to_the_end_and_one_that_comes_back_only_the_rest():
    with house_run(clock=Manual()) as run, View(run) as view:
        got = []
        reader = threading.Thread(target=lambda: got.extend(events(view.server)))
        reader.start()
        run.spin(ticks=200)
        view.finish()
        middle = str(len(view.feed.after(None, most=10**9).events) - 5)
        view.feed.close()
        reader.join(60)
        assert got[0][1]["anew"] and got[-1][1]["closed"]
        told = [e for _, message in got for e in message["events"]]
        assert told == json.loads(json.dumps(view.feed.after(None, most=10**9).events))
        assert told[0]["k"] == "start" and told[-1]["k"] == "over" and told[-1]["verdict"] == [3, 3]
        rest = list(events(view.server, last=middle))
        assert sum(len(m["events"]) for _, m in rest) == 5 and not rest[0][1]["anew"]


def test_a_reader_that_goes_away_or_takes_nothing_does_not_hold_the_run(view):
    with socket.create_connection(("127.0.0.1", view.server.port), timeout=5) as dead:
        dead.sendall(
            f"GET /events?token={view.server.token} HTTP/1.1\r\nHost: 127.0.0.1:{view.server.port}\r\n\r\n".encode()
        )
        assert dead.recv(10)
        for n in range(3000):  # far more than the socket's buffers take
            view.feed.put({"k": "line", "t": 0.0, "path": "", "level": "info", "text": f"{n}" * 400})
        assert view.run.tick().running


def test_closing_frees_the_port_at_once():
    with Run(load(PATROL)) as run:
        with View(run) as view:
            port = view.server.port
        with View(run, port=port):
            pass


STARVED = """
import resource, socket, threading
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view import server as serving
resource.setrlimit(resource.RLIMIT_NOFILE, (96, 512))
serving.MOST_GUESTS, serving.MOST_CONNECTIONS = 8, 24
server = serving.Server(Feed())
print(server.port, server.token, flush=True)
for word in iter(input, "end"):
    files = [open("/dev/null") for _ in range(30)]  # what a skill of the robot would need
    print(len(server._http.open), flush=True)
    for file in files:
        file.close()
server.close()
"""


def test_three_hundred_half_open_connections_take_neither_the_robots_descriptors_nor_the_readers_place():
    """The page's process may open 96 files in all; every skill of it still finds 30."""
    page = subprocess.Popen(
        [sys.executable, "-c", STARVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    flood: list[socket.socket] = []
    try:
        port, token = page.stdout.readline().split()
        for number in range(300):
            flood.append(socket.create_connection(("127.0.0.1", int(port)), timeout=30))
            flood[-1].send(b"GET / HTTP/1.1\r\nHost: 127" if number % 2 else b"G")
            if number % 100 == 99:
                page.stdin.write("look\n")
                assert int(page.stdout.readline()) <= 24
        reader = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        reader.request("GET", f"/events?token={token}")
        assert reader.getresponse().status == 200
        reader.close()
        page.stdin.write("end\n")
        assert page.wait(60) == 0
    finally:
        for one in flood:
            one.close()
        page.kill()
        page.communicate()


def test_a_guest_that_says_nothing_for_long_is_shown_out_and_its_descriptor_given_back(view):
    with socket.create_connection(("127.0.0.1", view.server.port), timeout=30) as silent:
        silent.send(b"GET / HTTP/1.1\r\n")
        http_server = view.server._http
        wait_until(lambda: http_server.guests)
        with http_server.lock:
            http_server.guests.update(dict.fromkeys(http_server.guests, float("-inf")))
        assert silent.recv(1) == b""
    wait_until(lambda: not http_server.open)


def test_a_command_may_take_longer_than_a_guest_and_then_its_connection_is_a_guest_again():
    """A check in the editor takes up to 20 s."""
    waiting = []

    def late(name, given):
        http_server = server._http
        with http_server.lock:
            http_server.guests.update(dict.fromkeys(http_server.guests, float("-inf")))
        http_server.service_actions()
        waiting.append(len(http_server.guests))
        return {"done": name}

    server = Server(None, late)
    kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        for name in ("check", "check again"):
            kept.request("POST", "/command", json.dumps({"do": name}), {"X-Token": server.token})
            assert json.load(kept.getresponse()) == {"done": name}
            wait_until(lambda: len(server._http.guests) == 1)
    finally:
        kept.close()
        server.close()
    assert waiting == [0, 0]


def wait_until(holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def test_a_page_that_other_machines_can_reach_changes_no_tree():
    with Run(load(PATROL)) as run, View(run, anyone=True) as view:
        assert command(view.server, "pause")[0] == 200
        assert command(view.server, "status")[0] == 200
        for name in ("force", "replace", "break", "back", "into"):
            status, said, _ = command(view.server, name)
            assert status == 409 and b"other machines" in said
