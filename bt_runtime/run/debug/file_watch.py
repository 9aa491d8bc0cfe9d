"""Watches the files of a run in a thread of its own, and reloads edited ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from bt_runtime.events import Line
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.project import disk
from bt_runtime.run.debug.reload import Reload
from bt_runtime.run.run import Run, Tree

EVERY = 0.5  # seconds between two looks
Look = dict[Path, bytes]


class FileWatch:
    """Watches the files from its creation until `close`. `again` reloads the tree from its source."""

    def __init__(self, run: Run, again: Callable[[], Tree], start: bool = True) -> None:
        if not run.parts.tree.first.files:
            raise BtError("this tree came as text: there is no file to watch", "name a file")
        self.run, self.again = run, again
        self.reload = Reload(run)
        self.stamps: dict[Path, tuple[int, int, int]] = {}
        self.sums: Look = {}
        self.known = self.look()
        self.before = self.known  # at the last look: who is still writing is waited for
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="bt-watch", daemon=True)
        if start:
            self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _work(self) -> None:
        while not self._over.wait(EVERY):
            self.check()

    def look(self) -> Look:
        """The checksum of each file; a file with an unchanged timestamp is not read."""
        for path in self.reload.tree.first.files:
            try:
                found = path.stat()
                stamp = found.st_mtime_ns, found.st_size, found.st_ino
                if self.stamps.get(path) != stamp:
                    self.sums[path] = blake2b(disk.read(path), digest_size=16).digest()
                    self.stamps[path] = stamp
            except OSError:
                self.sums[path], self.stamps[path] = b"", (0, 0, 0)
        return dict(self.sums)

    def check(self) -> bool:
        """Looks at the files once; True when a changed tree was taken into the run."""
        now = self.look()
        settled, self.before = now == self.before, now
        if now == self.known or not settled:
            return False
        self.known = now
        try:
            made = self.reload.take(self.again())
        except Faults as faults:
            found = "; ".join(str(each) for each in faults.diagnostics[:3])
            self._say("warning", f"what was edited is at fault, the tree goes on as it was: {found}")
        except BtError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self._say("warning", f"what was edited is not taken, the tree goes on as it was: {error.message}{hint}")
        else:
            self._say("info", f"taken from the edited files: {', '.join(made) or 'nothing is different'}")
            return bool(made)
        return False

    def _say(self, level: str, text: str) -> None:
        if not self._over.is_set():
            self.run.parts.context.emit(Line("", level, text))
