"""Parses and checks a server's address once, so that faults in it show early."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project.address import is_loopback

_HINT = "http://HOST:PORT or https://HOST, as in http://localhost:8080"


class Address(NamedTuple):
    text: str  # shown to people: without a last `/v1`
    host: str
    port: int
    secure: bool
    base: str  # the path before every request's own

    @property
    def loopback(self) -> bool:
        """True when what is sent to this address stays on this machine."""
        return is_loopback(self.host)

    @property
    def origin(self) -> tuple[bool, str, int]:
        """The origin of an address, without its path."""
        return self.secure, self.host, self.port


def parse(address: str) -> Address:
    """Raises BtError, in words that repeat no password."""
    text = address.strip()
    shown = f"{text.partition('://')[0]}://…" if "@" in text else repr(text[:200])
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except ValueError as fault:  # UnicodeError is one
        raise BtError(f"{shown} is not an address: {_why(fault)}", _HINT) from None
    if parts.scheme not in ("http", "https") or not host:
        raise BtError(f"{shown} is not an address", _HINT)
    if "@" in parts.netloc:
        raise BtError(f"{shown}: an address carries no name and no password", "put the key into BTR_MODEL_KEY")
    if parts.query or parts.fragment:
        raise BtError(f"{shown}: an address has nothing after ? or #", "put the key into BTR_MODEL_KEY")
    if not text.isprintable() or not parts.path.isascii() or " " in text or "\\" in text or port == 0:
        raise BtError(f"{shown} is not an address", _HINT)
    kept = text.rstrip("/").removesuffix("/v1")
    return Address(
        kept,
        host.lower(),
        port or (443 if parts.scheme == "https" else 80),
        parts.scheme == "https",
        urlsplit(kept).path,
    )


def _why(fault: ValueError) -> str:
    return "its host cannot be read" if isinstance(fault, UnicodeError) else str(fault)
