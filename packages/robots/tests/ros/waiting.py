"""Waits for another process on the wire."""

from __future__ import annotations

import time
from typing import Any

from packages.robots.tests.ros.conftest import GUARD


def wait(do: Any, holds: Any) -> None:
    end = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < end
        do()
        time.sleep(0.01)
