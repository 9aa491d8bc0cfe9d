"""A worker as the tick process holds it: the process, our end of its socket, its log."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from typing import IO

from bt_runtime.language.project import child, system
from bt_runtime.llm.local import spelling, wire
from bt_runtime.llm.settings import WorkerSettings


class Process:
    def __init__(self, settings: WorkerSettings) -> None:
        system.needs_inheritance("a local model")
        self.sock, theirs = socket.socketpair()
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        with theirs:
            self.popen = child.start(
                child.python("bt_runtime.llm.local.worker", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env=child.environment(GGML_NO_BACKTRACE="1"),
                start_new_session=True,  # Ctrl-C is for the tick process, which then tells us
            )
        self.sock.setblocking(False)
        self.out = bytearray(wire.frame("open", spelling.settings_as(settings)))
        self.inbox = wire.WireInbox(wire.MOST_SAID)
        self.words = ""  # the end of its log, once it is gone
        self.ready = False
        self.heard = time.monotonic()

    def _tail(self, lines: int = 8) -> str:
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - 4000))
        return "\n".join(self.log.read().decode("utf-8", "replace").strip().splitlines()[-lines:])

    def end(self) -> str:
        """Ends the worker and returns how it ended. May be called again."""
        code = child.end(self.popen, patience=1.0)  # a dying worker's stderr names the cause
        self.sock.close()
        if not self.log.closed:
            self.words = self._tail()
            self.log.close()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"

    def kill(self) -> None:
        self.popen.kill()
