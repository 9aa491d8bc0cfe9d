"""Decides whether what left a skill in the tick is the skill's own crash."""

from __future__ import annotations

import signal
import sys
from traceback import walk_tb

from bt_runtime.skills.loop import as_exception


def crash_of(error: BaseException) -> Exception:
    """Returns the exception that the code of a skill raised in the tick. What is not meant for the skill is raised
    again: Ctrl-C, and the exit of a signal's handler, which ends the program.

    A tick awaits nothing: a CancelledError in it is of a future that the skill looked at."""
    asyncio = sys.modules.get("asyncio")
    cancelled = asyncio is not None and isinstance(error, asyncio.CancelledError)
    if isinstance(error, Exception) or cancelled or (isinstance(error, SystemExit) and not _by_signal(error)):
        return as_exception(error)
    raise error


def _by_signal(error: BaseException) -> bool:
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {getattr(getattr(each, "func", each), "__code__", None) for each in handlers} - {None}
    return any(frame.f_code in codes for frame, _ in walk_tb(error.__traceback__))
