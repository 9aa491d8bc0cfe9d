"""Shows a run to Groot2, `btview` and similar monitors: `with Groot2(run): run.spin()`. The ticking thread only
stores events. Another thread does the rest, at most once every `REST` seconds, so no client can delay a tick."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from bt_robots.groot2 import protocol
from bt_robots.groot2.hooks import Hooks
from bt_robots.groot2.mirror import Mirror
from bt_robots.groot2.protocol import PORT, Ask, Refusal
from bt_runtime.events import Notice, Tick
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import address
from bt_runtime.run.monitor import Access, Monitor, port
from bt_runtime.run.run import Run

# Counts connected clients by ZeroMQ's monitors. Each client uses a file descriptor, which starting skills need as
# well.


class Crowd:
    """Counts clients, in the thread that owns the sockets. A monitor becomes readable when a client connects or
    leaves."""

    def __init__(self, zmq: Any, sockets: Iterable[Any]) -> None:
        self._accepted, self._read = zmq.EVENT_ACCEPTED, import_module("zmq.utils.monitor").recv_monitor_message
        events = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED
        self._connected: dict[Any, set[int]] = {socket.get_monitor_socket(events): set() for socket in sockets}

    @property
    def monitors(self) -> list[Any]:
        return [*self._connected]

    def count(self) -> int:
        """The connections now."""
        for monitor, descriptors in self._connected.items():
            while monitor.poll(0):
                event = self._read(monitor)
                (descriptors.add if event["event"] == self._accepted else descriptors.discard)(event["value"])
        return sum(map(len, self._connected.values()))


MOST_KEPT = 4096  # ticks that wait for the server's thread; a tick beyond them looks after them itself
MOST_REQUEST = 65_536  # bytes of one part of a request: who sends more is cut off
MOST_BOARD = 1_000_000  # bytes of one answer about blackboards, about
MOST_WAITING = 64  # requests of one client that wait
MOST_CLIENTS = 64  # connections to both ports together: each is a descriptor of this process
REST = 0.001  # seconds between two answers
EVERY = 0.05  # seconds between two looks at what the ticks have told
REOPEN = 0.5  # seconds until a port listens again that too many had come to
SILENCE = 5.0  # seconds after which nobody is there to free a run that is held


class Groot2(Closing):
    """Serves from its creation until `close`. Create it before the first tick and after other listeners."""

    def __init__(
        self,
        run: Run,
        port: int = PORT,
        *,
        host: str = address.LOOPBACK,
        anyone: bool = False,
        breakpoints: bool = False,
    ) -> None:
        self.run, self.host = run, address.checked(host, anyone)
        self.mirror = Mirror(run.parts.tree.spec.name)
        self.hooks = Hooks(run, breakpoints, self.mirror.path)
        self._kept: deque[tuple[int, Tick]] = deque()
        self._taking = threading.Lock()
        self._over = threading.Event()
        self._heard = time.monotonic()
        self.emptied = 0  # how often all connections were let go, because there were too many
        self._context, self._answers, self._news, self.port = _sockets(self.host, port)
        self._answering: dict[Ask, Callable[[bytes | None], list[bytes]]] = {
            Ask.TREE: lambda body: [self.mirror.xml()],
            Ask.STATUS: lambda body: [self.mirror.statuses()],
            Ask.BLACKBOARD: self._board,
            Ask.HOOKS: lambda body: [self.hooks.dump()],
            Ask.HOOK_INSERT: _silent(self.hooks.insert),
            Ask.HOOK_REMOVE: _silent(self.hooks.remove),
            Ask.UNLOCK: _silent(self.hooks.unlock),
            Ask.REMOVE_ALL: _silent(lambda body: self.hooks.clear()),
            Ask.DISABLE_ALL: _silent(lambda body: self.hooks.disable()),
            Ask.RECORD: self._record,
            Ask.TRANSITIONS: lambda body: [self.mirror.transitions()],
        }
        self._ended = run.listen(self._tick, Tick)
        self._kept.appendleft((_micros(), run.parts.engine.standing()))
        self._thread = threading.Thread(target=self._serve, name="bt-groot2", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"groot2://{self.host}:{self.port}"

    def close(self) -> None:
        self._ended()
        self._over.set()
        self.hooks.clear()
        self._thread.join(2)

    # In the thread that ticks ----------------------------------------------------------------

    def _tick(self, tick: Tick) -> None:
        if tick.changes or tick.resets or tick.shape is not None:
            self._kept.append((_micros(), tick))
            if len(self._kept) > MOST_KEPT:
                self._take()

    # In the server's -------------------------------------------------------------------------

    def _take(self) -> None:
        with self._taking:
            while self._kept:
                micros, tick = self._kept.popleft()
                self.mirror.take(tick, micros)

    def _serve(self) -> None:
        zmq = _zmq()
        try:
            while not self._over.is_set():
                self._answer_all(zmq)
                if not self._over.is_set():
                    self._empty()
        except zmq.ZMQError:
            pass  # the sockets were closed, or the system gives no more: the run goes on without
        except Exception as error:
            text = f"the run is shown to Groot2 no more: {type(error).__name__}: {error}"
            self.run.parts.context.emit(Notice("", "warning", text))
        finally:
            self._context.destroy(linger=0)

    def _answer_all(self, zmq: Any) -> None:
        """Answers requests until the end, or until too many clients are connected."""
        crowd, asked = Crowd(zmq, (self._answers, self._news)), zmq.Poller()
        for each in (self._answers, *crowd.monitors):
            asked.register(each, zmq.POLLIN)
        while not self._over.is_set():
            ready = dict(asked.poll(EVERY * 1000))
            if crowd.count() > MOST_CLIENTS:
                return
            if self._answers in ready:
                self._reply(self._answers.recv_multipart())
                self._over.wait(REST)
            self._look()

    def _empty(self) -> None:
        """Drops all connections and listens at the same ports again; monitors reconnect by themselves. ZeroMQ cannot
        close a port and keep its clients."""
        text = f"more than {MOST_CLIENTS} programs have connected for Groot2: all are let go"
        self.run.parts.context.emit(Notice("", "warning", text))
        self._context.destroy(linger=0)
        self.emptied += 1
        while not self._over.wait(REOPEN):
            try:
                self._context, self._answers, self._news, self.port = _sockets(self.host, self.port)
            except BtError:
                continue  # another program has taken one of them meanwhile
            return

    def _reply(self, frames: list[bytes]) -> None:
        """Sends a reply. The sender's address precedes an empty part; without one there is nobody to answer."""
        if b"" in frames:
            start = frames.index(b"") + 1
            self._answers.send_multipart([*frames[:start], *self._answer(frames[start:])])

    def _look(self) -> None:
        self._take()
        if self.hooks and time.monotonic() - self._heard > SILENCE:
            self.hooks.disable()
        while self.hooks.reached:
            uid = str(self.hooks.reached.popleft()).encode()
            self._news.send_multipart([protocol.header(Ask.REACHED, 0), uid])

    def _answer(self, frames: list[bytes]) -> list[bytes]:
        """Answers a request. Never raises: a faulty request gets an error reply."""
        self._heard = time.monotonic()
        try:
            what, number, body = protocol.asked(frames)
            if what not in self._answering:
                raise Refusal("Request not recognized")
            self._take()
            parts = self._answering[what](body)
            return [protocol.header(what, number, self.mirror.id), *parts]
        except BtError as refusal:
            return [b"error", refusal.message.encode()]
        except Exception as error:
            return [b"error", f"{type(error).__name__}".encode()]

    def _board(self, body: bytes | None) -> list[bytes]:
        if body is None:
            raise Refusal("must be 2 parts message")
        names, scopes = body.decode("utf-8", "replace").split(";"), self.mirror.scopes()
        board = self.run.parts.context.blackboard.snapshot()
        found = {name: dict(board.get(scopes[name], {})) for name in names if name in scopes}
        return [protocol.msgpack({name: own for name, own in found.items() if own} or None, MOST_BOARD)]

    def _record(self, body: bytes | None) -> list[bytes]:
        if body is None:
            raise Refusal("must be 2 parts message")
        if body == b"start":
            now = _micros()
            self.mirror.record(now)
            return [str(now).encode()]
        if body == b"stop":
            self.mirror.record(None)
        return []


