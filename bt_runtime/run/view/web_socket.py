"""The server's side of a WebSocket (RFC 6455), as far as a page needs it that listens and never says anything."""

from __future__ import annotations

import base64
import hashlib
import socket
import struct

MOST_HEARD = 4096  # bytes that a page may have sent when we look: it only answers pings, and closes
REFUSED = 4000  # plus the status that HTTP would have: a browser shows a page the code of a close, and no other status
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
_TEXT, _CLOSE, _PING = 0x1, 0x8, 0x9


def accepted(key: str) -> str:
    """Returns the header `Sec-WebSocket-Accept` for a client's `Sec-WebSocket-Key`."""
    return base64.b64encode(hashlib.sha1(key.encode("latin-1") + _KEY).digest()).decode()


class WebSocket:
    """A connection after its handshake. Each method raises an OSError when the page has gone."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, text: str) -> None:
        self._look()
        self._frame(_TEXT, text.encode())

    def ping(self) -> None:
        self._look()
        self._frame(_PING, b"")

    def close(self, code: int = 1000, why: str = "") -> None:
        self._frame(_CLOSE, struct.pack(">H", code) + why.encode()[:120])

    def _frame(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        head = struct.pack(">BB", 0x80 | opcode, size) if size < 126 else (
            struct.pack(">BBH", 0x80 | opcode, 126, size) if size < 1 << 16
            else struct.pack(">BBQ", 0x80 | opcode, 127, size)
        )  # fmt: skip
        self.connection.sendall(head + payload)

    def _look(self) -> None:
        """Takes in what the page has sent, without waiting. Raises when that is a close, the end, or too much."""
        patience = self.connection.gettimeout()
        self.connection.settimeout(0)
        try:
            heard = self.connection.recv(MOST_HEARD)
        except BlockingIOError:
            return
        finally:
            self.connection.settimeout(patience)
        while heard:
            opcode, size = heard[0] & 0x0F, heard[1] & 0x7F if len(heard) > 1 else 126
            if opcode == _CLOSE or size > 125:
                break
            heard = heard[6 + size :]  # two bytes of head, and the four of the mask that each frame of a client has
            if not heard:
                return
        raise ConnectionAbortedError("the page has closed its WebSocket")
