"""The arguments that name the fleet's server and what proves who asks, alike for every word."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bt_fleet.server.link import Address
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:  # an agent needs none, and its process stays small
    from bt_fleet.face import Fleet


def add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", help="nats://HOST:PORT or tls://… [BTR_FLEET; this machine's]")
    parser.add_argument("--creds", type=Path, metavar="FILE", help="who asks: a credentials file [BTR_FLEET_CREDS]")
    parser.add_argument("--tls-ca", type=Path, metavar="FILE", help="who may have signed the server's certificate")
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="a certificate of one's own")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key")


def address(args: argparse.Namespace) -> Address:
    creds = args.creds or (Path(given) if (given := os.environ.get("BTR_FLEET_CREDS")) else None)
    url = args.server or os.environ.get("BTR_FLEET") or Address().url
    for name, file in (("--creds", creds), ("--tls-ca", args.tls_ca), ("--tls-cert", args.tls_cert)):
        if file is not None and not file.is_file():
            raise BtError(f"{name}: there is no file {file}", "btr fleet keys makes keys and certificates")
    creds, ca, cert, key = (file and file.resolve() for file in (creds, args.tls_ca, args.tls_cert, args.tls_key))
    return Address(url, creds=creds, ca=ca, cert=cert, key=key)


def opened(args: argparse.Namespace) -> Fleet:
    from bt_fleet.face import Fleet

    return Fleet(address(args), os.environ.get("USER", "")).open()
