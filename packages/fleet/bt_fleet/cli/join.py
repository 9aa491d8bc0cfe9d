"""`btr fleet join`: the agent process of one robot."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bt_fleet.cli.server_address import add_server, address
from bt_fleet.robot.battery import Battery
from bt_fleet.robot.card import FINISH, STOP, WORK, Card
from bt_fleet.robot.held import Held
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runs import Runs
from bt_fleet.server.link import Link, library, library_alone
from bt_fleet.server.names import named
from bt_fleet.shared.surroundings import environment
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import PROJECT_FILE, system, trust
from bt_runtime.types import Json


def configure(parser: argparse.ArgumentParser) -> None:
    add_server(parser)
    parser.add_argument("--robot", required=True, metavar="NAME", help="its name in the fleet")
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="its trees and skills")
    parser.add_argument("--has", action="append", default=[], metavar="FACT[=VALUE]", help="what `--needs` asks of it")
    parser.add_argument("--at", metavar="X,Y", help="where it stands")
    parser.add_argument("--speed", type=float, default=1.0, help="metres a second; default: 1")
    parser.add_argument("--battery", type=Path, metavar="FILE", help="a file with the percent left, read at each bid")
    parser.add_argument("--drain", type=float, default=0.0, metavar="P", help="percent that an hour of work takes")
    parser.add_argument("--place", action="append", default=[], metavar="NAME=X,Y", help="where an input's value is")
    parser.add_argument(
        "--alone", choices=(WORK, FINISH, STOP), default=WORK, help="what it does when it hears nothing"
    )
    parser.add_argument("--alone-after", type=float, default=10.0, metavar="S", help="silence after which that holds")
    parser.add_argument(
        "--signed-by",
        action="append",
        default=[],
        metavar="KEY",
        help="take versions of trees that this key has signed",
    )
    parser.add_argument("--state", type=Path, metavar="DIR", help="its own records; default: PROJECT/.fleet/NAME")


def run(args: argparse.Namespace) -> int:
    for each in lacks(args.project, versions=bool(args.signed_by)):
        print(f"{args.robot}: {each}", file=sys.stderr)
    library_alone()
    library()  # its absence is told before anything is begun
    return asyncio.run(_join(args))


def lacks(folder: Path, versions: bool) -> Iterator[str]:
    """Yields what a robot's project lacks before its tasks can be done; BtError for a folder that is no project.
    `versions`: its trees may come from the fleet."""
    if not folder.is_dir():
        raise BtError(f"there is no folder {folder}", "--project names the robot's project")
    if not (folder / PROJECT_FILE).is_file():
        hint = f"make a project of it: touch {folder / PROJECT_FILE}"
        raise BtError(f"{folder.resolve()} has no {PROJECT_FILE}, so that its trees have no names", hint)
    if not versions and next((folder / "trees").rglob("*.yaml"), None) is None:
        yield f"there are no trees in {folder / 'trees'}: each task is refused until there are"
    if next((folder / "skills").rglob("*.py"), None) is not None and not trust.knows(folder):
        yield f"its project is not trusted: skills in Python are refused. Look at them, then: btr trust {folder}"


async def _join(args: argparse.Namespace) -> int:
    name, at = named(args.robot, "a robot"), address(args)
    keys = trusted(args.signed_by)
    state = (args.state or args.project / ".fleet" / name).resolve()
    battery = Battery(args.battery and args.battery.resolve(), args.drain)
    place = _pair(args.at) if args.at else None
    card = Card(name, facts(args.has), place, args.speed, battery, args.alone, args.alone_after)
    places = {key: _pair(value) for key, _, value in (each.partition("=") for each in args.place)}
    held = Held(state / "held.db")
    os.chdir(args.project)
    runner = Runs(state / "runs", held, places, environment(at, name))
    runner.spare()
    link = Link(at, name)
    if keys:
        from bt_fleet.versions.versions import Versions  # brings what reads trees: not into every agent

        runner.versions = Versions(link, Path.cwd(), state / "versions", keys)
    link.listeners.append(
        lambda up: print(f"{name}: {'connected' if up else 'no connection'}", file=sys.stderr, flush=True)
    )
    logging.getLogger("nats").setLevel(logging.CRITICAL)
    agent = Agent(card, link, held, runner)
    runner.copied = agent.hand_in.copied
    work = asyncio.create_task(agent.work())
    system.on_ending(work.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await work
    finally:
        await runner.close()
        await link.close()
        held.close()
    return 0


def trusted(given: list[str]) -> set[str]:
    """Returns public keys; a file may hold some, one a line or as `btr fleet keys list` prints them."""
    found = (Path(each).read_text("utf-8").split() if Path(each).is_file() else [each] for each in given)
    return {word for words in found for word in words if word.startswith("U") and len(word) == 56}


def facts(given: list[str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for each in given:
        name, is_, value = each.partition("=")
        try:
            found[name] = json.loads(value) if is_ else True
        except ValueError:
            found[name] = value
    return found


def _pair(text: str) -> tuple[float, float]:
    try:
        x, y = (float(each) for each in text.split(","))
    except ValueError:
        raise BtError(f"{text!r} is no place", "write it as X,Y: 1.5,2") from None
    return x, y
