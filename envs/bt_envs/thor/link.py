"""The parent's end of the adapter process. Every call has a deadline, and a lost process raises an error."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bt_envs.thor.adapter import DONE, FAILED, GONE, READY
from bt_envs.thor.library import FETCH, Build
from bt_envs.thor.stage import Gone
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child

GRACE = 2.0  # beyond the library's own deadline, so that its better message comes first
_TRY = "run the player by hand and look at what it says; without the option `build` our own player is used"
PATIENCE = 3.0  # seconds for a process that was asked to end


class Link:
    """A running adapter with its player. Starting it may take as long as the build's start_timeout."""

    def __init__(self, build: Build, view: str) -> None:
        self.build = build
        self.folder = Path(tempfile.mkdtemp(prefix="btr thor "))  # the space is on purpose: paths may have them
        self._turn = threading.Lock()  # an action goes on in one thread, while another asks for the verdict
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        log = (self.folder / "adapter.log").open("wb")
        with theirs, log:
            self.process = child.start(
                child.python("bt_envs.thor.adapter", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr if build.path == FETCH else log,
                stderr=None if build.path == FETCH else log,
                at_death=signal.SIGCONT,  # it has a player to stop
                start_new_session=True,  # one group: adapter and player end together
            )
        self.player_pid: int | None = None
        self.kill = weakref.finalize(self, _end, self.process, self.connection, self.folder)  # also when forgotten
        try:
            self.connection.send((build, str(self.folder), view))
            self.player_pid = self._receive(READY, build.start_timeout + GRACE)
        except Gone as gone:
            raise BtError(
                f"the simulator did not start: {gone}", "look at the player by hand, or leave `build` out"
            ) from gone
        except BaseException:
            self.kill()
            raise

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Returns the answer of the adapter's episode. Raises Gone without an answer, and BtError for a problem that
        a person can solve."""
        deadline = (self.build.step_timeout if timeout is None else timeout) + GRACE
        with self._turn:
            try:
                self.connection.send((method, arguments))
            except OSError as broken:
                self.kill()
                raise Gone(f"the simulator's process has ended ({broken})") from broken
            return self._receive(DONE, deadline)

    def _receive(self, wanted: str, timeout: float) -> Any:
        try:
            if not self.connection.poll(timeout):
                self.kill()
                raise Gone(f"the simulator did not answer within {timeout:g} s")
            kind, body = self.connection.recv()
        except (EOFError, OSError) as broken:
            words = self._last_words()
            self.kill()
            raise Gone(f"the simulator's process has ended{words}") from broken
        if kind == wanted:
            return body
        if kind == GONE:
            self.kill()
            raise Gone(body)
        if kind == FAILED:
            if wanted == READY:
                self.kill()
            raise BtError(*body)
        raise Gone(f"the simulator's process answered out of turn: {kind}")

    def _last_words(self) -> str:
        with suppress(OSError):
            line = child.last_line((self.folder / "adapter.log").read_bytes())
            return f": {line}" if line else ""
        return ""

    def close(self) -> None:
        """Asks the library to stop its player, then kills what is left."""
        with suppress(Gone, BtError, OSError):
            self.call("close", timeout=PATIENCE)
        self.kill()


def _end(process: subprocess.Popen[bytes], connection: Connection, folder: Path) -> None:
    """Kills the process group and removes its folder."""
    connection.close()
    child.end(process, group=True)
    shutil.rmtree(folder, ignore_errors=True)
