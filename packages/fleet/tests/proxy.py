"""A TCP proxy whose connections can be cut: the network between one robot and the server."""

from __future__ import annotations

import asyncio


class Proxy:
    """Listens on a free port of this machine. `cut` closes all sockets and takes no new ones until `mend`."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.port = 0
        self.whole = True
        self._pipes: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> Proxy:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.whole:
            writer.transport.abort()
            return
        try:
            onward, back = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.transport.abort()
            return
        if not self.whole:  # cut in the meantime
            writer.transport.abort()
            back.transport.abort()
            return
        self._writers |= {writer, back}
        for source, sink in ((reader, back), (onward, writer)):
            pipe = asyncio.create_task(self._pipe(source, sink))
            self._pipes.add(pipe)
            pipe.add_done_callback(self._pipes.discard)

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.transport.abort()
            self._writers.discard(sink)

    @property
    def connections(self) -> int:
        """The number of sockets that are open, of both ends."""
        return len(self._writers)

    def cut(self) -> None:
        self.whole = False
        for writer in list(self._writers):
            writer.transport.abort()

    def mend(self) -> None:
        self.whole = True

    async def close(self) -> None:
        self.cut()
        self._server.close()
        await asyncio.gather(*self._pipes, return_exceptions=True)
        await asyncio.sleep(0)  # the transports' own last step
