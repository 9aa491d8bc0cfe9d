"""Work of a process that does not come to its end."""

from __future__ import annotations

import os
import signal

from bt_lab.distill.ddp import ProcessGroup


def fails(group: ProcessGroup, why: str) -> None:
    raise ValueError(why)


def dies(group: ProcessGroup) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
