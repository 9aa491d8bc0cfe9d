"""JSON over HTTP with the standard library: one call at a time per job, cut off when the job is cancelled.

A server may be slow, endless or hostile: every exchange has a time for all of it, from the connection to the last byte,
and a size for all that comes, headers and trailers included.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import socket
import threading
import time
import weakref
from typing import Any

from bt_runtime.language.faults.format import visible
from bt_runtime.llm.server import address as addresses
from bt_runtime.llm.server.answer import Unanswered, parsed
from bt_runtime.llm.server.key import FOR_VARIABLE, KEY_VARIABLE, key_for, withheld
from bt_runtime.llm.server.retry import BUSY, asked_for

CONNECT = 10.0  # seconds until somebody answers at all
LARGEST = 16 << 20  # bytes of one answer, with everything around it
SAID = 300  # characters of a server's words in a fault
_CHUNK = 1 << 16


class HttpServer:
    """A server and its limits. `timeout`: seconds for one whole exchange. `key`: its API key; None takes the
    environment's, if meant for this address."""

    def __init__(self, address: str, timeout: float, key: str | None = None) -> None:
        self._at = addresses.parse(address)
        self.address, self.timeout = self._at.text, timeout
        self.key = key_for(self._at, key)
        self._lock = threading.Lock()
        self._calls: weakref.WeakSet[Call] = weakref.WeakSet()
        self._closed = False
        self.requests = self.bytes = 0  # answered so far; bytes of questions and answers

    def count(self, size: int) -> None:
        """Counts one exchange."""
        with self._lock:
            self.requests += 1
            self.bytes += size

    def call(self) -> Call:
        call = Call(self)
        with self._lock:
            self._calls.add(call)
            closed = self._closed
        if closed:
            call.cut()
        return call

    def connect(self, watch: ExchangeWatch) -> http.client.HTTPConnection:
        kind = _Tls if self._at.secure else _Plain
        return kind(self._at.host, self._at.port, watch)

    def path(self, path: str) -> str:
        return self._at.base + path

    def quoted(self, text: str, most: int = SAID) -> str:
        """Returns a server's text in a form safe to show: without the key, and without terminal control characters."""
        clean = visible(self.key.blotted(text[: 4 * _CHUNK]))
        return clean if len(clean) <= most else f"{clean[: most - 1]}…"

    def way_out(self, status: int | None) -> str:
        if status in (401, 403) and withheld(self.key):
            return f"{KEY_VARIABLE} was not sent; if it is for this server, say so: {FOR_VARIABLE}={self.address}"
        if status in BUSY:
            return "it is busy, or still loads its model: wait, or let fewer agents ask at once (--jobs)"
        return "is the server up, and is this its address?"

    def close(self) -> None:
        with self._lock:
            self._closed = True
            calls = list(self._calls)
        for call in calls:
            call.cut()


class ExchangeWatch:
    """The remaining time and bytes of one exchange."""

    def __init__(self) -> None:
        self.given, self.until, self.bytes = 0.0, 0.0, 0

    def begin(self, seconds: float) -> None:
        self.given, self.until, self.bytes = round(seconds, 1), time.monotonic() + seconds, LARGEST

    def left(self, most: float = float("inf")) -> float:
        left = min(most, self.until - time.monotonic())
        if left <= 0:
            raise TimeoutError
        return left


