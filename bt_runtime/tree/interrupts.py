"""Ctrl-C and SIGTERM of a run that spins."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bt_runtime.tree.runner import Runner


def _is_free(number: int) -> bool:
    handler = signal.getsignal(number)
    return not getattr(handler, "stops_runs", False) and (number == signal.SIGINT or handler is signal.SIG_DFL)


@contextmanager
def interruptible(runner: Runner, signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[None]:
    """Makes Ctrl-C and SIGTERM stop the runner; a second signal kills. Only the main thread can do this.

    Leaves another library's SIGTERM handler and `bt.signals` alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [n for n in signals if _is_free(n)]
    before: dict[int, Any] = {number: signal.getsignal(number) for number in ours}

    def first(number: int, frame: FrameType | None) -> None:
        kills = before[number]
        signal.signal(number, kills if callable(kills) or number != signal.SIGINT else signal.default_int_handler)
        runner.halt("interrupted" if number == signal.SIGINT else signal.Signals(number).name)

    for number in ours:
        signal.signal(number, first)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
