"""The API key of a server: sent only to the address that it was given for, and masked wherever a server repeats it."""

from __future__ import annotations

import base64
import json
import os
import re
from urllib.parse import quote

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.server.address import Address, parse

KEY_VARIABLE = "BTR_MODEL_KEY"  # sent as a bearer token; never written anywhere
FOR_VARIABLE = "BTR_MODEL_KEY_FOR"  # the address that it is for, whoever names that as a model
MODEL_VARIABLE = "BTR_MODEL"
SECRET = 8  # characters: a shorter key (`none`, `ollama`) is a word that answers may well say
BLOT = "(the key)"
_named: set[tuple[bool, str, int]] = set()  # origins, of this process


class Key:
    """The key for one server, or none. Its `repr` hides the text."""

    def __init__(self, text: str = "") -> None:
        if text and (not text.isascii() or not text.isprintable()):
            raise BtError(
                "the model's key has characters that an HTTP header cannot contain",
                f"is {KEY_VARIABLE} what was meant?",
            )
        self._text = text
        guises = "|".join(map(re.escape, _guises(text)))
        self._pattern = re.compile(guises, re.IGNORECASE) if len(text) >= SECRET else None

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return f"Key({'…' if self else ''})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a key does not travel")

    @property
    def header(self) -> str:
        return f"Bearer {self._text}"

    def blotted(self, text: str) -> str:
        """Masks the key in a text of the server."""
        return self._pattern.sub(BLOT, text) if self._pattern else text


def key_for(address: Address, given: str | None = None) -> Key:
    """The key to send there. `given` was named for this address; otherwise the environment says where its key
    belongs. Raises when the key would cross a network unencrypted."""
    text = os.environ.get(KEY_VARIABLE, "").strip() if given is None and _meant(address) else given or ""
    if text and not address.secure and not address.loopback:
        raise BtError(
            f"the key would be sent to {address.text} unencrypted",
            f"use https://, a tunnel (ssh -L 8080:localhost:8080 {address.host}), or `unset {KEY_VARIABLE}`",
        )
    return Key(text)


def named(where: str | None) -> None:
    """Notes that a flag named this address: the environment's key is for it too, unless it is bound to another."""
    if where and where.startswith(("http://", "https://")):
        _named.add(parse(where).origin)


def withheld(key: Key) -> bool:
    """True when a key exists but was not sent, because it is not registered for this address."""
    return not key and bool(os.environ.get(KEY_VARIABLE))


def _meant(address: Address) -> bool:
    if bound := os.environ.get(FOR_VARIABLE):
        try:
            return parse(bound).origin == address.origin
        except BtError as fault:
            raise BtError(f"{FOR_VARIABLE}: {fault.message}", fault.hint) from None
    if address.origin in _named:
        return True
    own = os.environ.get(MODEL_VARIABLE, "")
    return own.startswith(("http://", "https://")) and parse(own).origin == address.origin


def _guises(key: str) -> list[str]:
    """The spellings in which a server might repeat the key, the longest first."""
    raw = key.encode()
    coded = [base64.b64encode(part).decode().rstrip("=") for part in (raw, b"Bearer " + raw)]
    coded += [base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (raw, b"Bearer " + raw)]
    every = {key, quote(key), quote(key, safe=""), json.dumps(key)[1:-1], raw.hex(), *coded}
    return sorted((guise for guise in every if len(guise) >= SECRET), key=len, reverse=True)
