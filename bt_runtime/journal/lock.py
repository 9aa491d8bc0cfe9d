"""One writer: a lock that has one holder, whoever dies, forks or lets go meanwhile."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from weakref import WeakSet

from bt_runtime.faults.diagnostic import BtError

PATIENCE = 0.5  # seconds: whoever only looks holds it for an instant
_PAUSE = 0.005


class Lock:
    """On a file beside what is written. The system lets go of it when the process dies; forked children have no part.

    The file goes when the lock does. So a file that was locked and is no longer the one at this place was let go of
    by its holder between our opening and our locking: it guards nothing, and the one that is there now is tried.
    """

    def __init__(self, path: Path) -> None:
        self.path = beside(path)
        end = time.monotonic() + PATIENCE
        try:
            while (file := _taken(self.path)) is None:
                if time.monotonic() > end:
                    raise BtError(f"{path.name} is being written by another process", "end that run first")
                time.sleep(_PAUSE)
        except OSError as error:
            raise BtError(
                f"{path} cannot be locked: {error.strerror}", "free the disk, or name another folder"
            ) from error
        self.file: int | None = file
        _held.add(self)

    def release(self) -> None:
        """Nothing is written after this. Once more does nothing."""
        file, self.file = self.file, None
        if file is None:
            return
        _held.discard(self)
        self.path.unlink(missing_ok=True)  # still ours: whoever locks it from here on finds that it is gone
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)

    def forget(self) -> None:
        """In a forked child: the parent's lock stays the parent's."""
        file, self.file = self.file, None
        if file is not None:
            os.close(file)


_held: WeakSet[Lock] = WeakSet()


def _forked() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_forked)


def beside(path: Path) -> Path:
    return path.with_suffix(".lock")


def is_held(path: Path) -> bool:
    """Does some process hold the lock of this file?"""
    try:
        file = os.open(beside(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # whoever may not look leaves it alone
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _taken(path: Path) -> int | None:
    """The open file, locked, and the one that lies there; None: another has it, or had it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), path.stat()):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None
