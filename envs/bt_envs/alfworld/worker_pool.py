"""A pool of processes that play worlds which cannot run in ours. Every call has a deadline: a lost process raises an
error instead of a hang.

Each process runs `worker_process.main`."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child, system

WORKERS = 2  # episodes that are played at the same time, unless more are asked for
LOADING = 120.0  # seconds that a worker may take to start, and to begin a task, on however busy a machine
STEP = 10.0  # seconds more for each command
_AGAIN = "reset the world to begin the task again; `btr lab eval` counts the episode as broken and goes on"


class Plays(NamedTuple):
    """The command of a pool's workers. `words` are its arguments; the number of the worker's socket is appended."""

    world: str  # the world's name for people
    words: Sequence[str]
    folder: str = "TMPDIR"  # the variable that names the folder in which it may write, besides TMPDIR


class GameWorker:
    """A process and the owner of its current episode."""

    def __init__(self, plays: Plays) -> None:
        system.needs_inheritance(plays.world)
        self.plays = plays
        self.folder = Path(tempfile.mkdtemp(prefix=f"btr {plays.world.lower()} "))
        self.sock, theirs = socket.socketpair()
        log = (self.folder / "log").open("wb")
        with theirs, log:
            self.process = child.start(
                [*plays.words, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                env=child.environment(**dict.fromkeys((plays.folder, "TMPDIR"), str(self.folder))),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.answers = self.sock.makefile("rb")
        self.owner: object = None
        self.busy = False
        self.used = 0.0
        self.end = weakref.finalize(
            self, _end, self.process, self.answers, self.sock, self.folder
        )  # ends the processes of a forgotten pool too

    def ask(self, asked: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Raises BtError when no answer comes: the worker is then at an end."""
        try:
            self.sock.settimeout(seconds)
            self.sock.sendall(json.dumps(asked).encode() + b"\n")
            line = self.answers.readline()
            if line.endswith(b"\n"):
                return dict(json.loads(line))
            why = f"has ended{self._last_words()}"
        except TimeoutError:
            why = f"did not answer within {seconds:g} s"
        except (OSError, ValueError) as broken:
            why = f"has ended ({broken}){self._last_words()}"
        self.end()
        raise BtError(f"the process that played this {self.plays.world} game {why}: the episode is lost", _AGAIN)

    def _last_words(self) -> str:
        with suppress(OSError):
            line = child.last_line((self.folder / "log").read_bytes())[:300]
            return f": {line}" if line else ""
        return ""


def _end(process: subprocess.Popen[bytes], answers: BinaryIO, sock: socket.socket, folder: Path) -> None:
    """Kills the process group and removes its folder."""
    child.end(process, group=True)
    answers.close()
    sock.close()
    shutil.rmtree(folder, ignore_errors=True)


class WorkerPool:
    """Shares worker processes among games. A game keeps its worker while there are enough; else the longest idle one is
    reassigned."""

    def __init__(self, bound: int, plays: Plays) -> None:
        self.bound, self.plays = bound, plays
        self.workers: list[GameWorker] = []
        self._changed = threading.Condition()

    def play(self, owner: object, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Blocks while all workers are busy: call it off the tick."""
        seconds = LOADING + STEP * (len(asked["done"]) + 1)
        until = time.monotonic() + seconds
        with self._changed:
            while (worker := self._free(owner)) is None:
                if not self._changed.wait(until - time.monotonic()):
                    busy = f"all {self.bound} workers of {self.plays.world} were busy for {seconds:g} s"
                    raise BtError(busy, "open the world with more of them: workers=4")
            worker.busy = True
        return self._asked(worker, asked, seconds)

    def begin(self, owner: object, asked: Mapping[str, Any]) -> None:
        """Loads a game in the background when a worker is free."""
        with self._changed:
            worker = self._free(owner, steal=False)
            if worker is None:
                return
            worker.busy = True

        def load() -> None:
            with suppress(BtError):  # the fault goes to whoever acts
                self._asked(worker, asked, LOADING)

        threading.Thread(target=load, name=f"btr-{self.plays.world.lower()}", daemon=True).start()

    def _free(self, owner: object, steal: bool = True) -> GameWorker | None:
        """Returns a free worker: the owner's own, an unowned one, a new one, or another owner's idle one. None while
        the owner's worker is busy."""
        self._forget([w for w in self.workers if w.owner is None and w.process.poll() is not None])
        for worker in self.workers:
            if worker.owner is owner:
                return None if worker.busy else worker
        idle = [w for w in self.workers if not w.busy and w.process.poll() is None]
        free = next((w for w in idle if w.owner is None), None)
        if free is None and len(self.workers) >= self.bound:
            self._forget([w for w in self.workers if not w.busy and w.process.poll() is not None])
        if free is None and len(self.workers) < self.bound:
            free = GameWorker(self.plays)
            self.workers.append(free)
        if free is None and idle and steal:
            free = min(idle, key=lambda w: w.used)
        if free is not None:
            free.owner = owner
        return free

    def _forget(self, dead: Sequence[GameWorker]) -> None:
        for worker in dead:
            worker.end()
        self.workers = [w for w in self.workers if w.end.alive]

    def _asked(self, worker: GameWorker, asked: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        try:
            return worker.ask(asked, seconds)
        finally:
            with self._changed:
                worker.busy, worker.used = False, time.monotonic()
                self._changed.notify_all()

    def leave(self, owner: object) -> None:
        """Releases the owner's worker; the process stays for others."""
        with self._changed:
            for worker in self.workers:
                if worker.owner is owner:
                    worker.owner = None
            self._changed.notify_all()

    def close(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers = []
