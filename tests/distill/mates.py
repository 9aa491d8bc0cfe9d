"""Work of a process that does not come to its end."""

from __future__ import annotations

import os
import signal

from bt_runtime.distill.crew import Crew


def fails(crew: Crew, why: str) -> None:
    raise ValueError(why)


def dies(crew: Crew) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
