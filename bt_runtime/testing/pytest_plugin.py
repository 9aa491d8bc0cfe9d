"""The pytest fixture `run_tree`: like `bt_runtime.testing.run_tree`, but it closes every run at the test's end.

`--btr-cov` says which nodes of trees the tests have reached, and with which results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bt_runtime.testing import Trial


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bt_runtime", "coverage of behaviour trees")
    text = "say which nodes of trees were reached, with which results; PATH: a tree or a folder (default: trees/)"
    group.addoption("--btr-cov", dest="btr_cov", action="append", nargs="?", const="", metavar="PATH", help=text)
    text = "fail when less than N %% of the results with which nodes can end were seen"
    group.addoption("--btr-cov-fail-under", dest="btr_cov_fail_under", type=float, metavar="N", help=text)
    text = "write it in colours, for `btr view FILE.jsonl`"
    group.addoption("--btr-cov-page", dest="btr_cov_page", metavar="FILE.jsonl", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("btr_cov") is not None:
        from bt_runtime.testing.pytest_coverage import TreeCoverage

        config.pluginmanager.register(TreeCoverage(config), "btr_cov")


@pytest.fixture
def run_tree() -> Iterator[Callable[..., Trial]]:
    """Runs a tree to its end; `seconds=0` gives the trial before its first tick."""
    from bt_runtime.testing import Trial  # only tests that ask for it pay for it

    trials: list[Trial] = []

    def make(text: Any, *, seconds: float | None = None, **options: Any) -> Trial:
        trials.append(Trial(text, **options))
        if seconds == 0:
            return trials[-1]
        return trials[-1].finish() if seconds is None else trials[-1].finish(seconds)

    yield make
    for trial in trials:
        trial.close()
