"""The page's server: standard library, threads; by default loopback only, with a token.

Assets are free to read; events and commands need the token, which the URL carries in its fragment. The Host header is
checked, so that a page from elsewhere cannot come in under a name of its own. A server of an API has no page: each of
its requests needs the token, as `X-Token` or `Authorization: Bearer`.

A page reads its events by a WebSocket, a program by Server-Sent Events. A browser opens six HTTP connections to one
server and no more, and Server-Sent Events hold one for as long as their page is open; WebSockets are not counted.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Protocol
from urllib.parse import parse_qs, urlsplit

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import address
from bt_runtime.language.project.address import LOOPBACK
from bt_runtime.run.view.feed import FeedPart
from bt_runtime.run.view.page import POLICY, asset
from bt_runtime.run.view.web_socket import REFUSED, WebSocket, accepted
from bt_runtime.types import Json

LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
PULSE = 5.0  # seconds of silence after which a comment shows whether the reader is still there
GAP = 0.012  # seconds between two messages to one reader: what happens within is sent as one
MOST_BODY = 200_000  # bytes of a command: a replacement of a subtree is the longest
PATIENCE = 1.0  # seconds for readers to take the rest
MOST_READERS = 32
MOST_GUESTS = 32  # connections that have not shown the token, or are not reading events
MOST_CONNECTIONS = 96  # descriptors that the page takes of its process, those on their way out included
GUEST = 15.0  # seconds for a request without the token and its answer, for a body, and between two requests
_LOG = logging.getLogger(__name__)
Command = Callable[[str, dict[str, Any]], Any]  # takes a command's name and its arguments
Streams = Callable[[str], "PageStream | None"]  # the stream of the run that a page names
Api = Callable[[str, str, bytes], tuple[int, Json]]  # method, path and body → status and answer
Assets = Callable[[str], tuple[bytes, str] | None]  # the file at a URL path, and its content type


class PageStream(Protocol):
    """What a page's events come from: a `Feed`, or a table."""

    @property
    def readers(self) -> int: ...
    def enter(self) -> None: ...
    def leave(self) -> None: ...
    def left(self, seconds: float) -> bool: ...
    def after(self, cursor: int | None, wait: float = 0.0) -> FeedPart: ...
    def close(self) -> None: ...


class Server:
    """A web server in its own thread, which starts when the object is made."""

    def __init__(
        self, feed: PageStream | None, command: Command | None = None, *, host: str = LOOPBACK, port: int = 0,
        anyone: bool = False, assets: Assets = asset, streams: Streams | None = None, most_body: int = MOST_BODY,
        api: Api | None = None, token: str = "",
    ) -> None:  # fmt: skip
        """`api`: answers every request, in place of a page. `token`: "" for a new one."""
        address.checked(host, anyone)
        self.feed, self.command, self.api = feed, command, api
        self.assets, self.streams, self.most_body = assets, streams, most_body
        self.token = token or secrets.token_urlsafe(18)
        self.over = threading.Event()
        handler = type("Handler", (_Handler,), {"app": self})
        try:
            self._http = _Http((host, port), handler)
        except (OSError, OverflowError) as error:
            raise address.busy(host, port, error, "--port") from error
        self.host, self.port = host, int(self._http.server_address[1])
        self.hosts = None if anyone else {f"{name}:{self.port}" for name in LOCAL}
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="bt-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/#{self.token}"

    def close(self) -> None:
        """Stops the server. Readers that keep up receive the remaining events first."""
        if not self.over.is_set():
            if self.feed is not None:
                self.feed.close()
                self.feed.left(PATIENCE)
            self.over.set()
            self._http.shutdown()
            self._http.server_close()
            self._http.dismiss()
            self._thread.join(2)


def _data(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=True, separators=(",", ":"))


def _refused(text: str) -> Json:
    raise ValueError(f"{text} is not JSON")


