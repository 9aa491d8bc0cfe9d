"""`btr fleet versions`: which version of each tree the robots run, and how its tasks have ended."""

from __future__ import annotations

import argparse
import sys
import time

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.versions.deployment import Count, counted

NOTHING = 5


def configure(parser: argparse.ArgumentParser) -> None:
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        deployments, records, robots = fleet.deployments(), fleet.ls(), fleet.robots()
    for tree, each in sorted(deployments.items()):
        counts = counted(records, tree)
        for digest in dict.fromkeys(("", each.stable, each.candidate, *counts)):
            if digest not in counts and digest not in (each.stable, each.candidate):
                continue
            state = "tried" if digest and digest == each.candidate else "runs" if digest == each.stable else "was run"
            runs = sorted(name for name in robots if each.version(name, robots) == digest)
            print(f"{tree:<16} {digest or '(own project)':<34} {state:<8} {counts.get(digest, Count())!s:<16} "
                  f"{' '.join(runs)}".rstrip())  # fmt: skip
        for note in each.notes:
            when, _, what = note.partition(" ")
            print(f"  {time.strftime('%H:%M:%S', time.localtime(float(when)))} {what}")
    if not deployments:
        print("no version is deployed: each robot runs its own project's trees", file=sys.stderr)
    return 0 if deployments else NOTHING