class Call:
    """The HTTP connection of one job, reused for its requests."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self._lock = threading.Lock()
        self._watch = ExchangeWatch()
        self._connection: http.client.HTTPConnection | None = None
        self._cut = False

    def send(
        self, method: str, path: str, body: dict[str, Any] | None, seconds: float, several: bool = False
    ) -> dict[str, Any]:
        """Sends one request. `seconds`: the caller's remaining time, limited by the server's timeout. `several`: see
        `parsed`."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if self.server.key:
            headers["Authorization"] = self.server.key.header
        self._watch.begin(min(self.server.timeout, seconds))
        status, raw, after = self._exchange(method, self.server.path(path), data, headers)
        self.server.count(len(data or b"") + len(raw))
        quoted = self.server.quoted
        if status != 200:
            said = quoted(raw[:_CHUNK].decode("utf-8", "replace"))
            raise Unanswered(f"{path} answered {status}: {said}", status, again=status in BUSY, after=after)
        try:
            return parsed(raw, several)
        except ValueError as fault:
            said = quoted(raw[:_CHUNK].decode("utf-8", "replace"), 100)
            raise Unanswered(f"{path} answered {fault}: {said}", status) from None

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, float | None]:
        for fresh in (False, True):  # a kept connection may have been closed by the server meanwhile
            connection = self._connect(fresh)
            reply = None
            try:
                connection.request(method, path, data, headers)
                reply = connection.getresponse()
                raw = reply.read(LARGEST + 1)
                if len(raw) > LARGEST:
                    raise TooMuch
                if reply.length:
                    raise _Cut(f"{path} answered only a part: {reply.length} bytes are missing")
                if reply.will_close:
                    connection.close()
                return reply.status, raw, asked_for(reply.headers["Retry-After"], reply.headers["Date"])
            except TooMuch:
                connection.close()
                raise Unanswered(f"{path} answered more than {LARGEST >> 20} MB", 0) from None
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as fault:
                connection.close()
                if fresh or self._cut:
                    said = self.server.quoted(str(fault))
                    raise Unanswered(f"the connection was lost ({said})", again=not self._cut) from None
            except TimeoutError:
                there = connection.sock is not None or reply is not None
                connection.close()
                raise Unanswered(f"no answer within {self._watch.given:g} s", 0 if there else None) from None
            except (OSError, http.client.HTTPException, ValueError) as fault:
                connection.close()
                again = isinstance(fault, _Cut | http.client.IncompleteRead)
                raise Unanswered(self.server.quoted(str(fault)) or type(fault).__name__, again=again) from None
        raise AssertionError("the second try returns or raises")

    def _connect(self, fresh: bool) -> http.client.HTTPConnection:
        with self._lock:
            if self._cut:
                raise Unanswered("cancelled")
            if self._connection is None or fresh:
                self._connection = self.server.connect(self._watch)
            return self._connection

    def cut(self) -> None:
        """Closes the running request's connection, which tells the server to stop."""
        with self._lock:
            self._cut = True
            self._watch.until = 0.0
            sock = self._connection.sock if self._connection else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the connection, once the job sends no more requests."""
        if self._connection is not None:
            self._connection.close()


# The standard library's connection, held to a watch ---------------------------------------------


class _Cut(http.client.HTTPException):
    """Raised when an answer is incomplete."""


class TooMuch(Exception):
    """Raised for an answer with more bytes than allowed."""


class _Plain(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, watch: ExchangeWatch) -> None:
        super().__init__(host, port)
        self.watch = watch
        self.response_class = self._response  # type: ignore[assignment]

    def connect(self) -> None:
        self.timeout = self.watch.left(CONNECT)
        super().connect()

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        for start in range(0, len(data), _CHUNK):  # one call of a TLS socket has a time of its own
            self.sock.settimeout(self.watch.left())
            self.sock.sendall(data[start : start + _CHUNK])

    def _response(self, sock: socket.socket, *args: Any, **kwargs: Any) -> http.client.HTTPResponse:
        source: Any = _Source(sock, self.watch)
        return http.client.HTTPResponse(source, *args, **kwargs)


class _Tls(_Plain, http.client.HTTPSConnection):
    pass


class _Source:
    """A socket with the methods that a response reads with."""

    def __init__(self, sock: socket.socket, watch: ExchangeWatch) -> None:
        self.sock, self.watch = sock, watch

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Watched(self.sock, self.watch), _CHUNK)


class _Watched(io.RawIOBase):
    def __init__(self, sock: socket.socket, watch: ExchangeWatch) -> None:
        super().__init__()
        self._sock, self._watch = sock, watch
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open until the answer is read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._watch.bytes <= 0:
            raise TooMuch
        self._sock.settimeout(self._watch.left())
        size = self._file.readinto(buffer)
        self._watch.bytes -= size or 0
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
