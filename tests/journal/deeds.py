"""A run whose deeds stay in a file, and whose journal can be made to fail.

`python deeds.py FOLDER POLICY [CAUSE cured|lasting]`: from its fifth deed on the journal cannot be written, for that
cause; `cured`, until the run has said so.
"""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bt_runtime import Run, Skill, Tree, load, skill
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recorder
from bt_runtime.journal.store import JournalLimits
from bt_runtime.testing import SUCCESS

COUNT = 12
FROM = 5  # the deed with which the journal begins to fail
KINDS = ("sure", "seen", "again")  # fail, verify, repeat
FAULTS = {  # by the shim: call, error, part of the path
    "no space": f"write {errno.ENOSPC} -wal",
    "quota": f"write {errno.EDQUOT} -wal",
    "input/output error": f"write {errno.EIO} -wal",
    "read-only": f"write {errno.EROFS} .btr",
    "no sync": f"fsync {errno.EIO} -wal",
}
_LOCK = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print(1,flush=True); input()"


def tree(done: Path, cause: Callable[[], None] = lambda: None) -> Tree:
    def do(kind: str, n: int) -> None:
        if n == FROM:
            cause()
        file = os.open(done, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, f"{kind} {n}\n".encode())
        os.close(file)

    @skill("sure {n}", name="sure", on_resume="fail")
    def sure(n: int) -> None:
        do("sure", n)

    @skill("again {n}", name="again", on_resume="repeat")
    def again(n: int) -> None:
        do("again", n)

    @skill("seen {n}", name="seen")
    class Seen(Skill):
        def start(self, n: int) -> None:
            do("seen", n)

        def poll(self) -> Any:
            return SUCCESS

        def verify(self, n: int) -> bool | None:
            return done.exists() and f"seen {n}" in done.read_text().splitlines()

    lines = [f"    - fallback: [{KINDS[n % 3]}: {n}, log: no {n}]" for n in range(COUNT)]
    text = "version: 1\ntree: deeds\nroot:\n  sequence:\n" + "\n".join(lines) + "\n"
    return load(text, skills=[sure, again, Seen])


class Cause:
    """Why the journal cannot be written; `cure` ends it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.holder: subprocess.Popen[str] | None = None

    def __call__(self) -> None:
        if self.name in FAULTS:
            self._fault(FAULTS[self.name])
        elif self.name == "file size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
        elif self.name == "full disk":
            with (self.folder / "ballast").open("wb", buffering=0) as ballast:
                try:
                    while ballast.write(bytes(1024)):
                        pass
                except OSError:
                    pass
        elif self.name == "lock":
            journal = next((self.folder / "runs").glob("*.btr"))
            words = [sys.executable, "-c", _LOCK, str(journal)]
            self.holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert self.holder.stdout is not None and self.holder.stdout.readline()

    def _fault(self, text: str) -> None:
        path = Path(os.environ["DISK_FAULT"])
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)

    def cure(self) -> None:
        if self.name in FAULTS:
            self._fault("none 0 none")
        elif self.name == "file size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        elif self.name == "full disk":
            (self.folder / "ballast").unlink(missing_ok=True)
        elif self.holder is not None:
            self.holder.communicate("\n")
            self.holder = None


def main(folder: Path, policy: str, name: str = "", until: str = "") -> None:
    cause = Cause(name, folder)

    def said(line: Any) -> None:
        print(line.text, file=sys.stderr)
        if until == "cured" and "cannot be written" in line.text:
            cause.cure()

    patience = 60 if until == "cured" else 0.4
    recorder = Recorder(folder / "runs", limits=JournalLimits(patience=patience), policy=policy)
    with Run(tree(folder / "done", cause), journal=recorder) as run:
        run.listen(said, Line, Notice)
        run.spin()
        print(run.status.name)
    cause.cure()
    (folder / "closed").write_text("yes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
