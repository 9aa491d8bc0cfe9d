"""SIGTERM and Ctrl-C for runs that the main thread does not `spin`: with a loop of their own, or in threads."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.run import Run

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Stops all its runs for good on a signal; a second signal has its previous effect.

    with signals(run) as caught: ...
    """

    stops_runs = True  # tells `spin` to install no handler of its own

    def __init__(self, *runs: Run) -> None:
        self.runs = [*runs]
        self.number: int | None = None  # the signal that came
        self._before: dict[int, Any] = {}

    def add(self, run: Run) -> None:
        """Adds a run that was made later."""
        self.runs.append(run)
        if self.number is not None:
            run.halt(signal.Signals(self.number).name, for_good=True)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        signal.signal(number, self._before[number])
        self.number = number
        with ExitStack() as all_of_them:
            for run in reversed(self.runs):
                all_of_them.callback(run.halt, signal.Signals(number).name, for_good=True)

    def __enter__(self) -> Signals:
        if threading.current_thread() is not threading.main_thread():
            hint = "enter it in the main thread; the run may be ticked in any other"
            raise BtError("only the main thread of a program hears signals", hint)
        for number in NUMBERS:
            before = signal.getsignal(number)
            if before is None or (number == signal.SIGINT and before in (signal.SIG_DFL, signal.SIG_IGN)):
                before = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            self._before[number] = before
            signal.signal(number, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)


signals = Signals
