"""A run that is started from the editor: `btr run --view` in a process of its own, whose page leads back here."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from bt_author.edit.remote_editor import EDITOR
from bt_author.edit.session import Session
from bt_author.edit.tryouts import Tryouts
from bt_runtime.cli.running.view import OVER, VIEW
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child, system, trust
from bt_runtime.types import Json

MOST_LINES, MOST_LINE = 40, 10_000
PATIENCE = 5.0  # seconds in which a run halts its tree before its process is killed
SETTLING = 0.3  # seconds after its address in which a run that cannot begin has ended


class Running:
    """One run at a time. The run ends with the editor."""

    def __init__(self, session: Session, tryouts: Tryouts, address: Callable[[], str], anyone: bool = False) -> None:
        self.session, self.tryouts, self.address, self.anyone = session, tryouts, address, anyone
        self.live: LiveRun | None = None
        self.lock = threading.Lock()

    def move(self, path: Path, move: str, given: Mapping[str, Any]) -> Json:
        """`look` says how the run is; `begin` starts the saved tree, unless a run goes on. `run`: its folder is
        trusted for this run."""
        if self.anyone:
            raise BtError("this page is open to other machines, and starts no run", "open it without `--anyone`")
        if move not in ("look", "begin"):
            raise BtError(f"there is no move `{move:.40}` of a run", "look, begin")
        with self.lock:
            if move == "begin" and not self._goes_on():
                self.close()
                self.live = self._begun(path, bool(given.get("run")))
            live = self.live
        if live is not None and given.get("wait"):
            live.settled.wait(1.0)
        said = live.said() if live is not None else {"state": "none"}
        return said if self._goes_on() else {**said, "words": shlex.join(["btr", *self._words(path)])}

    def _goes_on(self) -> bool:
        return self.live is not None and self.live.state in ("starting", "going")

    def _begun(self, path: Path, trusted: bool) -> LiveRun:
        root, words = self.session.workspace.root, self._words(path)
        env = {EDITOR: f"{self.address()} {root}"}
        if trusted:
            home = self.session.workspace.home(path.parent) or root
            env[trust.VARIABLE] = os.pathsep.join(filter(None, (os.environ.get(trust.VARIABLE), str(home))))
        return LiveRun(self.session.name(path), words, root, env)

    def _words(self, path: Path) -> list[str]:
        """Returns the command of the run: the tree as it is saved, with the inputs of its trial."""
        session = self.session
        with session.lock:
            self.tryouts.sound(path)
            meant = {path, *(include.target for include in session.document(path).includes)}
            unsaved = [session.name(p) for p, held in session.buffers.items() if held.unsaved and p in meant]
        if unsaved:
            raise BtError(f"not saved: {', '.join(unsaved)}", "press Save: a run takes what is on the disk")
        given = [word for pair in self.tryouts.inputs(path) for word in ("--set", pair)]
        return ["run", session.name(path), "--view", *given]

    def close(self) -> None:
        if self.live is not None:
            self.live.close()
            self.live = None


class LiveRun:
    """A process that runs a tree and serves its page until it is closed."""

    def __init__(self, tree: str, words: list[str], folder: Path, env: Mapping[str, str]) -> None:
        self.tree, self.url = tree, ""
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self.settled = threading.Event()  # set when the run's page is there, or the run has ended
        self.over = threading.Event()  # the tree has ended
        self.process = child.start(
            child.python("bt_runtime.cli", *words), child.environment(**env), system.ENDING[1], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout,), name="bt-edit-run", daemon=True)
        self.reader.start()

    def _read(self, output: IO[bytes]) -> None:
        while row := output.readline(MOST_LINE):
            line = row.decode("utf-8", "replace").rstrip()
            if line.startswith(f"{VIEW}http") and not self.url:
                self.url = line.removeprefix(VIEW).split()[0]
                threading.Timer(SETTLING, self.settled.set).start()
            elif line.startswith(OVER):
                self.over.set()
            else:
                self.lines.append(line)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        self.settled.set()
        self.over.set()

    @property
    def state(self) -> str:
        if self.process.poll() is not None:
            return "ended"
        return "over" if self.over.is_set() else "going" if self.settled.is_set() else "starting"

    def said(self) -> dict[str, Json]:
        lines = list(self.lines)
        untrusted = self.state == "ended" and not self.url and any("is not trusted" in line for line in lines)
        return {"state": self.state, "tree": self.tree, "url": self.url, "lines": lines, "untrusted": untrusted}

    def close(self) -> None:
        """Halts the tree, and ends the process."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()  # its page goes when the run is over
        if self.process.poll() is None and not self.over.is_set():
            self.process.terminate()
        child.end(self.process, PATIENCE)
        self.reader.join(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
