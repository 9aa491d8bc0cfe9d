"""`btr fleet vda5050`: takes orders of a master control from an MQTT broker, and tells it the robots' states."""

from __future__ import annotations

import argparse
import json
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.page.following import follow
from bt_fleet.standards.vda5050 import factsheet
from bt_fleet.standards.vda5050.bridge import TREE, Bridge, serve
from bt_fleet.standards.vda5050.mqtt import Mqtt
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mqtt", required=True, metavar="HOST:PORT", help="the broker, as of `btr fleet up --mqtt`")
    parser.add_argument("--manufacturer", default="btr", help="a part of the topics; default: btr")
    parser.add_argument(
        "--tree", default=TREE, help=f"the tree of one stage: its inputs are drive and actions [{TREE}]"
    )
    parser.add_argument("--factsheet", type=Path, metavar="FILE", help="JSON: the type of the robots, by their maker")
    parser.add_argument("--key", type=Path, metavar="FILE", help="of `btr fleet keys add mqtt NAME`")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    host, _, port = args.mqtt.rpartition(":")
    if not port.isdecimal():
        raise BtError(f"--mqtt {args.mqtt}: there is no port", "write HOST:PORT")
    key = json.loads(args.key.read_text("utf-8")) if args.key else {}
    maker = factsheet.read(args.factsheet) if args.factsheet else None
    over, news = threading.Event(), queue.Queue[tuple[Any, ...]]()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with opened(args) as fleet:
        mqtt = Mqtt(host.strip("[]") or "127.0.0.1", int(port), news, key.get("name", ""), key.get("password", ""))
        bridge = Bridge(fleet, mqtt, args.manufacturer, args.tree, maker=maker)
        end = follow(fleet, lambda held: news.put(("record", held)), lambda *beat: news.put(("alive", *beat)))
        mqtt.start(bridge.subscriptions)
        print(f"orders are taken from {bridge.subscriptions[0]} at {args.mqtt}", file=sys.stderr, flush=True)
        try:
            serve(bridge, news, over.is_set)
        finally:
            bridge.leave()
            mqtt.close()
            end()
    return 0
