"""`btr fleet vda5050`: a vehicle under a master control. It takes orders by MQTT, does them, and tells its state."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bt_fleet.cli.join import lacks
from bt_fleet.cli.server_address import add_server, address
from bt_fleet.server.link import Address
from bt_fleet.server.names import named
from bt_fleet.standards.vda5050 import facts, factsheet, steps
from bt_fleet.standards.vda5050.facts import Facts
from bt_fleet.standards.vda5050.journey import Journey
from bt_fleet.standards.vda5050.mqtt import Door, Mqtt, library
from bt_fleet.standards.vda5050.vehicle import Names, Vehicle, in_words, live
from bt_runtime import Run, Tree, load
from bt_runtime.cli import _guard, options
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.journal import folder
from bt_runtime.journal.record import Recorder
from bt_runtime.journal.store import JournalLimits
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.project import system, trust
from bt_runtime.language.settings import Settings
from bt_runtime.run.replay.resume import resume
from bt_runtime.types import Json

DAYS = 7.0  # days for which runs of earlier orders are kept


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--robot", required=True, metavar="NAME", help="its name: the serial number in the topics")
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="its trees and skills")
    parser.add_argument("--mqtt", required=True, metavar="HOST:PORT", help="the broker")
    parser.add_argument("--manufacturer", default="btr", help="a part of the topics; default: btr")
    parser.add_argument("--factsheet", type=Path, metavar="FILE", help="JSON: the vehicle's type, by its maker")
    parser.add_argument("--trial", action="store_true", help="tell states although not all that they need is known")
    parser.add_argument("--new", action="store_true", help="begin without the order that the latest run had")
    parser.add_argument("--state", type=Path, metavar="DIR", help="its runs; default: PROJECT/.fleet/NAME/vda5050")
    parser.add_argument("--fleet", action="store_true", help="also a robot of a fleet, whose operators may halt it")
    add_server(parser)
    options.add_options(parser, "run")
    parser.add_argument("--key", type=Path, metavar="FILE", help="of `btr fleet keys add mqtt NAME`: name, password")
    parser.add_argument("--mqtt-ca", type=Path, metavar="FILE", help="who signed the broker's certificate: TLS")
    parser.add_argument("--mqtt-cert", type=Path, metavar="FILE", help="the vehicle's own certificate")
    parser.add_argument("--mqtt-key", type=Path, metavar="FILE", help="the certificate's key")


def run(args: argparse.Namespace) -> int:
    library()  # its absence is told before anything is begun
    door, name = opened(args), named(args.robot, "a robot")
    maker = factsheet.read(args.factsheet) if args.factsheet else None
    at = address(args) if args.fleet or args.server else None
    place = (args.state or args.project / ".fleet" / name / "vda5050").resolve()
    for each in lacks(args.project, versions=False):
        print(f"{name}: {each}", file=sys.stderr)
    os.chdir(args.project)
    before, trust.guard = trust.guard, _guard(True)  # what the project's trees name is imported once it is trusted
    try:
        trust_prompt.kinds()
        return asyncio.run(_work(args, name, door, place, maker, at))
    finally:
        trust.guard = before


def opened(args: argparse.Namespace) -> Door:
    """Returns where the broker is, and who the vehicle is there."""
    host, _, port = args.mqtt.rpartition(":")
    if not port.isdecimal():
        raise BtError(f"--mqtt {args.mqtt}: there is no port", "write HOST:PORT")
    files = {"--key": args.key, "--mqtt-ca": args.mqtt_ca, "--mqtt-cert": args.mqtt_cert, "--mqtt-key": args.mqtt_key}
    for option, file in files.items():
        if file is not None and not file.is_file():
            raise BtError(f"{option}: there is no file {file}", "btr fleet keys makes keys and certificates")
    key = json.loads(args.key.read_text("utf-8")) if args.key else {}
    ca, cert, own = (file and file.resolve() for file in (args.mqtt_ca, args.mqtt_cert, args.mqtt_key))
    host = host.strip("[]") or "127.0.0.1"
    return Door(host, int(port), key.get("name", ""), key.get("password", ""), ca, cert, own).checked()


def trees() -> tuple[Tree, Tree | None]:
    """Loads the run's tree and the project's. Faults in the trees that steps will need are told now."""
    home = project.find_root() or Path.cwd()
    whole = load(steps.CALLS, project=home)
    own = (home / "trees" / f"{facts.TREE}.yaml").is_file()
    looks = load(facts.TREE, project=home) if own else None
    trust_prompt.trees([whole, *([looks] if looks else [])], Settings({}))
    return load(steps.RUN, project=home), looks


def last(place: Path, services: dict[str, Any], clock: Any) -> Run | None:
    """Returns the latest run of this vehicle, led back to where it stood; None when there was none."""
    path = folder.last_begun(place)
    if path is None:
        return None
    try:
        return resume(path, services=services, clock=clock)
    except (BtError, Faults) as error:
        hint = "mend that, or begin without its order: --new"
        raise BtError(f"the vehicle's order, {path}, cannot be gone on with: {in_words(error)}", hint) from error


async def _work(
    args: argparse.Namespace, name: str, door: Door, place: Path, maker: Mapping[str, Json] | None, at: Address | None
) -> int:  # fmt: skip
    tree, looks = trees()
    told = logging.StreamHandler(sys.stderr)
    told.setFormatter(logging.Formatter(f"{name}: %(message)s"))
    logging.getLogger("bt_fleet").addHandler(told)
    over = asyncio.Event()
    system.on_ending(over.set)
    with ExitStack() as stack:
        added = options.opened(args, stack)
        services = {service: given for each in added for service, given in each.services.items()}
        clock = next((each.clock for each in added if each.clock is not None), None)

        def begin(entries: Mapping[str, Json]) -> Run:
            recorder = Recorder(place, limits=JournalLimits(days=DAYS))
            return Run(tree, inputs=entries, services=services, clock=clock, journal=recorder)

        known = Facts(looks, clock, services)
        stack.callback(known.close)
        _lacking(name, known, args.trial)
        going = last(place, services, clock) if not args.new else None
        if going is not None and at is None:
            going.blackboard.update(halted="")  # without a fleet nobody could release a halt
        names = Names(args.manufacturer, name)
        topics = [names.topic("order"), names.topic("instantActions")]
        will = names.topic("connection"), names.connection("CONNECTIONBROKEN")
        mqtt = Mqtt(door, will, topics, lambda text: print(f"{name}: {text}", file=sys.stderr))
        stack.callback(mqtt.close)
        vehicle = Vehicle(going or begin(Journey().kept()), begin, known, mqtt, names, maker, args.trial)
        stack.callback(vehicle.close)
        print(f"{name}: orders are taken from {topics[0]} at {args.mqtt}", file=sys.stderr, flush=True)
        mqtt.start(vehicle.take)
        async with asyncio.TaskGroup() as group:
            fleet = group.create_task(_enrolled(vehicle, at, name, place)) if at is not None else None
            await live(vehicle, over)
            if fleet is not None:
                fleet.cancel()
    return 0


async def _enrolled(vehicle: Vehicle, at: Address, name: str, place: Path) -> None:
    from bt_fleet.standards.vda5050.enrolled import enrolled  # only for a vehicle of a fleet

    logging.getLogger("nats").setLevel(logging.CRITICAL)
    try:
        await enrolled(at, name, place, lambda why: vehicle.take("halted", why))
    except Exception as error:  # the vehicle works on
        print(f"{name}: the fleet does not see it: {in_words(error)}", file=sys.stderr)


def _lacking(name: str, known: Facts, trial: bool) -> None:
    """Names what a state message requires and the project does not know. Without --trial that is an error."""
    if not known.missing:
        return
    text = f"nobody tells {', '.join(known.missing)}: a state message requires them"
    if not trial:
        raise BtError(text, f"trees/{facts.TREE}.yaml gives them as outputs; for a trial without them: --trial")
    print(f"{name}: {text}; `information` names them as unknown", file=sys.stderr)