def _silent(change: Callable[[bytes | None], None]) -> Callable[[bytes | None], list[bytes]]:
    def answer(body: bytes | None) -> list[bytes]:
        change(body)
        return []

    return answer


def _micros() -> int:
    return time.time_ns() // 1000


def _zmq() -> Any:
    with Extra("robot", "showing a run to Groot2"):
        return import_module("zmq")


def _sockets(host: str, port: int) -> tuple[Any, Any, Any, int]:
    """Binds two neighbouring ports: one for replies, one for published changes."""
    zmq = _zmq()
    name = {"localhost": address.LOOPBACK}.get(host, host)
    for _ in range(1 if port else 32):
        context = zmq.Context()
        context.setsockopt(zmq.LINGER, 0)
        # REP would lose an answer for each malformed request of a client that has gone meanwhile
        answers, news = context.socket(zmq.ROUTER), context.socket(zmq.PUB)
        try:
            for each in (answers, news):
                _bound(zmq, each, ":" in name)
            place = f"tcp://[{name}]" if ":" in name else f"tcp://{name}"
            answers.bind(f"{place}:{port or '*'}")
            at = int(answers.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
            news.bind(f"{place}:{at + 1}")
        except zmq.ZMQError as error:
            context.destroy(linger=0)
            why = error
            continue
        return context, answers, news, at
    raise address.busy(host, port, why, "--groot2 PORT")


def _bound(zmq: Any, socket: Any, six: bool) -> None:
    """Bounds what clients can take: message size, queues, connections, time."""
    socket.setsockopt(zmq.IPV6, int(six))
    socket.setsockopt(zmq.MAXMSGSIZE, MOST_REQUEST)
    socket.setsockopt(zmq.RCVHWM, MOST_WAITING)
    socket.setsockopt(zmq.SNDHWM, MOST_WAITING)
    socket.setsockopt(zmq.BACKLOG, MOST_CLIENTS)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 5000)
    socket.setsockopt(zmq.HEARTBEAT_IVL, 10_000)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 30_000)


class Shown(Monitor):
    about, default = f"show it to Groot2 and btview at this port and the next [{PORT}]", str(PORT)

    def open(self, run: Run, where: str, access: Access) -> Groot2:
        at = port(where, "groot2")
        return Groot2(run, at, host=access.host, anyone=access.anyone, breakpoints=access.breakpoints)


GROOT2 = Shown()
