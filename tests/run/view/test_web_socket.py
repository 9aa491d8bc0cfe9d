"""A page's stream: a WebSocket, so that a browser lets any number of pages read and command."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bt_runtime import Run, View, load
from bt_runtime.run.view.server import Server
from bt_runtime.run.view.web_socket import REFUSED, accepted
from tests.run.view.browser import Browser, missing
from tests.run.view.test_server import PATROL, command

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


class Page:
    """A client that speaks the protocol byte by byte."""

    def __init__(self, server: Server, query: str, origin: str | None = None) -> None:
        host = f"127.0.0.1:{server.port}"
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(
            f"GET /events?{query} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\nOrigin: {origin or f'http://{host}'}\r\n\r\n".encode()
        )
        self.head = b"".join(iter(self.file.readline, b"\r\n")).decode()

    def frame(self) -> tuple[int, bytes]:
        opcode, size = self.file.read(2)
        if size >= 126:
            size = int.from_bytes(self.file.read(2 if size == 126 else 8), "big")
        return opcode & 0x0F, self.file.read(size)

    def message(self) -> dict[str, Any]:
        opcode, data = self.frame()
        while opcode == 0x9:
            opcode, data = self.frame()
        assert opcode == 0x1
        return json.loads(data)

    def say(self, opcode: int, data: bytes = b"") -> None:
        self.socket.sendall(bytes([0x80 | opcode, 0x80 | len(data)]) + b"\0\0\0\0" + data)


@contextmanager
def page(server: Server, query: str | None = None, origin: str | None = None) -> Iterator[Page]:
    made = Page(server, query if query is not None else f"token={server.token}", origin)
    try:
        yield made
    finally:
        made.file.close()
        made.socket.close()


@pytest.fixture
def view() -> Iterator[View]:
    with Run(load(PATROL)) as run, View(run) as view:
        yield view


def test_the_handshake_answers_as_the_protocol_says() -> None:
    """The example of RFC 6455, section 1.3."""
    assert accepted(KEY) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_messages_of_every_length_arrive_and_a_page_that_comes_back_gets_only_the_rest(view: View) -> None:
    with page(view.server) as one:
        assert "101" in one.head.splitlines()[0] and f"Sec-WebSocket-Accept: {accepted(KEY)}" in one.head
        first = one.message()
        assert first["anew"] and first["events"][0]["k"] == "start"
        told = []
        for length in (1, 100, 130, 70_000):
            view.feed.put({"k": "line", "t": 0.0, "path": "", "level": "info", "text": "x" * length})
            told.append(one.message())
        assert [len(message["events"][-1]["text"]) for message in told] == [1, 100, 130, 70_000]
    with page(view.server, f"token={view.server.token}&after={told[1]['id']}") as again:
        rest = again.message()
        assert not rest["anew"] and [len(event["text"]) for event in rest["events"]] == [130, 70_000]


@pytest.mark.parametrize(
    ("query", "origin", "status"),
    [("token=wrong", None, 403), ("", None, 403), (None, "http://elsewhere.example", 403), ("RUN", None, 404)],
)
def test_who_may_not_read_is_told_why_and_reads_nothing(view: View, query: str, origin: str, status: int) -> None:
    asked = f"token={view.server.token}&run=7" if query == "RUN" else query
    with page(view.server, asked, origin) as refused:
        opcode, data = refused.frame()
        assert opcode == 0x8 and struct.unpack(">H", data[:2]) == (REFUSED + status,) and data[2:]
        assert refused.file.read() == b""


def test_a_page_that_closes_or_sends_too_much_gives_its_place_back(view: View) -> None:
    for say in (lambda one: one.say(0x8), lambda one: one.socket.sendall(b"\x81\xfe" + b"x" * 300)):
        with page(view.server) as one:
            one.message()
            assert view.feed.readers == 1
            one.say(0xA, b"pong")
            say(one)
            view.feed.put({"k": "line", "t": 0.0, "path": "", "level": "info", "text": "x"})
            assert view.feed.left(60)


def test_a_command_that_breaks_is_answered_with_500_and_logged(view: View, caplog: pytest.LogCaptureFixture) -> None:
    """A fault of ours must not look like a run whose process is gone."""

    def broken(name: str, given: dict[str, Any]) -> None:
        raise LookupError("nothing of the caller's")

    view.server.command = broken
    status, said, _ = command(view.server, "pause")
    assert status == 500 and "`pause`" in json.loads(said)["error"]
    assert "nothing of the caller's" in caplog.text


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_eight_pages_of_one_browser_read_and_any_of_them_halts_the_run() -> None:
    """A browser opens at most six HTTP connections to a server."""
    with Run(load("version: 1\ntree: t\nroot: {wait: 1000}\n")) as run, View(run) as view, Browser() as browser:
        run.tick()
        browser.open(view.url)
        handles = [browser.ask("GET", f"{browser.session}/window")]
        for _ in range(7):
            handles.append(browser.ask("POST", f"{browser.session}/window/new", {"type": "window"})["handle"])
            browser.ask("POST", f"{browser.session}/window", {"handle": handles[-1]})
            browser.open(view.url)
            browser.until("document.querySelectorAll('[data-id]').length > 0", 60, "the page reads nothing")
        assert view.feed.readers == 8
        browser.ask("POST", f"{browser.session}/window", {"handle": handles[0]})
        for _ in range(2):  # once more, to be sure
            browser.js("document.getElementById('halt').click()")
        browser.until(lambda: bool(run.parts.runner.stopped), 60, "no command got through")
