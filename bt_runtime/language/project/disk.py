"""Reads and writes users' files: reading never blocks and is bounded; writing is atomic and stays in the project.

What lies in a folder may be anything: a pipe, a device, a link to itself or out of the folder,
a file of many gigabytes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import PROJECT_FILE, real, system

LARGEST = 16 * 2**20  # bytes of a text that is read whole
HUGE = 2**30  # bytes of a data set's file
_PIECE = 2**20  # bytes that are read at a time
_DEVICES = Path("/dev")
_PART = ".part"


def cache(of: str) -> Path:
    """Returns a folder in the user's cache, for indexes that can be rebuilt."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bt_runtime" / of
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Irregular(OSError):
    """Raised for a pipe, a socket or a device."""


class FileTooLarge(OSError):
    """Raised for a regular file of `size` bytes or more."""

    size = 0


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """Opens a regular file and returns its descriptor; raises OSError for anything else, without blocking on a pipe or
    device."""
    try:
        file = os.open(path, flags | system.PLAIN, 0o644)
    except ValueError as error:  # a NUL in the path
        raise OSError(errno.EINVAL, str(error)) from error
    except OSError as error:
        if error.errno == errno.ENXIO:  # a pipe that nobody reads, or a socket
            raise _irregular(path) from error
        if error.errno == errno.ELOOP:
            why = "it is a link" if flags & system.NO_FOLLOW else "it is a link that leads to itself"
            raise OSError(errno.ELOOP, why, os.fspath(path)) from error
        raise
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path)) if stat.S_ISDIR(mode) else _irregular(path)


def read(path: Path, most: int = LARGEST) -> bytes:
    """Returns all bytes of a regular file; raises OSError when it is not one, or holds more than `most`."""
    with os.fdopen(opened(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = _up_to(file, most + 1) if size <= most else b""
    if size > most or len(data) > most:
        size = max(size, len(data))
        fault = FileTooLarge(errno.EFBIG, f"{size:,} bytes are too many, at most {most:,} are read", os.fspath(path))
        fault.size = size
        raise fault
    return data


def _up_to(file: BinaryIO, most: int) -> bytes:
    """Reads in pieces: `file.read(most)` would take the memory for `most` bytes, however short the file is."""
    pieces, left = [], most
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_or_nothing(path: Path, most: int = LARGEST) -> bytes:
    """Like `read`, but returns "" for an unreadable file."""
    try:
        return read(path, most)
    except OSError:
        return b""


def begin(path: Path, most: int) -> bytes:
    """Returns the first bytes of a regular file, whatever its size."""
    with os.fdopen(opened(path), "rb") as file:
        return file.read(most)


def read_text(path: Path, most: int = LARGEST) -> str:
    """Returns the text of a regular file in UTF-8, with `\\n` as line ends."""
    return read(path, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _irregular(path: Path) -> OSError:
    return Irregular(errno.EINVAL, "it is no regular file, but a pipe, a socket or a device", os.fspath(path))


def target(path: Path) -> Path:
    """Returns the file that a write to this path changes, links followed; raises BtError when it is outside the
    project.

    Without a project file above it, a file stays in its own folder. What is below /dev is a terminal or a pipe of the
    person's own.
    """
    here = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links that are looked at
    if _DEVICES in here.parents:
        return here
    ground = next((folder for folder in here.parents if (folder / PROJECT_FILE).is_file()), here.parent)
    found = real(here)
    if not found.is_relative_to(real(ground)):
        raise BtError(f"{path} leads out of {ground}, to {found}: nothing is written there",
                      "name that file itself, or remove the link")  # fmt: skip
    if found.is_symlink():
        raise BtError(f"{path} is a link that leads to itself", "remove the link")
    if found.exists() and not found.is_file():
        raise BtError(f"{path} is no regular file: nothing is written there", "name another file")
    return found


def folder(path: Path) -> None:
    """Makes a folder for files that are written then; BtError when its path leads out of the project."""
    target(path / "_")
    path.mkdir(parents=True, exist_ok=True)


@contextmanager
def draft(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """An atomic write: yields a temporary file beside the target. It replaces the target, synced, when the block ends
    without an exception."""
    found = target(path)
    if _DEVICES in found.parents:
        yield found
        return
    if not found.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", os.fspath(path))
    name = found.with_name(f"{_beginning(found)}{os.getpid()}.{get_ident():x}{_PART}")
    _sweep(found)
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.PLAIN, mode))
    try:
        if found.exists():
            name.chmod(stat.S_IMODE(found.stat().st_mode))
        yield name
        _sync(name)
        name.replace(found)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _beginning(file: Path) -> str:
    """Returns the beginning of a temporary file's name, short enough for every file system."""
    return f".{os.fsdecode(os.fsencode(file.name)[:180])}."


def _sweep(file: Path) -> None:
    """Removes the drafts of this file that killed processes left."""
    begin = _beginning(file)
    for name in _drafts(file.parent):
        pid = name.removeprefix(begin).partition(".")[0]
        if name.startswith(begin) and pid.isdecimal() and not system.is_alive(int(pid)):
            file.with_name(name).unlink(missing_ok=True)


@lru_cache(maxsize=64)
def _drafts(folder: Path) -> list[str]:
    """Returns the drafts in a folder. It is listed once a process, not for each of many files written there."""
    return [each.name for each in os.scandir(folder) if each.name.endswith(_PART)]


def write(path: Path, lines: Iterable[str] | bytes, errors: str = "strict", mode: int = 0o666) -> None:
    """Writes a file atomically: a reader never sees half a file, and a full disk leaves the old content."""
    with draft(path, mode) as name:
        _put(name, lines, errors)


def _put(path: Path, lines: Iterable[str] | bytes, errors: str) -> None:
    if isinstance(lines, bytes):
        path.write_bytes(lines)
        return
    with path.open("w", encoding="utf-8", errors=errors, newline="") as file:
        file.writelines([lines] if isinstance(lines, str) else lines)


def settle(folder: Path) -> None:
    """Syncs a folder, so that its new file names survive a power failure. Windows opens no folder: a no-op there."""
    if system.POSIX:
        _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, (os.O_RDONLY if system.POSIX else os.O_RDWR) | system.PLAIN)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
