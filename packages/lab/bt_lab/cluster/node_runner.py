"""Runs one machine's part of an evaluation with its own models; episodes tick as in `Local`."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from bt_lab.cluster.bundle import Bundle, unpack
from bt_lab.run.backend import Intake, Local
from bt_lab.run.case import Case
from bt_lab.run.outcome import Outcome
from bt_runtime.language.faults.diagnostic import BtError


class NodeRunner:
    """Takes cases from any thread while it is open. A process has one at a time: the project is the process's own."""

    def __init__(self, bundle: Bundle, models: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bt-site-")
        folder = Path(self._folder.name)
        try:
            unpacked = unpack(bundle, folder)
        except BaseException:
            self._folder.cleanup()
            raise
        os.environ["BTR_PROJECT"] = str(folder)  # where prompts and houses are looked for
        self.setup, self.memories = bundle.setup, unpacked.memories
        self.local = Local(models, bundle.jobs)
        self.local.trees.update(unpacked.trees)
        self.intake = Intake(open=True)
        self.running: dict[str, Future[Outcome]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="episodes", daemon=True)
        self._thread.start()

    def run(self, case: Case) -> Future[Outcome]:
        """Runs a case once: a repeated request for a running case, after its caller was lost, joins it."""
        with self._lock:
            future = self.running.get(case.key)
            if future is None:
                future = self.running[case.key] = Future()
                future.set_running_or_notify_cancel()  # nobody who waits for it can cancel it
                self.intake.add(self._here(case))
            return future

    def close(self) -> None:
        """Ends what runs; returns when it has ended."""
        self.intake.end()
        self._thread.join()
        self._folder.cleanup()

    def _here(self, case: Case) -> Case:
        """Returns the case with this machine's path of the memory."""
        strategy = case.strategy
        return case._replace(strategy=strategy._replace(memory=self.memories.get(strategy.memory, "")))

    def _work(self) -> None:
        why: BaseException = BtError("the evaluation was stopped", "the same command goes on with it")
        try:
            for outcome in self.local.served(self.setup, self.intake):
                with self._lock:
                    future = self.running.pop(outcome.key)
                future.set_result(outcome)
        except BaseException as fault:
            why = fault
        with self._lock:
            self.intake.end()
            left, self.running = self.running, {}
        for future in left.values():
            future.set_exception(why)
