"""The client of a run's debug socket, in another process: sends commands and receives events."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bt_runtime.journal.folder import touched
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.run.debug.door import SUFFIX, folder

MOST = 2_000_000  # bytes of one message of the run
PATIENCE = 30.0  # seconds for an answer: a node may hold a tick


def doors(place: Path | None = None) -> list[Path]:
    """Returns the sockets of the runs that can be attached to, the latest last."""
    at = place or folder()
    found = [path for path in at.glob(f"*{SUFFIX}") if path.is_socket()] if at.is_dir() else []
    return sorted(found, key=touched)


def door(name: str, place: Path | None = None) -> Path:
    """Finds a socket by `last`, by a run's name or its beginning, or by its path."""
    if Path(name).is_socket():
        return Path(name)
    known = doors(place)
    found = known[-1:] if name == "last" else [path for path in known if path.stem.startswith(name)]
    if not found:
        hint = did_you_mean(name, [path.stem for path in known], "start it with `btr run --debug`")
        raise BtError(f"there is no run `{name}` that can be attached to", hint)
    if len(found) > 1:
        raise BtError(f"`{name}` is the beginning of several", ", ".join(path.stem for path in found))
    return found[0]


def attached(name: str) -> Attached:
    """Attaches to the run of this name, or for `last` to the latest run that answers."""
    if name == "last":
        for path in reversed(doors()):
            with suppress(BtError):
                return Attached(path)
    return Attached(door(name))


class Attached:
    """A connection to a run. Closing it ends the client's pause."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(str(path))
        except OSError as error:
            self.socket.close()
            if isinstance(error, ConnectionRefusedError):
                path.unlink(missing_ok=True)  # the socket of a process that was killed
            raise BtError(f"{path.stem} does not answer: {error.strerror}", "its process may have ended") from error
        self.lines = self.socket.makefile("rb")

    def send(self, name: str, given: dict[str, Any]) -> None:
        self.socket.sendall(json.dumps({**given, "do": name}).encode() + b"\n")

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yields the run's messages until it closes the connection."""
        with suppress(OSError):
            while line := self.lines.readline(MOST):
                if not line.endswith(b"\n"):
                    if len(line) < MOST:
                        return  # it has gone within a line
                    raise self._nonsense("a reply that is too large")
                try:
                    found = dict(json.loads(line))
                except (ValueError, TypeError, RecursionError) as error:
                    raise self._nonsense("a reply that is not JSON") from error
                yield found

    def _nonsense(self, what: str) -> BtError:
        return BtError(f"{self.path.stem} sent {what}", "is it a run of bt_runtime?")

    def close(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # a thread that reads goes on with the end
        self.lines.close()
        self.socket.close()
