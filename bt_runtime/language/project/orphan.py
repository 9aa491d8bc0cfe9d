"""Ensures that a child process ends with the process that started it, even if the child is stopped.

The pipes and sockets between them tell a running child that we are gone. A stopped one reads nothing: Linux tells it.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from bt_runtime.language.project import system

if TYPE_CHECKING:  # `btr --help` starts no process, and does not wait for these
    import subprocess
    from concurrent.futures import Future

Make = Callable[[], "subprocess.Popen[bytes]"]
_PARENT = "BTR_PARENT"  # "number of the process that started it:signal"
_PR_SET_PDEATHSIG = 1


def named(at_death: int) -> dict[str, str]:
    """Returns the environment variables that `heed` reads in the child."""
    return {_PARENT: f"{os.getpid()}:{int(at_death)}"}


def heed() -> None:
    """Called first in a child: asks Linux to end it with its parent. If the parent has already ended, the child
    exits."""
    parent, _, at_death = os.environ.pop(_PARENT, "").partition(":")
    if not parent or sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(at_death), 0, 0, 0)
    if os.getppid() != int(parent):
        os._exit(1)


class _Keeper:
    """Starts every child from one thread that never ends: Linux counts the starting *thread* as the parent."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted: queue.SimpleQueue[tuple[Make, Future[subprocess.Popen[bytes]]]] = queue.SimpleQueue()
        self.runs = False

    def make(self, what: Make) -> subprocess.Popen[bytes]:
        from concurrent.futures import Future

        with self.lock:
            if not self.runs:
                threading.Thread(target=self._run, name="btr-starter", daemon=True).start()
                self.runs = True
        made: Future[subprocess.Popen[bytes]] = Future()
        self.wanted.put((what, made))
        return made.result()

    def _run(self) -> None:
        while True:
            what, made = self.wanted.get()
            try:
                made.set_result(what())
            except BaseException as fault:
                made.set_exception(fault)
            del what, made  # holds no reference while waiting for the next job


_keeper = _Keeper()


def _renew() -> None:
    global _keeper
    _keeper = _Keeper()


system.after_fork(_renew)  # a fork has none of our threads


def kept(what: Make) -> subprocess.Popen[bytes]:
    """Starts a child from the keeper's thread."""
    return _keeper.make(what)
