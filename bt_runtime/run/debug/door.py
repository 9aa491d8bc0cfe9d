"""The debugger's socket for other processes: a Unix socket for this user only, with bounded JSON lines. Its own thread
reads and replies; the tick only queues short texts, and never waits."""

from __future__ import annotations

import json
import os
import selectors
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Protocol

from bt_runtime.events import Debugged, Ended, EventType, Listener
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system
from bt_runtime.run.debug.commands import LOOKING, MOST_LINE, do, status
from bt_runtime.run.debug.debuggable import Debuggable
from bt_runtime.run.debug.debugger import debugger_of, debugging
from bt_runtime.types import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from bt_runtime.run.debug.debugger import Debugger
    from bt_runtime.run.debug.pause import Then

SUFFIX = ".debug"
MOST_CLIENTS = 4
MOST_WAITING = 1_000_000  # bytes that a client leaves unread before it is shown out
MOST_COMMANDS = 32  # commands taken from one client before the others have their turn
MOST_NEWS = 256  # news that wait for the thread; older ones are dropped
MOST_PATH = 100  # bytes of a socket's path; systems take about 104
GAP = 0.002  # seconds between two commands of all clients: however many come, ticks have their turn
WAIT = 1.0  # seconds of silence, between two looks at whether it is over


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


class Attachable(Debuggable, Protocol):
    """A run as the door needs it: one that can be debugged and listened to."""

    def listen(self, callback: Listener, *kinds: EventType) -> Callable[[], None]: ...


class Client:
    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.incoming, self.outgoing = b"", b""

    def say(self, told: dict[str, Json]) -> None:
        self.outgoing += json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


class Door:
    """Open until `close`. When the last client disconnects, a pause ends."""

    def __init__(
        self,
        run: Attachable,
        name: str,
        place: Path | None = None,
        limit: float | None = None,
        then: Then | None = None,
    ) -> None:
        self.run, self.limit, self.then = run, limit, then
        self.mine = False  # this door made the run's debugger
        self.path = made(place or folder()) / f"{name}{SUFFIX}"
        if len(os.fsencode(self.path)) > MOST_PATH:
            raise BtError(f"{self.path} is too long for a socket", "set XDG_RUNTIME_DIR to a shorter folder")
        self.clients: dict[socket.socket, Client] = {}
        self.news: deque[dict[str, Json]] = deque(maxlen=MOST_NEWS)
        self.over = False
        self.set: set[int] = set()  # breakpoints of clients
        self.used = False  # a connected client has stepped or continued the run
        self.listener = self._listener()
        self.bell, self.rung = socket.socketpair()
        for end in (self.bell, self.rung, self.listener):
            end.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(self.rung, selectors.EVENT_READ)
        self.unhear = run.listen(self._heard, Debugged, Ended)
        self.thread = threading.Thread(target=self._serve, name="bt-debug", daemon=True)
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
        if self.over:
            return
        self.over = True
        self.unhear()
        self._ring()
        self.thread.join(2 * WAIT)

    # In the thread that ticks ----------------------------------------------------------------

    def _heard(self, event: Debugged | Ended) -> None:
        if isinstance(event, Ended):
            self.news.append({"news": "ended", "path": "", "text": f"the run has ended: {event.status.name}"})
        else:
            self.news.append({"news": event.what, "path": event.path, "text": event.text})
        self._ring()

    def _ring(self) -> None:
        with suppress(OSError):  # full: it has been rung
            self.bell.send(b"!")

    # In its own ------------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self.over:
                for key, mask in self.selector.select(WAIT):
                    if key.fileobj is self.listener:
                        self._welcome()
                    elif key.fileobj is self.rung:
                        with suppress(OSError):
                            self.rung.recv(4096)
                    else:
                        self._client(self.clients[key.fileobj], mask)  # type: ignore[index]
                self._tell()
        finally:
            for client in list(self.clients.values()):
                self._last_words(client)
            for end in (self.listener, self.bell, self.rung):
                end.close()
            self.selector.close()
            self.path.unlink(missing_ok=True)

    def _welcome(self) -> None:
        with suppress(OSError):
            connection, _ = self.listener.accept()
            connection.setblocking(False)
            if len(self.clients) >= MOST_CLIENTS:
                connection.send(b'{"error":"others are attached already"}\n')
                connection.close()
                return
            client = self.clients[connection] = Client(connection)
            self.selector.register(connection, selectors.EVENT_READ)
            client.say({"news": "attached", "path": "", "text": "", "status": status(self.debugger)})
            self._write(client)

    def _client(self, client: Client, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._write(client)
        if mask & selectors.EVENT_READ and client.connection in self.clients:
            try:
                read = client.connection.recv(MOST_LINE)
            except BlockingIOError:
                return
            except OSError:
                read = b""
            if not read:
                self._gone(client)
                return
            client.incoming += read
            self._commands(client)

    def _commands(self, client: Client) -> None:
        for _ in range(MOST_COMMANDS):
            line, end, rest = client.incoming.partition(b"\n")
            if not end:
                break
            client.incoming = rest
            if line.strip():
                client.say(self._done(line))
        if len(client.incoming) > MOST_LINE:
            client.say({"error": f"a line has at most {MOST_LINE:,} bytes"})
            self._write(client)
            self._gone(client)
            return
        self._write(client)
        if b"\n" in client.incoming and client.connection in self.clients:
            self._ring()  # the rest in the next round
            self.pending = True

    pending = False

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

    def _tell(self) -> None:
        if self.pending:
            self.pending = False
            for client in [c for c in self.clients.values() if b"\n" in c.incoming]:
                self._commands(client)
        while self.news:
            told = self.news.popleft()
            for client in list(self.clients.values()):
                client.say(told)
        for client in list(self.clients.values()):
            if client.outgoing:
                self._write(client)

    def _write(self, client: Client) -> None:
        with suppress(BlockingIOError):
            try:
                sent = client.connection.send(client.outgoing) if client.outgoing else 0
                client.outgoing = client.outgoing[sent:]
            except BlockingIOError:
                raise
            except OSError:
                self._gone(client)
                return
        if len(client.outgoing) > MOST_WAITING:
            self._gone(client)
            return
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.outgoing else 0)
        self.selector.modify(client.connection, mask)

    def _gone(self, client: Client) -> None:
        if self.clients.pop(client.connection, None) is None:
            return
        self.selector.unregister(client.connection)
        client.connection.close()
        if not self.clients and self.used:
            with suppress(BtError):  # the run may just have been closed
                self.debugger.leave(self.set)
            self.set, self.used = set(), False
        if not self.clients and self.mine and not self.debugger.busy:
            with suppress(BtError):
                self.debugger.close()
            self.mine = False

    def _last_words(self, client: Client) -> None:
        """Sends the remaining output, within a short time limit."""
        until = time.monotonic() + 0.2
        with suppress(OSError):
            while self.news:
                client.say(self.news.popleft())
            while client.outgoing and time.monotonic() < until:
                client.outgoing = client.outgoing[client.connection.send(client.outgoing) :]
        client.connection.close()
