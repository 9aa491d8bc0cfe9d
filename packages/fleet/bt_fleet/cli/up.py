"""`btr fleet up`: the embedded server, or a connection to one that runs, and a coordinator that assigns tasks."""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from pathlib import Path
from typing import Any

from bt_fleet.cli.server_address import add_server, address
from bt_fleet.coordinator.coordinator import LEASE, Coordinator
from bt_fleet.server import guarded
from bt_fleet.server.link import PORT, Link
from bt_fleet.server.server import Server, ServerOptions
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import address as addresses
from bt_runtime.language.project import system

FOLDER = Path("fleet")


_PATIENCE = 30.0  # seconds in which a server that is slow, or is being started, must answer


def configure(parser: argparse.ArgumentParser) -> None:
    add_server(parser)
    parser.add_argument(
        "--data", type=Path, default=FOLDER, metavar="FOLDER", help="of the embedded server; default: fleet/"
    )
    parser.add_argument("--host", default=addresses.LOOPBACK, help="where the embedded server listens")
    parser.add_argument("--port", type=int, default=PORT, help=f"its port; 0: a free one; default: {PORT}")
    parser.add_argument("--anyone", action="store_true", help="other machines may reach the embedded server")
    parser.add_argument("--sync", default="always", metavar="always|TIME", help="when its messages are on the disk")
    parser.add_argument("--mqtt", default="", metavar="HOST:PORT", help="where the embedded server speaks MQTT too")
    parser.add_argument("--store", default="16GB", metavar="SIZE", help="the most that its streams take on the disk")
    parser.add_argument("--lease", type=float, default=LEASE, metavar="S", help="silence after which a robot is lost")


def run(args: argparse.Namespace) -> int:
    return asyncio.run(_up(args))


def _size(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d*[KMGT]B", text):
        raise BtError(f"--store {text}: this is no size", "write it as 500MB or 16GB")
    return text


async def _up(args: argparse.Namespace) -> int:
    stop = asyncio.Event()
    system.on_ending(stop.set)
    server = None
    if args.server is None:
        more = guarded.configuration(args.data, args.mqtt, args.anyone)
        server = await Server(
            ServerOptions(args.data, args.host, args.port, args.anyone, args.sync, more, _size(args.store))
        ).start()
        url = guarded.url(args.data, server.url)
    else:
        url = address(args).url
    link = Link(address(args) if server is None else guarded.coordinator(args.data, url), "coordinator")
    work: list[asyncio.Task[Any]] = [asyncio.create_task(stop.wait())]
    if server is not None:
        work.append(asyncio.create_task(server.watch()))  # from its start on: it may end before it is connected to
    try:
        async with await link.opened(_PATIENCE):
            work.append(asyncio.create_task(Coordinator(link, args.lease).work()))
            print(f"the fleet is up at {url}", file=sys.stderr, flush=True)
            if server is not None and url == server.url and not addresses.is_loopback(args.host):
                print("tasks go to other machines in clear: btr fleet keys tls HOST", file=sys.stderr, flush=True)
            done, left = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for each in left:
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            for each in done:
                each.result()
    finally:
        if server is not None:
            server.stop()
    return 0