class _Http(ThreadingHTTPServer):
    """Bounds the file descriptors that connections take. A connection without a token is a guest. A new guest
    replaces the oldest one, and each guest has a time limit, so idle connections keep nobody out."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # connections that the system keeps until we come to them: none has to knock twice

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.open: set[socket.socket] = set()
        self.guests: dict[socket.socket, float] = {}  # socket → waited for since; the oldest first
        self.lock = threading.Lock()
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError:  # no descriptor is left: a moment later there may be
            time.sleep(GAP)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Returns False when no connection is free; the connection is then closed."""
        with self.lock:
            if len(self.guests) >= MOST_GUESTS:
                _end(next(iter(self.guests)))
                self.guests.pop(next(iter(self.guests)))
            if len(self.open) >= MOST_CONNECTIONS:
                return False
            self.open.add(request)
            self.guests[request] = time.monotonic()
            return True

    def waits(self, request: Any) -> None:
        """Marks an answered connection as waiting for its next request."""
        with self.lock:
            self.guests.pop(request, None)  # put back at the end as the newest
            if request in self.open:
                self.guests[request] = time.monotonic()

    def admit(self, request: Any) -> None:
        """Admits a connection that has shown the token: its answer may take as long as it takes."""
        with self.lock:
            self.guests.pop(request, None)

    def dismiss(self) -> None:
        with self.lock:
            for request in self.open:
                _end(request)

    def close_request(self, request: Any) -> None:
        with self.lock:
            self.open.discard(request)
            self.guests.pop(request, None)
        super().close_request(request)

    def service_actions(self) -> None:
        """Called about once a second: closes guest connections whose time is over."""
        late = time.monotonic() - GUEST
        with self.lock:
            for guest in [guest for guest, since in self.guests.items() if since < late]:
                self.guests.pop(guest)
                _end(guest)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores readers that disconnect."""


def _end(guest: socket.socket) -> None:
    """Shuts the connection down; its own thread then closes it."""
    with suppress(OSError):
        guest.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    app: ClassVar[Server]
    protocol_version = "HTTP/1.1"
    server_version = "bt_runtime"
    sys_version = ""
    timeout = GUEST
    disable_nagle_algorithm = True  # otherwise an answer's body waits 40 ms for the reader to confirm its head
    server: _Http
    unread = True  # the body of this request is not read yet

    def handle_one_request(self) -> None:
        self.unread = True
        super().handle_one_request()
        self.server.waits(self.request)

    def log_message(self, format: str, *args: Any) -> None:
        """No-op: standard error belongs to the run."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if not self._welcome():
            return
        if self.app.api is not None:
            self._asked("GET", self.app.api)
            return
        if parts.path == "/events":
            self._events(parse_qs(parts.query))
            return
        found = self.app.assets(parts.path)
        if found is None:
            self._answer(404, b"there is nothing here\n", "text/plain; charset=utf-8")
        else:
            self._answer(200, *found)

    def do_POST(self) -> None:
        if not self._welcome():
            return
        if self.app.api is not None:
            self._asked("POST", self.app.api)
            return
        if self._admitted() and (body := self._body()) is not None:
            self._command(body)

    def _asked(self, method: str, api: Api) -> None:
        """Answers a request of the API."""
        if not self._admitted():
            return
        body = self._body() if method == "POST" else b""
        if body is not None:
            status, answer = api(method, urlsplit(self.path).path, body)
            self._answer(status, json.dumps(answer).encode(), "application/json")

    def _admitted(self) -> bool:
        bearer = self.headers.get("Authorization", "")
        token = self.headers.get("X-Token", "") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")
        if self._trusted(token) and not self._foreign():
            return True
        self._say(403, "the token is missing or wrong")
        return False

    def _body(self) -> bytes | None:
        """Returns the body of a request; None for one that is too large, which is answered here."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > self.app.most_body:
            self._say(413, f"a request is JSON of at most {self.app.most_body} bytes, with a Content-Length")
            return None
        body = self.rfile.read(int(length))
        self.unread = False
        self.server.admit(self.request)
        return body

    def _command(self, body: bytes) -> None:
        try:
            given = json.loads(body, parse_constant=_refused)
            name = given.pop("do")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._say(400, 'a command looks like {"do": "pause"}')
            return
        if self.app.command is None:
            self._say(409, "this run is a recording")
            return
        try:
            answer = self.app.command(str(name), given)
            said = json.dumps(answer or {}).encode()
        except BtError as error:
            self._say(409, error.message)
        except Exception:
            _LOG.exception("the command %.40r of a page failed", name)
            self._say(500, f"`{name:.40}` failed: a bug of btr. The log of its process has the details")
        else:
            self._answer(200, said, "application/json")

    def _events(self, query: dict[str, list[str]]) -> None:
        key = (
            self.headers.get("Sec-WebSocket-Key", "") if self.headers.get("Upgrade", "").lower() == "websocket" else ""
        )
        feed, status, why = self._asked_for(query)
        self.close_connection = True
        if key:
            self._upgrade(key)
        page = WebSocket(self.connection) if key else None
        with suppress(OSError):  # the page was closed
            if feed is None:
                page.close(REFUSED + status, why) if page else self._say(status, why)
                return
            self.server.admit(self.request)
            feed.enter()
            try:
                self._stream(feed, page, self._cursor(query))
            finally:
                feed.leave()

    def _asked_for(self, query: dict[str, list[str]]) -> tuple[PageStream | None, int, str]:
        """Returns the stream that a reader wants, or None with a status and the reason."""
        if not self._trusted(query.get("token", [""])[0]) or self._foreign():
            return None, 403, "the token is missing or wrong"
        run = query.get("run", [""])[0]
        try:
            feed = self.app.feed if not run else self.app.streams(run) if self.app.streams is not None else None
        except BtError as error:
            return None, 409, error.message
        if feed is None:
            return None, 404, "this run is not in the list"
        return (feed, 200, "") if feed.readers < MOST_READERS else (None, 503, "too many pages are open")

    def _cursor(self, query: dict[str, list[str]]) -> int | None:
        """Returns where a reader that comes back had got to."""
        last = query.get("after", [self.headers.get("Last-Event-ID", "")])[0]
        return int(last) if last.isdecimal() and len(last) < 16 else None

    def _upgrade(self, key: str) -> None:
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accepted(key))
        self.end_headers()

    def _stream(self, feed: PageStream, page: WebSocket | None, cursor: int | None) -> None:
        if page is None:
            self.send_response(200)
            self._headers("text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
        over = self.app.over
        self.connection.settimeout(PULSE * 2)  # a reader that takes nothing loses its place
        while not over.is_set():
            part = feed.after(cursor, PULSE)
            cursor = part.cursor
            if part.events or part.anew or part.closed:
                told = {"events": part.events, "anew": part.anew, "closed": part.closed}
                self._tell(page, cursor, told)
            elif page is not None:
                page.ping()
            else:
                self.wfile.write(b": still here\n\n")
            if part.closed:
                return
            over.wait(GAP)

    def _tell(self, page: WebSocket | None, cursor: int, told: dict[str, Any]) -> None:
        if page is not None:
            page.send(_data({"id": cursor, **told}))
        else:
            self.wfile.write(f"id: {cursor}\ndata: {_data(told)}\n\n".encode("ascii"))

    # Who is asking ---------------------------------------------------------------------------

    def _welcome(self) -> bool:
        if self.app.hosts is None or self.headers.get("Host", "").lower() in self.app.hosts:
            return True
        self.close_connection = True
        self._say(421, "this server answers to 127.0.0.1 and localhost only")
        return False

    def _foreign(self) -> bool:
        """True when the request comes from a page of another site."""
        origin = self.headers.get("Origin")
        return origin is not None and urlsplit(origin).netloc.lower() != self.headers.get("Host", "").lower()

    def _trusted(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.app.token.encode())

    # Answering -------------------------------------------------------------------------------

    def _say(self, code: int, text: str) -> None:
        self._answer(code, json.dumps({"error": text}).encode(), "application/json")

    def _answer(self, code: int, body: bytes, kind: str) -> None:
        self.send_response(code)
        self._headers(kind)
        if self.unread and self._has_body():  # on a kept connection it would be taken for the next request
            self.close_connection = True
            self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _has_body(self) -> bool:
        return "Transfer-Encoding" in self.headers or self.headers.get("Content-Length", "0").strip() != "0"

    def _headers(self, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
