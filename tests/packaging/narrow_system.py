"""Takes away what only POSIX systems have, then runs a command of `btr`, or a program after `-c`.

The standard library and the parts of the base are imported first: what they use on Windows cannot be had here.
`msvcrt`, the locks of Windows, is played by those of this system; without `--locks` there are none at all."""

from __future__ import annotations

import errno
import fcntl
import importlib
import os
import signal
import socket
import sys
from types import ModuleType
from typing import Any

FIRST = [
    "asyncio",
    "http.server",
    "jsonschema",
    "multiprocessing.connection",
    "py_trees",
    "sqlite3",
    "subprocess",
    "tempfile",
    "yaml",
]
MODULES = ["fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"]
OF_OS = [
    "fork",
    "forkpty",
    "getegid",
    "geteuid",
    "getgid",
    "getpgid",
    "getpgrp",
    "getuid",
    "killpg",
    "mkfifo",
    "nice",
    "register_at_fork",
    "sched_getaffinity",
    "sched_setscheduler",
    "set_blocking",
    "setsid",
    "O_CLOEXEC",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NONBLOCK",
]
SIGNALS = ["SIGALRM", "SIGCONT", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGWINCH"]


class Absent:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def windows_locks() -> ModuleType:
    made: Any = ModuleType("msvcrt")
    made.LK_UNLCK, made.LK_LOCK, made.LK_NBLCK = 0, 1, 2
    ours = fcntl

    def locking(file: int, how: int, count: int) -> None:
        try:
            ours.flock(file, (ours.LOCK_UN, ours.LOCK_EX, ours.LOCK_EX | ours.LOCK_NB)[how])
        except BlockingIOError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    made.locking = locking
    return made  # type: ignore[no-any-return]


def take_away(locks: bool) -> None:
    for name in FIRST:
        importlib.import_module(name)
    if locks:
        sys.modules["msvcrt"] = windows_locks()
    sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]
    for owner, names in ((sys.modules, MODULES), (os, OF_OS), (signal, SIGNALS), (socket, ["AF_UNIX"])):
        for name in names:
            vars(owner).pop(name, None) if isinstance(owner, ModuleType) else owner.pop(name, None)
    sys.platform = "win32"


if __name__ == "__main__":
    words = sys.argv[1:]
    take_away("--locks" in words)
    words = [word for word in words if word != "--locks"]
    if words[0] == "-c":
        exec(words[1], {"__name__": "__main__"})
    else:
        from bt_runtime.cli import main

        sys.exit(main(words))
