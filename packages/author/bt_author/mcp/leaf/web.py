"""A server behind an address: streamable HTTP of the SDK, with bounded answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from bt_author.mcp.leaf.config import ServerConfig

CONNECT = 10.0  # seconds
STREAM = "text/event-stream"  # whose events the SDK bounds one by one


class _Bounded(httpx2.AsyncByteStream):
    """A body that raises once it has more than so many bytes."""

    def __init__(self, inner: Any, most: int) -> None:
        self.inner, self.most = inner, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.inner:
            size += len(piece)
            if size > self.most:
                raise httpx2.ReadError(f"it sent more than {self.most:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self.inner.aclose()


class _Transport(httpx2.AsyncHTTPTransport):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    async def handle_async_request(self, request: Any) -> Any:
        response = await super().handle_async_request(request)
        if not response.headers.get("content-type", "").startswith(STREAM):
            response.stream = _Bounded(response.stream, self.most)
        return response


@asynccontextmanager
async def web(config: ServerConfig) -> AsyncIterator[Any]:
    """The streams of a server at an address."""
    timeout = httpx2.Timeout(CONNECT, read=max(config.timeout, CONNECT))
    headers = config.secrets(config.headers)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=_Transport(config.most)) as client,
        streamable_http_client(config.url, http_client=client, max_sse_event_size=config.most) as streams,
    ):
        yield streams
