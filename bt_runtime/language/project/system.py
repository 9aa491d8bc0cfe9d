"""What only some operating systems have: file locks, flags of `open`, forks, limits of a process, signals in a loop.

Other modules ask here, and import neither `fcntl` nor `resource`: a system without them can then load the package."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError

POSIX = sys.platform != "win32"
# Flags of `os.open`; 0 where the system has no such flag. Windows would otherwise translate line ends.
NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
PLAIN: int = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
ENDING: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
STOPPING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_FAR = 2**30  # the byte locked on Windows, whose locks keep others from reading: behind every content, below 2 GiB


def _module(name: str) -> Any:
    """Returns a module of the standard library, or None on a system that lacks it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_fcntl, _msvcrt, _resource = _module("fcntl"), _module("msvcrt"), _module("resource")


def lock(file: int, shared: bool = False, wait: bool = False) -> None:
    """Locks an open file; raises BlockingIOError when another process holds it and `wait` is False.

    `shared` tests the lock without excluding others that test it; Windows has exclusive locks only."""
    if _fcntl is not None:
        kind = _fcntl.LOCK_SH if shared else _fcntl.LOCK_EX
        _fcntl.flock(file, kind if wait else kind | _fcntl.LOCK_NB)
    elif _msvcrt is not None:
        _lock_byte(file, wait)
    else:
        raise OSError(errno.ENOSYS, "this system has no file locks")


def _lock_byte(file: int, wait: bool) -> None:
    """Locks one byte behind the content. A waiting call of Windows gives up after ten seconds: it is repeated."""
    while True:
        try:
            _at_byte(file, _msvcrt.LK_LOCK if wait else _msvcrt.LK_NBLCK)
            return
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            if not wait:
                raise BlockingIOError(errno.EAGAIN, "another process holds the lock") from error


def _at_byte(file: int, how: int) -> None:
    before = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _FAR, os.SEEK_SET)
    try:
        _msvcrt.locking(file, how, 1)
    finally:
        os.lseek(file, before, os.SEEK_SET)


def unlock(file: int) -> None:
    """Releases the lock of an open file."""
    if _fcntl is not None:
        _fcntl.flock(file, _fcntl.LOCK_UN)
    elif _msvcrt is not None:
        _at_byte(file, _msvcrt.LK_UNLCK)


def after_fork(callback: Callable[[], None]) -> None:
    """Calls back in each forked child; a no-op on systems without fork."""
    register = getattr(os, "register_at_fork", None)
    if register is not None:
        register(after_in_child=callback)


def is_alive(pid: int) -> bool:
    """False when no process has this number. On Windows, where signal 0 would interrupt the process, always True."""
    if not POSIX:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def end_group(pid: int) -> None:
    """Kills the process group that this process leads; a no-op on systems without process groups."""
    if hasattr(os, "killpg"):
        os.killpg(pid, KILL)


def user() -> int:
    """Returns the number of this process's user: 0 on Windows, where `stat` also gives 0 for each file's owner."""
    return os.getuid() if hasattr(os, "getuid") else 0


def limit(what: str, most: int) -> None:
    """Limits this process, e.g. `limit("RLIMIT_AS", 2**30)`; a no-op where the system has no such limit. Raises OSError
    or ValueError when a lower limit is in force."""
    if _resource is not None and hasattr(_resource, what):
        _resource.setrlimit(getattr(_resource, what), (most, most))


def most_memory() -> int:
    """Returns the most memory that this process has used, in bytes; 0 where the system does not tell."""
    if _resource is None:
        return 0
    most = int(_resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else most * 1024


def remove_locked(path: Path, file: int) -> None:
    """Removes a file that this process has locked, releases the lock and closes the file. Others that wait for the lock
    find that the file is gone; Windows removes no open file, so there it is removed last, unless another has it."""
    if POSIX:
        path.unlink(missing_ok=True)
    unlock(file)
    os.close(file)
    if not POSIX:
        with suppress(OSError):
            path.unlink()


def needs_inheritance(what: str) -> None:
    """Raises BtError where a child process cannot inherit an open socket by its number, which `what` needs."""
    if not POSIX:
        raise BtError(f"{what} needs a process that inherits a socket, and Windows has none",
                      "use WSL, or a server: --model http://HOST:PORT")  # fmt: skip


def on_ending(callback: Callable[[], object]) -> None:
    """Calls back in the running event loop at Ctrl-C and SIGTERM, also where loops take no signal handlers."""
    import asyncio  # `btr --help` has no loop

    loop = asyncio.get_running_loop()
    for number in ENDING:
        try:
            loop.add_signal_handler(number, callback)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(callback))
