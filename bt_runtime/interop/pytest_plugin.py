"""The pytest fixture `run_tree`: as `bt_runtime.testing.run_tree`, with every run closed when the test has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bt_runtime.testing import Trial


@pytest.fixture
def run_tree() -> Iterator[Callable[..., Trial]]:
    """Runs a tree to its end; `ticks=0` gives the trial before its first tick."""
    from bt_runtime.testing import Trial  # only tests that ask for it pay for it

    trials: list[Trial] = []

    def make(text: Any, *, ticks: int = 100, **options: Any) -> Trial:
        trials.append(Trial(text, **options))
        return trials[-1].finish(ticks) if ticks else trials[-1]

    yield make
    for trial in trials:
        trial.close()
