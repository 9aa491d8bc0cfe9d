"""A heartbeat that a watchdog outside can read: `btr run --heartbeat file:/run/beat | udp:127.0.0.1:9000 | ros:/beat`.

There is a beat only after a tick that has ended in its time and after which the tree runs on. A run that hangs, that a
debugger holds, that is halted or over, and a process that is stopped or killed give none. A beat that could not be
sent in time is dropped, so that none tells of a past that is over. It is an output for a relay, and no safety
function."""

from __future__ import annotations

import json
import math
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_runtime.events import Notice, Tick
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.monitor import Access, Monitor
from bt_runtime.tree.gates import Gate

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

EVERY = 0.1  # seconds between two beats
WITHIN = 0.5  # seconds in which a tick must have ended, and its beat been sent
WAYS = "file:PATH, udp:127.0.0.1:PORT or ros:/TOPIC, then as you like `,every=0.1` and `,within=0.5`"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
Send = Callable[[str], object]


class BeatPlace(NamedTuple):
    """Where beats go, and in which time."""

    way: str
    where: str
    every: float = EVERY
    within: float = WITHIN


def place(text: str) -> BeatPlace:
    """Reads `udp:127.0.0.1:9000,every=0.05,within=0.2`."""
    target, *options = text.split(",")
    way, _, where = target.partition(":")
    if way not in ("file", "udp", "ros") or not where:
        raise BtError(f"--heartbeat {text}: no such place", WAYS)
    times = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if name not in ("every", "within") or not 0.001 <= seconds <= 3600:
            raise BtError(f"--heartbeat {text}: `{option}` is no time", "seconds from 0.001 to 3600: `every=0.1`")
        times[name] = seconds
    return BeatPlace(way, where, **times)


class Heartbeat(Gate, Closing):
    """Beats for one run: `with Heartbeat(run, "udp:127.0.0.1:9000"): run.spin()`. A thread sends; no tick waits.

    A sleeping run is ticked `every` so many seconds, so that it can tell that it still ticks."""

    def __init__(self, run: Run, where: str) -> None:
        self.run, self.place = run, place(where)
        self.count = self.late = 0  # beats sent; beats that were dropped
        self._send, self._close = _opened(self.place, run)
        self._began = self._last = -math.inf
        self._beat: tuple[float, int] | None = None  # (start of the tick to be told, its number)
        self._news = threading.Condition()
        self._over = False
        self._failed = ""
        self._thread = threading.Thread(target=self._work, name="btr-heartbeat", daemon=True)
        self._thread.start()
        self._leave = run.parts.context.gates.add(self)

    def hold(self) -> None:
        self._began = monotonic()  # a tick begins, unless another gate holds it

    def ticked(self, tick: Tick) -> Tick:
        now, began = monotonic(), self._began
        if tick.running and now - began <= self.place.within and now - self._last >= self.place.every * 0.9:
            self._last = now
            with self._news:
                self._beat = (began, tick.number)
                self._news.notify()
        again = self.run.parts.context.clock.now() + self.place.every
        return tick._replace(due=min(tick.due, again)) if tick.running else tick

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._beat is not None or self._over)
                if self._over:
                    return
                assert self._beat is not None
                (began, number), self._beat = self._beat, None
            if monotonic() - began > self.place.within:
                self.late += 1  # the process stood still meanwhile
                continue
            body = {"beat": self.count + 1, "tick": number, "state": "running", "run": self.run.parts.name}
            try:
                self._send(json.dumps(body, separators=(",", ":")))
            except Exception as error:
                self._tell(f"no heartbeat is sent to {self.place.way}:{self.place.where}: {error}")
            else:
                self.count, self._failed = self.count + 1, ""

    def _tell(self, text: str) -> None:
        if text != self._failed:  # once, until a beat was sent again
            self._failed = text
            self.run.parts.context.emit(Notice("", "warning", text))

    def close(self) -> None:
        self._leave()
        with self._news:
            self._over = True
            self._news.notify()
        self._thread.join(1.0)
        self._close()


def _opened(where: BeatPlace, run: Run) -> tuple[Send, Callable[[], object]]:
    if where.way == "file":
        return _file(Path(where.where))
    return _udp(where.where) if where.way == "udp" else _topic(where.where, run)


def _file(path: Path) -> tuple[Send, Callable[[], object]]:
    """A file that always holds one whole beat: it is replaced, never written in place."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise BtError(f"--heartbeat file:{path}: this is no plain file", "name a new file in a folder of this machine")
    beside = path.with_name(f".{path.name}.{os.getpid()}")

    def send(text: str) -> None:
        beside.write_text(f"{text}\n", encoding="ascii")
        beside.replace(path)

    def close() -> None:
        with suppress(OSError):
            beside.unlink(missing_ok=True)

    if not path.parent.is_dir():
        raise BtError(f"--heartbeat file:{path}: there is no folder `{path.parent}`", "make it, or name another place")
    return send, close


def _udp(where: str) -> tuple[Send, Callable[[], object]]:
    host, _, port = where.rpartition(":")
    host = host.strip("[]")
    if host not in LOOPBACK or not port.isdigit() or not 0 < int(port) < 65536:
        raise BtError(f"--heartbeat udp:{where}: this is no port of this machine", "for instance udp:127.0.0.1:9000")
    family = socket.AF_INET6 if host == "::1" else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setblocking(False)

    def send(text: str) -> None:
        with suppress(ConnectionRefusedError):  # nobody listens yet
            made.sendto(text.encode("ascii"), ("127.0.0.1" if host == "localhost" else host, int(port)))

    return send, made.close


def _topic(topic: str, run: Run) -> tuple[Send, Callable[[], object]]:
    """A topic of std_msgs/msg/String by the run's connection to ROS."""
    transport: Any = run.parts.context.services.given.get("ros")
    if transport is None:
        raise BtError(f"--heartbeat ros:{topic}: this run has no connection to ROS", "add `--ros zenoh`")
    publish = transport.publisher(topic, "std_msgs/msg/String")
    return lambda text: publish({"data": text}), lambda: None


class _Beating(Monitor):
    about = "a beat after each tick that ended in time, for a watchdog: file:PATH, udp:127.0.0.1:PORT or ros:/TOPIC"
    where = "PLACE"

    def open(self, run: Run, where: str, access: Access) -> Heartbeat:
        return Heartbeat(run, where)


HEARTBEAT = _Beating()
