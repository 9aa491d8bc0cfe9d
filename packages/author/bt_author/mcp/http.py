"""Serves `btr serve mcp` over streamable HTTP: on this machine only, with a token, closed to pages of other sites."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from mcp.server import Server

from bt_runtime.language.project.address import is_loopback, is_named_so

PATH = "/mcp"
MOST_BODY = 1_000_000  # bytes of one request
MOST_SESSIONS = 64
IDLE = 1_800.0  # seconds after which a silent session ends
MOST_CONNECTIONS = 64
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Gate:
    """Lets a request in only with the token, by a loopback name, and from no page of another site."""

    def __init__(self, app: App, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await _refuse(send, *refusal)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Returns the status and the text of a refusal; None for an allowed request."""
        if scope["type"] != "http":
            return 400, "only HTTP is spoken here"
        listed = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = dict(listed)
        if len([name for name, _ in listed if name in ("host", "origin", "authorization")]) != len(
            {name for name, _ in listed if name in ("host", "origin", "authorization")}
        ):
            return 400, "a header is there twice"
        if not is_named_so(headers.get("host", "")):
            return 421, "this server answers to 127.0.0.1 and localhost only"
        if foreign(headers.get("origin")):
            return 403, "pages of other sites are not let in"
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self.token.encode()):
            return 401, "the token is missing or wrong"
        if scope["path"].rstrip("/") != PATH:
            return 404, f"there is nothing here but {PATH}"
        return None


def foreign(origin: str | None) -> bool:
    """True when the request comes from a page that this machine does not serve."""
    if origin is None:
        return False
    try:
        return not is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return True


async def _refuse(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()),
               (b"connection", b"close"), (b"cache-control", b"no-store")]  # fmt: skip
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def app(server: Server[Any], token: str) -> App:
    """Returns the ASGI application with its access check."""
    inner: Any = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=MOST_BODY, session_idle_timeout=IDLE,
        max_sessions=MOST_SESSIONS,
    )  # fmt: skip
    return Gate(inner, token)


async def over_http(server: Server[Any], host: str, port: int, token: str, told: Callable[[int], object]) -> None:
    """Serves until the process is interrupted. `told` is called with the port."""
    import socket

    import uvicorn

    from bt_author.mcp.connection import Connection

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(MOST_CONNECTIONS)
    told(int(listener.getsockname()[1]))
    config = uvicorn.Config(
        app(server, token), log_level="error", access_log=False, limit_concurrency=MOST_CONNECTIONS, lifespan="on",
        timeout_graceful_shutdown=2, server_header=False, http=Connection,
    )  # fmt: skip
    await uvicorn.Server(config).serve(sockets=[listener])
