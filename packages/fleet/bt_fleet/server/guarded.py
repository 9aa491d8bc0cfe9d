"""How the embedded server is guarded: who may connect, TLS, and MQTT; from what lies in its folder."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from bt_fleet.server.keys import CONFIGURATION, COORDINATOR, Keys
from bt_fleet.server.link import Address
from bt_fleet.server.server import program
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import address, child, disk, trust

PID = "server.pid"
AUTHORITY, CERTIFICATE, PRIVATE = "ca.pem", "server.pem", "server-key.pem"
YEARS = 10
_READ = 0.5  # seconds in which the server has read its configuration again


def configuration(folder: Path, mqtt: str = "", anyone: bool = False) -> str:
    """Returns what the server's configuration says besides: its process file, TLS, accounts, and MQTT at `HOST:PORT`.
    The accounts are written anew from the list of keys: a file that lies there configures nothing."""
    lines = [f"pid_file: {json.dumps(str((folder / PID).resolve()))}\n"]
    tls = ""
    if (folder / CERTIFICATE).is_file():
        files = {"cert_file": folder / CERTIFICATE, "key_file": folder / PRIVATE}
        tls = "tls { " + ", ".join(f"{key}: {json.dumps(str(path.resolve()))}" for key, path in files.items()) + " }\n"
    lines.append(tls)
    keys = Keys(folder)
    if keys.exist and keys.known():
        trust.may_configure(keys.path)
    if mqtt:
        lines.append(f"mqtt {{ listen: {json.dumps(_mqtt(mqtt, keys, anyone, bool(tls)))}\n{tls} }}\n")
    if keys.exist:
        keys.configure()
        lines.append(f'include "{CONFIGURATION}"\n')
    return "".join(lines)


def _mqtt(listen: str, keys: Keys, anyone: bool, tls: bool) -> str:
    """Returns where MQTT is spoken, if it may be: as the server itself only on this machine, and for known clients.
    Other machines send passwords there, so that it takes TLS."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal():
        raise BtError(f"--mqtt {listen}: there is no port", "write HOST:PORT, as 127.0.0.1:1883")
    host = address.checked(host.strip("[]") or "0.0.0.0", anyone)
    if not tls and not address.is_loopback(host):
        raise BtError(f"--mqtt {listen}: passwords would come there in clear", "btr fleet keys tls HOST")
    if not any(each.role == "mqtt" for each in keys.known()):
        raise BtError("no client may speak MQTT: there is no key for one", "make one: btr fleet keys add mqtt NAME")
    return listen


def url(folder: Path, plain: str) -> str:
    """Returns the address as clients name it: `tls://` where the server has a certificate."""
    return plain.replace("nats://", "tls://") if (folder / CERTIFICATE).is_file() else plain


def coordinator(folder: Path, url: str) -> Address:
    """Returns the address by which the coordinator beside the server connects."""
    creds = folder / COORDINATOR if Keys(folder).exist else None
    ca = folder / AUTHORITY if (folder / CERTIFICATE).is_file() else None
    return Address(url, creds=creds, ca=ca)


def running(folder: Path) -> int | None:
    """Returns the process of this folder's server; None when none runs."""
    pid = disk.read_or_nothing(folder / PID).strip()
    try:
        os.kill(int(pid), 0)
    except (OSError, ValueError):
        return None
    return int(pid)


def reload(folder: Path) -> None:
    """Makes the running server read its keys again. Connections of revoked keys end at once."""
    words = [program(), "--signal", f"reload={running(folder)}"]
    for _ in range(2):  # an account that is new to the server reaches the others' subjects from the second time on
        done = child.answer(words, b"", 10.0, stderr=subprocess.STDOUT)
        if done.returncode:
            raise BtError(f"the server does not read its keys again: {child.last_line(done.stdout)}", "start it again")
        time.sleep(_READ)


def certify(folder: Path, hosts: list[str]) -> Path:
    """Makes an authority of its own and a certificate of the server for these hosts; returns the authority's file."""
    x509, keys, hashes, serial = _library()
    folder.mkdir(parents=True, exist_ok=True)
    authority_key, server_key = (keys.generate_private_key(keys.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "btr fleet")])
    now = datetime.datetime.now(datetime.UTC)

    def build(subject: Any, key: Any, *extensions: Any) -> Any:
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        made = made.not_valid_after(now + datetime.timedelta(days=365 * YEARS))
        for extension in extensions:
            made = made.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return made.sign(authority_key, hashes.SHA256())

    authority = build(issuer, authority_key, x509.BasicConstraints(ca=True, path_length=0))
    names = x509.SubjectAlternativeName([_named(x509, host) for host in hosts])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, hosts[0])])
    server = build(subject, server_key, x509.BasicConstraints(ca=False, path_length=None), names)
    pem, plain = serial.Encoding.PEM, serial.NoEncryption()
    private = server_key.private_bytes(pem, serial.PrivateFormat.PKCS8, plain)
    disk.write(folder / PRIVATE, [private.decode()], mode=0o600)  # the authority's own key is kept nowhere
    disk.write(folder / CERTIFICATE, [server.public_bytes(pem).decode()], mode=0o600)
    disk.write(folder / AUTHORITY, [authority.public_bytes(pem).decode()])
    return folder / AUTHORITY


def _named(x509: Any, host: str) -> Any:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _library() -> tuple[Any, Any, Any, Any]:
    with Extra("fleet", "making certificates", "; or put server.pem, server-key.pem and ca.pem there yourself"):
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    return x509, ec, hashes, serialization
