"""Shows a run while it ticks: the live tree on a terminal, plain lines otherwise."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from bt_runtime.cli.color import painted
from bt_runtime.cli.running.log_lines import LogLines
from bt_runtime.cli.terminal import printing, raw
from bt_runtime.events import Crash, Line, Notice, Stepped, Tick
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import system
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Run


@contextmanager
def watched(run: Run, settings: Settings, plain: bool = False) -> Iterator[None]:
    """Shows the run within `with`; SIGTERM and SIGHUP halt it as Ctrl-C does."""
    with ExitStack() as stack:
        if sys.stderr.isatty() and not plain:
            from bt_runtime.cli.running.live import Live

            live = stack.enter_context(Live(run, raw(sys.stderr), painted(sys.stderr, settings["color"])))
            stack.enter_context(printing(live.printed))
            stack.callback(run.listen(live.tick, Tick))
            teller = LogLines(live.line, settings["log"])
        else:
            teller = LogLines(printed, settings["log"])
            stack.callback(run.listen(teller.stepped, Stepped))
        stack.callback(run.listen(teller.log, Line, Notice))
        stack.callback(run.listen(teller.broke, Crash))
        stack.callback(run.listen(teller.tick, Tick))
        stack.enter_context(terminable(run))
        yield


def printed(text: str) -> None:
    print(visible(text), file=sys.stderr, flush=True)


@contextmanager
def terminable(run: Run) -> Iterator[None]:
    """Stops the run on a signal such as SIGTERM, so that every running skill is cancelled before the process ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        run.parts.runner.halt(signal.Signals(number).name)

    before: list[tuple[int, Any]] = [(n, signal.signal(n, stop)) for n in system.STOPPING]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
