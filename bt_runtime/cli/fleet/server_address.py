"""The arguments that name the fleet's server and what proves who asks, alike for every word."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bt_runtime.fleet.face import Fleet
from bt_runtime.fleet.link import Address


def add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", help="nats://HOST:PORT or tls://… [BTR_FLEET; this machine's]")
    parser.add_argument("--creds", type=Path, metavar="FILE", help="who asks: a credentials file [BTR_FLEET_CREDS]")
    parser.add_argument("--tls-ca", type=Path, metavar="FILE", help="who may have signed the server's certificate")
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="a certificate of one's own")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key")


def address(args: argparse.Namespace) -> Address:
    creds = args.creds or (Path(given) if (given := os.environ.get("BTR_FLEET_CREDS")) else None)
    url = args.server or os.environ.get("BTR_FLEET") or Address().url
    return Address(url, creds=creds, ca=args.tls_ca, cert=args.tls_cert, key=args.tls_key)


def opened(args: argparse.Namespace) -> Fleet:
    return Fleet(address(args), os.environ.get("USER", "")).open()
