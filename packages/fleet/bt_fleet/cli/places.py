"""`btr fleet places`: lists who holds which place of the map and who waits for whom, or frees a place."""

from __future__ import annotations

import argparse

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--free", nargs="+", default=[], metavar="PLACE",
                        help="end the claims on places of which you see that no vehicle is there")  # fmt: skip
    parser.add_argument("--reason", default="a person has freed it", metavar="TEXT", help="told with your key's name")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    from bt_fleet.shared.traffic import claims
    from bt_fleet.shared.traffic.places import told

    with opened(args) as fleet:
        for place in args.free:
            print(f"{place}: {fleet.free(place, args.reason)} held it")
        seen = fleet.places()
    for place, each in sorted(seen.items()):
        waits = f", and waits for {' '.join(each.wants)}" if each.wants else ""
        print(f"{place:<24} {each.robot or '-'}{waits}{f'  ({each.note})' if each.note else ''}")
    circles = {frozenset(found): found for each in seen.values() if (found := claims.circle(seen, each.robot))}
    for found in circles.values():
        print(f"deadlock: {told(found, seen)}")
    return 0
