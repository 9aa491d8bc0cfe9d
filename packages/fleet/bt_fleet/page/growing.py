"""The journal of a run on another machine, copied here while it goes on: its page shows it as if it were here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from bt_fleet.face import Fleet
from bt_fleet.store.record import STARTED
from bt_fleet.store.replica import Restoring
from bt_runtime.journal.lock import Lock
from bt_runtime.language.faults.diagnostic import BtError

EVERY = 1.0  # seconds between two looks at the store
_LOG = logging.getLogger(__name__)


class Growing:
    """A file that grows until the run has ended, or was given to another robot. Its lock says that it is live."""

    def __init__(self, fleet: Fleet, task: str, path: Path) -> None:
        self.fleet, self.task, self.path = fleet, task, path
        held = fleet.show(task)
        self.robot, self.term = held.robot or "", held.term
        self._last, pieces = self._new(0)
        self._file = Restoring(path, read=True)
        if not self._file.add(pieces):
            raise BtError(
                f"of task {task} no journal has reached the store", "its robot hands it in while it has a network"
            )
        self._lock = Lock(path)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="fleet-copy", daemon=True)
        self._thread.start()

    @property
    def live(self) -> bool:
        return not self._over.is_set()

    def close(self) -> None:
        self._over.set()
        if self._thread is not threading.current_thread():
            self._thread.join(5)

    def _work(self) -> None:
        try:
            while not self._over.wait(EVERY):
                ends = not self._goes_on()  # asked before reading: what was written until then is read
                self._last, pieces = self._new(self._last)
                self._file.add(pieces)
                if ends and not pieces:
                    return
        except Exception as error:  # the page shows what is here; opened again, it is copied again
            _LOG.info("the copy of %s has ended: %s", self.task, error)
        finally:
            self._over.set()
            self._lock.release()

    def _goes_on(self) -> bool:
        held = self.fleet.show(self.task)
        return (held.robot, held.term, held.state) == (self.robot, self.term, STARTED)

    def _new(self, last: int) -> tuple[int, list[bytes]]:
        call: Callable[..., tuple[int, list[bytes]]] = self.fleet.call
        return call(self.fleet.store.journal_after(self.robot, self.task, self.term, last))
