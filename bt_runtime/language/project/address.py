"""Decides which addresses are on this machine, and words the error when a port cannot be opened."""

from __future__ import annotations

import ipaddress

from bt_runtime.language.faults.diagnostic import BtError

LOOPBACK = "127.0.0.1"


class Busy(BtError):
    """Raised when an address cannot be opened."""


def is_loopback(host: str) -> bool:
    """True for a loopback host; a name such as 127.example.org is not one."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
    inner = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (inner or found).is_loopback


def checked(host: str, anyone: bool) -> str:
    """Returns the host if listening on it is allowed; raises otherwise."""
    if not anyone and not is_loopback(host):
        raise BtError(f"{host} can be reached from outside this machine", "say --anyone if that is meant")
    return host


def is_named_so(header: str) -> bool:
    """True when a Host header names this machine by a loopback name, which keeps foreign pages out."""
    name, _, port = header.rpartition(":") if not header.endswith("]") else (header, "", "")
    name = name if port.isdecimal() else header
    return is_loopback(name.removeprefix("[").removesuffix("]"))


def busy(host: str, port: int, error: Exception, option: str) -> Busy:
    """Returns the fault of an address that cannot be opened. An OverflowError says that the number is no port."""
    why = (
        "a port is a number from 0 to 65535" if isinstance(error, OverflowError) else getattr(error, "strerror", error)
    )
    return Busy(f"cannot listen on {host}:{port}: {why}", f"name another: {option}")
