"""`btr fleet keys`: who may connect to the embedded server, and as what."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bt_fleet.cli.up import FOLDER
from bt_fleet.server import guarded
from bt_fleet.server.access import ROLES
from bt_fleet.server.keys import COORDINATOR, Keys
from bt_runtime.language.project import trust
from bt_runtime.language.project.address import LOOPBACK

NOTHING = 5


def configure(parser: argparse.ArgumentParser) -> None:
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--data", type=Path, default=FOLDER, metavar="FOLDER", help="of the server; default: fleet/")
    words = parser.add_subparsers(dest="do", metavar="DO", required=True)
    add = words.add_parser("add", parents=[folder], help="make a key, and write it to a file")
    add.add_argument("role", choices=ROLES)
    add.add_argument("name")
    add.add_argument("--to", type=Path, metavar="FILE", help="default: NAME.key")
    revoke = words.add_parser("revoke", parents=[folder], help="end a key, as of a robot that was stolen")
    revoke.add_argument("name")
    words.add_parser("list", parents=[folder], help="list names, roles and public keys")
    tls = words.add_parser("tls", parents=[folder], help="make a certificate for the server")
    tls.add_argument("hosts", nargs="*", default=["localhost", LOOPBACK], metavar="HOST", help="names and addresses")


def run(args: argparse.Namespace) -> int:
    return {"add": _add, "revoke": _revoke, "list": _list, "tls": _tls}[args.do](args)


def _add(args: argparse.Namespace) -> int:
    keys = Keys(args.data)
    first = not keys.exist
    with _ours(keys):
        path = keys.add(
            args.role, args.name, args.to or (args.data / COORDINATOR if args.role == "coordinator" else None)
        )
    print(path)
    _reload(args.data, "start it again: from now on it asks everybody for a key" if first else "")
    return 0


def _revoke(args: argparse.Namespace) -> int:
    keys = Keys(args.data)
    with _ours(keys):
        gone = keys.revoke(args.name)
    print(f"{gone.role} {gone.name} is revoked")
    _reload(args.data, "")
    return 0


@contextmanager
def _ours(keys: Keys) -> Iterator[None]:
    """Changes the list of keys, which this user then trusts as it stands; one of somebody else is not changed."""
    if keys.exist:
        trust.may_configure(keys.path)
    yield
    trust.forget(keys.path)
    trust.remember(keys.path)


def _reload(folder: Path, first: str) -> None:
    running = guarded.running(folder)
    if first and running:
        print(f"the server runs without keys: {first}", file=sys.stderr)
    elif running:
        guarded.reload(folder)
        print("the server has read its keys again", file=sys.stderr)
    else:
        print("no server of this folder runs: it reads its keys when it starts", file=sys.stderr)


def _list(args: argparse.Namespace) -> int:
    known = Keys(args.data).known()
    for each in known:
        print(f"{each.name:<16} {each.role:<12} {each.public or '(password)'}")
    return 0 if known else NOTHING


def _tls(args: argparse.Namespace) -> int:
    print(guarded.certify(args.data, args.hosts))
    print("start the server again; clients name this file: --tls-ca", file=sys.stderr)
    return 0
