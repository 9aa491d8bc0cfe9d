"""The keys of a fleet: made here, kept by whom they were made for. The server's folder holds public keys only."""

from __future__ import annotations

import base64
import binascii
import json
import os
import secrets
from pathlib import Path
from typing import Any, NamedTuple

from bt_fleet.server.access import ROLES, Identity, Role, configuration
from bt_fleet.server.names import SOMEBODY, named
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk

KNOWN, CONFIGURATION, COORDINATOR = "access.json", "access.conf", "coordinator.key"
_USER = 20 << 3  # the first byte of a user's public key
_SEED = 18 << 3  # … and of a seed
_LARGEST = 4 * 1024 * 1024  # bytes of the list of keys
_ANEW = "put its last copy there, or delete it and make all keys anew: btr fleet keys add"


class Key(NamedTuple):
    """A private key, as its file holds it."""

    name: str
    role: str
    seed: str

    def text(self) -> str:
        return json.dumps(self._asdict(), indent=1) + "\n"

    def sign(self, data: bytes) -> str:
        """Returns a signature of these bytes, as text."""
        return base64.b64encode(_signing(self.seed).sign(data).signature).decode()


def is_key(path: Path) -> bool:
    """True for a file of `btr fleet keys add`; a NATS credentials file begins otherwise."""
    try:
        return disk.begin(path, 1) == b"{"
    except OSError as error:
        raise BtError(f"there is no key at {path}", "--creds names its file") from error


def read(path: Path) -> Key:
    """Reads a key's file; BtError where it is none."""
    try:
        data = json.loads(disk.read(path, _LARGEST))
        return Key(str(data["name"]), str(data["role"]), str(data["seed"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BtError(f"{path} is no key of a fleet: {error}", "make one: btr fleet keys add operator NAME") from error


def verified(public: str, data: bytes, signature: str) -> bool:
    """True when the owner of this public key has signed these bytes."""
    nacl = _library()
    try:
        nacl.VerifyKey(_unpacked(public)[1:33]).verify(data, base64.b64decode(signature))
    except (ValueError, nacl.BadSignature):
        return False
    return True


class Keys:
    """The identities that a server knows, in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def path(self) -> Path:
        return self.folder / KNOWN

    @property
    def exist(self) -> bool:
        """True when the server of this folder asks everybody who they are."""
        return os.path.lexists(self.folder / KNOWN)

    def known(self) -> list[Identity]:
        """Returns whom the server knows; BtError where the list cannot be read."""
        path = self.folder / KNOWN
        if not self.exist:
            return []
        try:
            return [_identity(each) for each in _listed(path)]
        except (OSError, ValueError, RecursionError) as error:
            raise BtError(f"{path} is no list of keys: {error!s:.200}", _ANEW) from error

    def configure(self) -> None:
        """Writes what the server includes, from the list of keys."""
        disk.write(self.folder / CONFIGURATION, [configuration(self.known())], mode=0o600)

    def add(self, role: str, name: str, to: Path | None = None) -> Path:
        """Makes a key and writes it to a file that only its owner may read; returns the file."""
        named(name, f"a {role}")
        if name == SOMEBODY:
            raise BtError(f"a {role} cannot be called `{name}`: those without a key are", "another name")
        if role not in ROLES:
            raise BtError(f"`{role}` is no role", f"a key is for one of {', '.join(ROLES)}")
        known = self.known()
        if any(each.name == name for each in known):
            raise BtError(f"there is a key for `{name}`", f"revoke it first: btr fleet keys revoke {name}")
        if not any(each.role == "coordinator" for each in known) and role != "coordinator":
            self.add("coordinator", "coordinator", self.folder / COORDINATOR)
            known = self.known()
        path = to if to is not None else Path(f"{name}.key")
        if path.exists():
            raise BtError(f"{path} is there already", "name another file: --to FILE")
        role_of: Role = next(each for each in ROLES if each == role)
        private, identity = _mqtt(name) if role_of == "mqtt" else _made(name, role_of)
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write(path, [private], mode=0o600)
        self._keep([*known, identity])
        return path

    def revoke(self, name: str) -> Identity:
        """Takes a key off the list: the server ends its connections when it reads the list again."""
        known = self.known()
        gone = next((each for each in known if each.name == name), None)
        if gone is None:
            raise BtError(f"there is no key for `{name}`", "btr fleet keys list")
        self._keep([each for each in known if each is not gone])
        return gone

    def _keep(self, known: list[Identity]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps([each._asdict() for each in known], indent=1) + "\n"
        disk.write(self.folder / KNOWN, [text], mode=0o600)
        self.configure()


def _listed(path: Path) -> list[Any]:
    found = json.loads(disk.read(path, _LARGEST))
    if not isinstance(found, list):
        raise ValueError("it is no list")
    return found


def _identity(given: Any) -> Identity:
    """Returns an entry of the list whose parts are what they seem to be: they stand in the server's configuration."""
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise ValueError("an entry is no mapping of texts")
    role = next((each for each in ROLES if each == given.get("role")), None)
    if role is None:
        raise ValueError(f"`{given.get('role')}` is no role")
    try:
        identity = Identity(named(given.get("name", ""), f"a {role}"), role, given.get("public", ""),
                            given.get("password", ""))  # fmt: skip
    except BtError as error:
        raise ValueError(error.message) from error
    if role != "mqtt" and (len(identity.public) != 56 or _unpacked(identity.public)[0] != _USER):
        raise ValueError(f"the key of `{identity.name}` is none")
    return identity


def _made(name: str, role: Role) -> tuple[str, Identity]:
    raw = os.urandom(32)
    public = _packed(bytes([_USER]) + bytes(_library().SigningKey(raw).verify_key))
    first, second = _SEED | (_USER >> 5), (_USER & 31) << 3
    seed = _packed(bytes([first, second]) + raw)
    return Key(name, role, seed).text(), Identity(name, role, public)


def _mqtt(name: str) -> tuple[str, Identity]:
    """A password, because MQTT clients have no keys; the server's folder holds it readable for its owner alone."""
    password = secrets.token_urlsafe(24)
    return json.dumps({"name": name, "password": password}, indent=1) + "\n", Identity(name, "mqtt", "", password)


def public_of(seed: str) -> str:
    return _packed(bytes([_USER]) + bytes(_signing(seed).verify_key))


def _signing(seed: str) -> Any:
    return _library().SigningKey(_unpacked(seed)[2:34])


def _packed(data: bytes) -> str:
    """Encodes a key as NATS does: base 32 without padding, with a CRC-16 at its end."""
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).decode().rstrip("=")


def _unpacked(text: str) -> bytes:
    data = base64.b32decode(text + "=" * (-len(text) % 8))
    if int.from_bytes(data[-2:], "little") != binascii.crc_hqx(data[:-2], 0):
        raise ValueError("the key's checksum is wrong")
    return data[:-2]


def _library() -> Any:
    with Extra("fleet", "keys of a fleet"):
        import nacl.exceptions
        import nacl.signing

    class Signing:
        SigningKey, VerifyKey = nacl.signing.SigningKey, nacl.signing.VerifyKey
        BadSignature = nacl.exceptions.BadSignatureError

    return Signing
