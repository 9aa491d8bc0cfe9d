"""Work of a process that does not come to its end."""

from __future__ import annotations

import os
import signal

from bt_lab.distill.ddp import Group


def fails(group: Group, why: str) -> None:
    raise ValueError(why)


def dies(group: Group) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
