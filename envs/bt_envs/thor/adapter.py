"""The process that owns the library: receives requests, sends answers, and exits at the first unrecoverable error.

`link` starts the process, which exchanges pickles with its parent over one inherited socket."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bt_envs.thor.episode import Episode
from bt_envs.thor.library import Build, LibraryStage
from bt_envs.thor.stage import Gone
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import orphan

# What an answer can be.
READY, DONE, FAILED, GONE = "ready", "done", "failed", "gone"


class Adapter:
    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self.requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._speaking = threading.Lock()

    def say(self, kind: str, body: Any) -> None:
        with self._speaking, contextlib.suppress(OSError):
            self.connection.send((kind, body))

    def end(self, why: str) -> None:
        """Reports the end to the parent and kills the process group. Callable from any thread."""
        self.say(GONE, why)
        os.killpg(os.getpgrp(), signal.SIGKILL)  # the library may be blocked or spinning; nothing gentler gets through

    def listen(self) -> None:
        """Reads requests on a separate thread, so that the parent's death is noticed while the library is busy."""
        while True:
            try:
                self.requests.put(self.connection.recv())
            except (EOFError, OSError):
                shutil.rmtree(self.folder, ignore_errors=True)  # nobody else will
                os.killpg(os.getpgrp(), signal.SIGKILL)

    def run(self, build: Build, view: Any) -> None:
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            stage = LibraryStage(build, self.folder, died=self.end)
        except BtError as fault:
            self.say(FAILED, fault.args and (fault.message, fault.hint))
            return
        self.say(READY, stage.player_pid)
        self.answer(Episode(stage, view))

    def answer(self, episode: Episode) -> None:
        while True:
            method, arguments = self.requests.get()
            try:
                self.say(DONE, getattr(episode, method)(*arguments))
            except Gone as gone:
                self.end(str(gone))
            except BtError as fault:
                self.say(FAILED, (fault.message, fault.hint))
            except Exception as fault:  # what a simulator of another make may say that ours does not
                self.say(FAILED, (f"thor could not {method}: {fault!r}", "please report it, with the task"))
            if method == "close":
                return


def main() -> int:
    connection = Connection(int(sys.argv[1]))
    build, folder, view = connection.recv()
    Adapter(connection, Path(folder)).run(build, view)
    return 0


if __name__ == "__main__":
    orphan.heed()
    raise SystemExit(main())
