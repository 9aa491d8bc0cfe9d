"""What tests of several parts use."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a slow or busy machine a test takes long, and holds nevertheless.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests write for themselves may run; the trust of the person who runs them is neither read nor changed."""
    places = tempfile.gettempdir(), tmp_path_factory.getbasetemp(), Path(__file__).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BTR_TRUST", os.pathsep.join(str(Path(place).resolve()) for place in places))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def interrupted() -> None:
    """What tests start hears Ctrl-C, also when these tests run in the background of a shell, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """The data sets of docs/data.md, which are not part of the project; a test that needs them is skipped otherwise."""
    folder = Path(os.environ.get("BTR_DATA") or Path(__file__).parent / "../shared/data")
    if not folder.is_dir():
        pytest.skip("the data sets are not here: set BTR_DATA to their folder")
    return folder
