"""Processes that die at a moment that was drawn: as SIGKILL does it, between any two things that they do."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bt_runtime import Run
from bt_runtime.journal import Recorder
from bt_runtime.journal.lock import Lock
from bt_runtime.journal.store import JournalStore
from bt_runtime.journal.writer import Writer
from bt_runtime.memory import Notebook
from bt_runtime.memory.store import Store as Memory
from bt_runtime.run.replay import rebuild, resume
from bt_runtime.tree.engine import Engine
from tests.journal import chores, errand

WATCHED: tuple[tuple[Any, str], ...] = (
    (Writer, "event"), (Writer, "flush_at_boundary"), (JournalStore, "__init__"), (JournalStore, "commit"),
    (JournalStore, "cut"), (JournalStore, "close"),
    (Lock, "__init__"), (Lock, "release"), (Recorder, "_goes_on"), (Recorder, "verdict"),
    (Recorder, "finished"), (Notebook, "close"), (Memory, "add"), (Run, "_change"), (Engine, "shutdown"),
    (rebuild, "outside"), (resume, "_catch_up"), (errand.Site, "act"), (errand.Site, "save"), (chores, "leave"),
)  # fmt: skip


class Doom:
    """Counts the moments at which a process may die, before and after what is watched, and dies at one of them."""

    def __init__(self, moment: int) -> None:
        self.moment, self.passed = moment, 0
        self.lock = threading.Lock()
        for owner, name in WATCHED:
            self.watch(owner, name)

    def watch(self, owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def watched(*args: Any, **named: Any) -> Any:
            self.passes()
            found = method(*args, **named)
            self.passes()
            return found

        setattr(owner, name, watched)

    def passes(self) -> None:
        with self.lock:
            self.passed += 1
            if self.passed == self.moment:
                os.kill(os.getpid(), signal.SIGKILL)


class Came(dict[str, Any]):
    """What a process came to; `killed` when it came to nothing."""

    @property
    def killed(self) -> bool:
        return not self


def process(work: Callable[[], dict[str, Any]], folder: Path, moment: int = 0) -> Came:
    """`work` in a process of its own, which dies at that moment (0: never)."""
    said = folder / "came"
    said.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            doom = Doom(moment)
            found = work()
            said.write_text(json.dumps({**found, "moments": doom.passed}))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return Came()
    assert os.waitstatus_to_exitcode(status) == 0, "the process broke: see above"
    return Came(json.loads(said.read_text()))
