"""A server behind pipes: JSON lines of bounded length, in a process group of its own that ends with the connection."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from bt_author.mcp.leaf.config import ServerConfig
from bt_runtime.language.project import child

PATIENCE = 1.0  # seconds that a server has to end by itself once its input is closed
LAST = 2_000  # bytes of standard error that are kept
NOISE = 20  # lines on standard output that are no messages, such as a banner
WAITING = 64  # messages between the pipe and the session


class Pipe:
    """The process of a server. `why` says how its connection ended."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.errors = b""
        self.why = ""
        self.process: subprocess.Popen[bytes] | None = None

    def open(self) -> subprocess.Popen[bytes]:
        config = self.config
        env = {**get_default_environment(), **config.secrets(config.env)}
        ours = child.environment()
        env |= {name: ours[name] for name in ("PYTHONPATH", "PYTHONSAFEPATH")}
        words = child.python("bt_runtime.language.project.guarded", *config.command)
        pipe = subprocess.PIPE
        self.process = child.start(
            words, env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, cwd=config.root
        )
        return self.process

    def end(self, patience: float = 0.0) -> None:
        """Ends the process with its group; may be called again."""
        if self.process is not None and self.process.returncode is None:
            child.end(self.process, patience, True)

    def said(self) -> str:
        """The end of its standard error, on one line."""
        line = child.last_line(self.errors)
        return f": {line[-300:]}" if line else ""


@asynccontextmanager
async def piped(pipe: Pipe) -> AsyncIterator[Any]:
    """The streams of a server that is started now. On the way out its whole process group is ended."""
    process = await asyncio.to_thread(pipe.open)
    loop = asyncio.get_running_loop()
    out = asyncio.StreamReader(limit=pipe.config.most, loop=loop)
    errors = asyncio.StreamReader(limit=LAST, loop=loop)
    protocols = [(out, process.stdout), (errors, process.stderr)]
    transports = [
        (await loop.connect_read_pipe(lambda reader=reader: asyncio.StreamReaderProtocol(reader), file))[0]  # type: ignore[misc]
        for reader, file in protocols
    ]
    input, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    writer = asyncio.StreamWriter(input, flow, None, loop)
    incoming, reads = anyio.create_memory_object_stream[SessionMessage | Exception](WAITING)
    writes, outgoing = anyio.create_memory_object_stream[SessionMessage](WAITING)
    tasks = [
        loop.create_task(_read(pipe, out, incoming)), loop.create_task(_write(outgoing, writer)),
        loop.create_task(_listen(pipe, errors)),
    ]  # fmt: skip
    try:
        yield reads, writes
    finally:
        for task in tasks:
            task.cancel()
        for stream in (incoming, reads, writes, outgoing):
            stream.close()
        input.abort()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(pipe.end, PATIENCE)
        for transport in transports:
            transport.close()


async def _read(pipe: Pipe, out: asyncio.StreamReader, incoming: Any) -> None:
    """Parses lines until the server ends, or sends one that is too long or no message."""
    noise = 0
    try:
        while True:
            try:
                line = await out.readuntil(b"\n")
            except asyncio.LimitOverrunError:
                pipe.why = f"it sent a message of more than {pipe.config.most:,} bytes"
                return
            except asyncio.IncompleteReadError:
                pipe.why = "it has ended"
                return
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                noise += 1
                if noise > NOISE:
                    pipe.why = "it sends what is no message of the protocol"
                    return
                continue
            await incoming.send(SessionMessage(message))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        pipe.why = pipe.why or "its pipe is broken"
    finally:
        incoming.close()


async def _write(outgoing: Any, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, anyio.ClosedResourceError, RuntimeError):
        async for item in outgoing:
            data = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            writer.write(data.encode() + b"\n")
            await writer.drain()


async def _listen(pipe: Pipe, errors: asyncio.StreamReader) -> None:
    while data := await errors.read(4096):
        pipe.errors = (pipe.errors + data)[-LAST:]
