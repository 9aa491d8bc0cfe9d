"""Data sets are read where they are; a test that needs them is skipped with the reason when they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    named = os.environ.get("BTR_DATA")
    found = Path(named) if named else Path(__file__).parents[2] / "../shared/data"
    if not found.is_dir():
        pytest.skip("the data sets of docs/data.md are not here: name their folder in BTR_DATA")
    return found
