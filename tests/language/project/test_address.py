"""One opinion on what stays on this machine."""

from __future__ import annotations

import pytest

from bt_runtime import BtError
from bt_runtime.language.project import address, trust
from bt_runtime.llm.server.address import parse

OURS = ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"]
THEIRS = ["127.example.org", "localhost.example.org", "0.0.0.0", "::", "10.0.0.1", "example.org", "1270.0.0.1", ""]


@pytest.mark.parametrize("host", OURS)
def test_what_stays_here_does_so_for_pages_models_and_trust(host):
    """The page, the exports, a model's key and the question of trust agree."""
    url = f"http://[{host}]:1" if ":" in host else f"http://{host}:1"
    assert address.checked(host, anyone=False) == host
    assert parse(url).loopback and not trust.beyond(url)


@pytest.mark.parametrize("host", THEIRS)
def test_what_may_leave_is_refused_unless_anyone_is_meant(host):
    """A name that only begins like a loopback address is none."""
    with pytest.raises(BtError, match="outside"):
        address.checked(host, anyone=False)
    assert address.checked(host, anyone=True) == host and trust.beyond(f"http://{host}:1")
