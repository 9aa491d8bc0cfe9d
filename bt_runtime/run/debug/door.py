"""The debugger's socket for other processes: a Unix socket for this user only, with bounded JSON lines. Its own thread
reads and replies; the tick only queues short texts, and never waits."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from bt_runtime.events import Debugged, Ended
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system
from bt_runtime.run.debug.commands import LOOKING, MOST_LINE, do, status
from bt_runtime.run.debug.debugger import debugger_of, debugging
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.run.debug.debugger import Debugger
    from bt_runtime.run.debug.pause import Then
    from bt_runtime.run.run import Run

SUFFIX = ".debug"
MOST_CLIENTS = 4
MOST_WAITING = 1_000_000  # bytes that a client leaves unread before it is shown out
MOST_PATH = 100  # bytes of a socket's path; systems take about 104
GAP = 0.002  # seconds between two commands of all clients: however many come, ticks have their turn
LAST_WORDS = 0.2  # seconds for what clients have not read yet at the end
WAIT = 2.0  # seconds that `close` waits for the thread, which may wait for a node that holds a tick


def folder() -> Path:
    """The folder of this user's sockets."""
    if not hasattr(socket, "AF_UNIX"):
        raise BtError("this system has no Unix sockets", "use the page: `btr run --view`")
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "btr" if base and Path(base).is_dir() else Path(gettempdir()) / f"btr-{system.user()}"


def made(place: Path) -> Path:
    """Creates the folder with access for this user only; a folder that another user owns is refused."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = place.lstat()
    if about.st_uid != system.user() or about.st_mode & 0o077 or not place.is_dir() or place.is_symlink():
        raise BtError(f"{place} is not this user's alone", "remove it, or set XDG_RUNTIME_DIR")
    return place


class Door:
    """Open until `close`. When the last client disconnects, a pause ends."""

    def __init__(
        self, run: Run, name: str, place: Path | None = None, limit: float | None = None, then: Then | None = None
    ) -> None:
        self.run, self.limit, self.then = run, limit, then
        self.mine = False  # this door made the run's debugger
        self.path = made(place or folder()) / f"{name}{SUFFIX}"
        if len(os.fsencode(self.path)) > MOST_PATH:
            raise BtError(f"{self.path} is too long for a socket", "set XDG_RUNTIME_DIR to a shorter folder")
        self.clients: set[asyncio.StreamWriter] = set()
        self.set: set[int] = set()  # breakpoints of clients
        self.used = False  # a connected client has stepped or continued the run
        self.over = asyncio.Event()
        listener = self._listener()
        self.runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.loop = self.runner.get_loop()
        self.unhear = run.listen(self._heard, Debugged, Ended)
        self.thread = threading.Thread(target=self._work, args=(listener,), name="bt-debug", daemon=True)
        self.thread.start()

    @property
    def debugger(self) -> Debugger:
        """Returns the run's debugger; the first client's command makes it."""
        if (debugger := debugging(self.run)) is None or debugger.closed:
            debugger_of(self.run).pause_of.author(self.limit, self.then)
            debugger_of(self.run).look()
            self.mine = True
        return debugger_of(self.run)

    def _listener(self) -> socket.socket:
        self.path.unlink(missing_ok=True)  # a killed process left it: run names are unique
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.bind(str(self.path))
            self.path.chmod(0o600)
            made.listen(MOST_CLIENTS)
        except OSError as error:
            made.close()
            raise BtError(f"{self.path} cannot be opened: {error.strerror}", "nobody can attach to this run") from error
        return made

    def close(self) -> None:
        self.unhear()
        self._soon(self.over.set)
        self.thread.join(WAIT)

    def _soon(self, call: Callable[..., object], *given: object) -> None:
        with suppress(RuntimeError):  # the thread has ended
            self.loop.call_soon_threadsafe(call, *given)

    # In the thread that ticks ----------------------------------------------------------------

    def _heard(self, event: Debugged | Ended) -> None:
        if isinstance(event, Ended):
            told = {"news": "ended", "path": "", "text": f"the run has ended: {event.status.name}"}
        else:
            told = {"news": event.what, "path": event.path, "text": event.text}
        self._soon(self._tell, told)

    # In its own ------------------------------------------------------------------------------

    def _work(self, listener: socket.socket) -> None:
        with self.runner:
            self.runner.run(self._serve(listener))
        self.path.unlink(missing_ok=True)

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_unix_server(self._client, sock=listener, limit=MOST_LINE)
        await self.over.wait()
        server.close()
        for writer in list(self.clients):
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await writer.wait_closed()
            writer.transport.abort()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.clients) >= MOST_CLIENTS:
            self._say(writer, {"error": "others are attached already"})
            writer.close()
            return
        self.clients.add(writer)
        try:
            self._say(writer, {"news": "attached", "path": "", "text": "", "status": status(self.debugger)})
            while (line := await reader.readline()).endswith(b"\n") and not writer.is_closing():
                if line.strip():
                    self._say(writer, self._done(line))
                await asyncio.sleep(0)  # the others have their turn
        except ValueError:
            self._say(writer, {"error": f"a line has at most {MOST_LINE:,} bytes"})
        except (OSError, BtError):  # it has gone, or the run was just closed
            pass
        finally:
            writer.close()
            self._gone(writer)

    def _say(self, writer: asyncio.StreamWriter, told: dict[str, Json]) -> None:
        writer.write(json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        if writer.transport.get_write_buffer_size() > MOST_WAITING:
            writer.transport.abort()

    def _tell(self, told: dict[str, Json]) -> None:
        for writer in self.clients:
            self._say(writer, told)

    def _done(self, line: bytes) -> dict[str, Json]:
        try:
            asked = json.loads(line)
            name, given = asked.pop("do"), asked
            if not isinstance(name, str):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {"error": 'a command looks like {"do": "step"}', "hint": ""}
        before = {point.number for point in self.debugger.breakpoints}
        try:
            time.sleep(GAP)
            self.used = self.used or name not in LOOKING
            return {"done": name, "answer": do(self.debugger, name, given)}
        except BtError as error:
            return {"error": error.message, "hint": error.hint}
        except Exception as error:  # whatever a client says, the run is none the worse for it
            return {"error": f"{name[:40]}: {type(error).__name__}: {error}"[:1000], "hint": ""}
        finally:
            self.set |= {point.number for point in self.debugger.breakpoints} - before

    def _gone(self, writer: asyncio.StreamWriter) -> None:
        self.clients.discard(writer)
        if self.clients or self.over.is_set():
            return
        if self.used:
            with suppress(BtError):  # the run may just have been closed
                self.debugger.leave(self.set)
            self.set, self.used = set(), False
        if self.mine and not self.debugger.busy:
            with suppress(BtError):
                self.debugger.close()
            self.mine = False
