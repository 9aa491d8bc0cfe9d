"""What a test of this room leaves to the garbage collector is collected with it, and not in the middle of another."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest

from bt_fleet.server import link

link.PATIENCE = 60.0  # a busy machine is no dead server


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """The client leaves the socket of a failed attempt to connect to the garbage collector. Its warning is
    an error here, and one in the middle of a compilation breaks the interpreter's count of its depth."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
