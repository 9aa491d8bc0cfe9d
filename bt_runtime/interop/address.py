"""Where something listens: this machine alone, unless it is said that anyone may come."""

from __future__ import annotations

from bt_runtime.faults.diagnostic import BtError

LOOPBACK = "127.0.0.1"


class Busy(BtError):
    """The address cannot be had."""


def checked(host: str, anyone: bool) -> str:
    """The host, when it may be listened on."""
    if not anyone and host not in ("localhost", "::1") and not host.startswith("127."):
        raise BtError(f"{host} can be reached from outside this machine", "say --anyone if that is meant")
    return host


def busy(host: str, port: int, why: str, option: str) -> Busy:
    return Busy(f"cannot listen on {host}:{port}: {why}", f"name another: {option}")
