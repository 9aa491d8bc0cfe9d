"""The connection to one server: opened when a call needs it, opened again with a growing delay after it broke.

Everything here runs in the event loop of `pool.py`, and nothing in a tick."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from bt_author.mcp.leaf.config import ServerConfig
from bt_author.mcp.leaf.pipe import Pipe, piped
from bt_runtime._version import __version__
from bt_runtime.language.faults.diagnostic import BtError

# A server behind an address: streamable HTTP of the SDK, with bounded answers.

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


FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0  # seconds between two attempts to start
STEADY = 60.0  # seconds after which a server that broke counts as sound before
MOST_TOOLS = 500
MOST_PAGES = 20  # pages of a list of tools
MOST_QUESTIONS = 5  # questions of a server during one call
SLOW = "give it more time in btr.yaml: `timeout:` for a call, `start:` until it is ready"
LOOK = "start its command by hand, and look at what it says"
TOLD = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")  # an agent is shown these
Elicit = Callable[[str, Any], Awaitable[tuple[str, Mapping[str, Any]]]]  # message, form → action, content


class Progress(Protocol):
    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


def digest(tool: types.Tool) -> str:
    """Sixteen digits that change with anything that a server says of a tool."""
    said = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    told = {key: said.get(key) for key in TOLD}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


class Link:
    """One server of a run."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.lock = asyncio.Lock()
        self.client: Client | None = None
        self.owner: asyncio.Task[None] | None = None
        self.opened: asyncio.Future[Client] | None = None
        self.closing = asyncio.Event()
        self.tools: dict[str, types.Tool] = {}
        self.allowed: dict[str, str] = {}  # tool → its digest when it was first used in this run
        self.stale = False  # the server said that its tools have changed
        self.delay, self.next, self.began = 0.0, 0.0, 0.0
        self.elicit: Elicit | None = None  # asks the person, for the call that has waited longest
        self.pipe: Pipe | None = None

    # Calls -----------------------------------------------------------------------------------

    async def call(
        self, tool: str, given: dict[str, Any], seen: str, timeout: float, progress: Progress, elicit: Elicit
    ) -> types.CallToolResult:
        """Calls a tool. Raises BtError in words for whatever goes wrong."""
        client = await self.ready()
        if self.stale:
            await self._list(client)
        self._as_allowed(tool, seen)
        before, self.elicit = self.elicit, self.elicit or elicit
        try:
            return await asyncio.wait_for(client.call_tool(tool, given, timeout, progress), timeout)
        except TimeoutError:
            raise BtError(f"`{tool}` of {self.config.name} has not answered within {timeout:g} s", SLOW) from None
        except MCPError as error:
            raise BtError(self._words(tool, str(error)), LOOK) from None
        except (OSError, RuntimeError, ValueError) as error:
            raise BtError(self._words(tool, f"{type(error).__name__}: {error}"), LOOK) from None
        finally:
            self.elicit = before

    def _words(self, tool: str, said: str) -> str:
        if self.pipe is not None and self.pipe.why:
            return f"the server `{self.config.name}` has gone: {self.pipe.why}{self.pipe.said()}"
        return f"`{tool}` of {self.config.name}: {said[:1000]}"

    def _as_allowed(self, name: str, seen: str) -> None:
        """Raises for a tool that is not there, is not allowed, or says something else than when it was allowed."""
        if not self.config.allows(name):
            raise BtError(f"the tool `{name}` of {self.config.name} is not among its allowed `tools:`", "see btr.yaml")
        tool = self.tools.get(name)
        if tool is None:
            raise BtError(f"the server `{self.config.name}` has no tool `{name}`", "btr import mcp shows what it has")
        now = digest(tool)
        if now != self.allowed.setdefault(name, seen or now):
            raise BtError(
                f"the tool `{name}` of {self.config.name} has changed its description since it was allowed",
                f"look at it: btr import mcp {self.config.name}",
            )

    # The connection --------------------------------------------------------------------------

    async def ready(self) -> Client:
        """The session, started if it is not there."""
        async with self.lock:
            if self.client is not None and not self._broken():
                return self.client
            await self._end()
            wait = self.next - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            return await self._start()

    def _broken(self) -> bool:
        return self.owner is None or self.owner.done() or (self.pipe is not None and bool(self.pipe.why))

    async def _start(self) -> Client:
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        opened.add_done_callback(lambda done: done.cancelled() or done.exception())  # told to whoever waits
        self.closing = asyncio.Event()
        self.began = time.monotonic()
        self.opened = opened
        self.owner = asyncio.create_task(self._own(opened))
        try:
            self.client = await asyncio.wait_for(asyncio.shield(opened), self.config.start)
            return self.client
        except TimeoutError:
            self._later()
            await self._end()
            raise BtError(
                f"the server `{self.config.name}` was not ready within {self.config.start:g} s", SLOW
            ) from None
        except BtError:
            self._later()
            raise

    def _later(self) -> None:
        """The next attempt is made after a longer delay, unless the server was up for a while."""
        steady = time.monotonic() - self.began > STEADY
        self.delay = FIRST_DELAY if steady or not self.delay else min(self.delay * 2, LONGEST_DELAY)
        self.next = time.monotonic() + self.delay

    async def _own(self, opened: asyncio.Future[Client]) -> None:
        """Holds the session open in one task, as the SDK wants it, until it is closed or broken."""
        try:
            async with AsyncExitStack() as stack:
                if self.pipe is not None:
                    self.pipe.end()
                self.pipe = Pipe(self.config) if self.config.command else None
                streams = piped(self.pipe) if self.pipe is not None else web(self.config)
                client = await stack.enter_async_context(
                    Client(
                        streams,
                        elicitation_callback=self._asked,
                        message_handler=self._heard,
                        cache=None,
                        client_info=types.Implementation(name="bt_runtime", version=__version__),
                        input_required_max_rounds=MOST_QUESTIONS,
                    )
                )
                await self._list(client)
                opened.set_result(client)
                await self.closing.wait()
        except BaseException as error:
            if not opened.done():
                opened.set_exception(self._why_not(error))
            if not isinstance(error, Exception | BaseExceptionGroup):
                raise
        finally:
            self.client = None

    def _why_not(self, error: BaseException) -> BtError:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, BtError):
            return error
        pipe = self.pipe
        said = pipe.why if pipe is not None and pipe.why else f"{type(error).__name__}: {error}"
        last = pipe.said() if pipe is not None else ""
        return BtError(f"the server `{self.config.name}` does not start: {said[:500]}{last}", LOOK)

    async def _list(self, client: Client) -> None:
        self.stale = False
        found: dict[str, types.Tool] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found |= {tool.name: tool for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or len(found) > MOST_TOOLS:
                break
        if len(found) > MOST_TOOLS or cursor is not None:
            raise BtError(
                f"the server `{self.config.name}` has more than {MOST_TOOLS} tools",
                "list those that you want under `tools:`",
            )
        self.tools = found

    async def _end(self) -> None:
        """Ends the session and its process; an error of it has been told."""
        owner, self.owner, self.client = self.owner, None, None
        if owner is None:
            return
        if self.pipe is not None and self.pipe.why:
            self._later()
        self.closing.set()
        if self.opened is not None and not self.opened.done():
            owner.cancel()  # it is not ready yet, and hears of nothing else
        done, _ = await asyncio.wait({owner}, timeout=5.0)
        if not done:
            owner.cancel()
            await asyncio.wait({owner}, timeout=5.0)

    async def close(self) -> None:
        async with self.lock:
            await self._end()

    # What the server says by itself --------------------------------------------------------------

    async def _heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True

    async def _asked(self, context: Any, params: Any) -> types.ElicitResult:
        if self.elicit is None:
            return types.ElicitResult(action="cancel")
        action, content = await self.elicit(str(params.message), getattr(params, "requested_schema", None))
        return types.ElicitResult(action=action, content=dict(content) or None)  # type: ignore[arg-type]
