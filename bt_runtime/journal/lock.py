"""A lock that ensures one writer, also after a crash, a fork or a release."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from weakref import WeakSet

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, system

PATIENCE = 0.5  # seconds: whoever only looks holds it for an instant
_PAUSE = 0.005


class Lock:
    """A lock on a file beside the journal. The system releases it when the process dies; forked children do not hold
    it.

    Releasing deletes the file. A file may therefore be deleted between our opening and locking it; such a file
    guards nothing, and the new file is tried."""

    def __init__(self, path: Path) -> None:
        self.path = beside(path)
        end = time.monotonic() + PATIENCE
        try:
            while (file := _taken(self.path)) is None:
                if time.monotonic() > end:
                    raise BtError(f"{path.name} is being written by another process", "end that run first")
                time.sleep(_PAUSE)
        except OSError as error:
            raise BtError(f"{path} cannot be locked: {_why(error)}", _way_out(error, self.path)) from error
        self.file: int | None = file
        _held.add(self)

    def release(self) -> None:
        """Ends writing. Calling it again is a no-op."""
        file, self.file = self.file, None
        if file is None:
            return
        _held.discard(self)
        system.remove_locked(self.path, file)

    def forget(self) -> None:
        """Drops the lock in a forked child: the parent keeps it."""
        file, self.file = self.file, None
        if file is not None:
            os.close(file)


_WITHOUT = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # how a file system says that it has no locks


def _why(error: OSError) -> str:
    return "its file system has no locks" if error.errno in _WITHOUT else str(error.strerror)


def _way_out(error: OSError, lock: Path) -> str:
    if error.errno in _WITHOUT:
        return "name a folder on a local disk: --runs FOLDER"
    odd = isinstance(error, disk.Irregular) or error.errno in (errno.ELOOP, errno.EISDIR)
    return f"remove {lock}" if odd else "free the disk, or name another folder"


_held: WeakSet[Lock] = WeakSet()


def _forked() -> None:
    for lock in list(_held):
        lock.forget()


system.after_fork(_forked)


def beside(path: Path) -> Path:
    return path.with_suffix(".lock")


def is_held(path: Path) -> bool:
    """True while a process holds this file's lock."""
    try:
        file = disk.opened(beside(path))
    except FileNotFoundError:
        return False
    except OSError:
        return True  # a lock that may not be read counts as held
    try:
        system.lock(file, shared=True)
    except OSError:
        return True  # held, or on a file system without locks, where nobody can tell
    finally:
        os.close(file)
    return False


def _taken(path: Path) -> int | None:
    """Returns the open and locked file, or None when another process holds it."""
    file = disk.opened(path, os.O_RDWR | os.O_CREAT | system.NO_FOLLOW)
    try:
        system.lock(file)
        if os.path.samestat(os.fstat(file), path.stat()):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None
