"""What tests of several parts use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """The data sets that are not part of the project."""
    folder = Path(os.environ.get("BTR_DATA") or Path(__file__).parents[1] / "../shared/data")
    if not folder.is_dir():
        pytest.skip("the data sets are not here: set BTR_DATA to their folder")
    return folder
