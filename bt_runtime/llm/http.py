"""JSON over HTTP with the standard library: one call at a time per job, cut off when the job is cancelled."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import threading
import weakref
from typing import Any
from urllib.parse import urlsplit

from bt_runtime.diagnose import BtError

KEY_VARIABLE = "BTR_MODEL_KEY"  # sent as a bearer token when set; never written anywhere
_LARGEST = 256 * 1024 * 1024


class Unanswered(Exception):
    """No usable answer. `status` is None when nobody was there."""

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status


class Server:
    def __init__(self, address: str, timeout: float) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BtError(f"{address!r} is not an address", "http://HOST:PORT, as in http://localhost:8080")
        self.address = address.rstrip("/").removesuffix("/v1")
        self.timeout = timeout
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._base = urlsplit(self.address).path
        self._calls: weakref.WeakSet[Call] = weakref.WeakSet()

    def call(self) -> Call:
        call = Call(self)
        self._calls.add(call)
        return call

    def connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=self.timeout)

    def path(self, path: str) -> str:
        return self._base + path

    def close(self) -> None:
        for call in list(self._calls):
            call.cut()


class Call:
    """A connection of a job's own, kept between its requests."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._cut = False

    def send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY_VARIABLE):
            headers["Authorization"] = f"Bearer {key}"
        status, raw = self._exchange(method, self.server.path(path), data, headers)
        if status != 200:
            raise Unanswered(f"{path} answered {status}: {raw[:300].decode('utf-8', 'replace')}", status)
        try:
            said = json.loads(raw)
        except ValueError as fault:
            raise Unanswered(f"{path} answered no JSON: {raw[:100]!r}", status) from fault
        if not isinstance(said, dict):
            raise Unanswered(f"{path} answered {type(said).__name__}, not an object", status)
        return said

    def _exchange(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        for fresh in (False, True):  # a kept connection may have been closed by the server meanwhile
            connection = self._connect(fresh)
            try:
                connection.request(method, path, data, headers)
                reply = connection.getresponse()
                raw = reply.read(_LARGEST)
                if reply.will_close:
                    connection.close()
                return reply.status, raw
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as fault:
                connection.close()
                if fresh or self._cut:
                    raise Unanswered(f"the connection was lost ({fault})") from fault
            except TimeoutError as fault:
                connection.close()
                raise Unanswered(f"no answer within {self.server.timeout:g} s", 0) from fault
            except (OSError, http.client.HTTPException) as fault:
                connection.close()
                raise Unanswered(str(fault) or type(fault).__name__) from fault
        raise AssertionError("the second try returns or raises")

    def _connect(self, fresh: bool) -> http.client.HTTPConnection:
        with self._lock:
            if self._cut:
                raise Unanswered("cancelled")
            if self._connection is None or fresh:
                self._connection = self.server.connect()
            return self._connection

    def cut(self) -> None:
        """End whatever is under way; the server sees that nobody listens any more."""
        with self._lock:
            self._cut = True
            sock = self._connection.sock if self._connection else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        if self._connection is not None:
            self._connection.close()
