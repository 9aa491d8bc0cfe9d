"""A browser for the tests of this folder; without one they are skipped, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.view.browser import Browser, missing


@pytest.fixture(scope="session")
def one_browser() -> Iterator[Browser]:
    why = missing()
    if why:
        pytest.skip(why)
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(one_browser: Browser) -> Iterator[Browser]:
    """At the end of each test the page must not have complained."""
    one_browser.console()
    yield one_browser
    complaints = one_browser.console()
    one_browser.open("about:blank")
    assert not complaints, complaints


@pytest.fixture
def artefact(tmp_path: Path) -> Path:
    """Where screenshots are kept: the folder named by BTR_ARTEFACTS, else one that goes with the test."""
    folder = Path(os.environ.get("BTR_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
