"""`btr plan`: a tree that reaches a goal, from what the skills' manifests say, without a model."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.cli import Exit
from bt_runtime.cli.agents.worlds import add_world, set_up
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.language import manifest, project
from bt_runtime.language.faults.diagnostic import BtError, Faults, did_you_mean
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk

if TYPE_CHECKING:
    from bt_runtime.agents.backchain.planning import FoundPlan
    from bt_runtime.agents.backchain.record import Record
    from bt_runtime.language.kinds.kind import Kind


def configure(parser: argparse.ArgumentParser) -> None:
    text = "what must hold: a sentence as in the skills' `brings`, such as 'near fridge 1'"
    parser.add_argument("goal", nargs="+", metavar="GOAL", help=text)
    text = "the manifests whose skills may be used"
    parser.add_argument("--skills", nargs="+", required=True, metavar="NAME", help=text)
    text = "what holds now; may be given again. Everything else is taken not to hold, and asked for by the tree"
    parser.add_argument("--given", action="append", default=[], metavar="FACT", help=text)
    add_world(parser)
    text = "what may fill a slot: place=fridge 1,table 1. Values that the goal and the given facts name are known"
    parser.add_argument("--values", action="append", default=[], metavar="SLOT=A,B", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the tree goes; default: standard output")
    parser.add_argument("--name", help="of the tree; default: that of the file")
    parser.add_argument("--times", type=int, default=3, metavar="N", help="attempts of the whole [default: 3]")
    text = "a fact that the plan takes as given is planned for while the tree runs, should it not hold"
    parser.add_argument("--grow", action="store_true", help=text)
    text = "sets of facts that are looked at before the search gives up [default: 50000]"
    parser.add_argument("--most", type=int, metavar="N", help=text)
    text = "costs from the recorded runs: how long each skill took, over how often it succeeded"
    parser.add_argument("--recorded", action="store_true", help=text)
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="steps, reasons and tree as JSON")
    parser.epilog = "Exits: 0 a plan, 1 there is none, or none was found within the bound."


def run(args: argparse.Namespace) -> int:
    from bt_runtime.agents.backchain.relevant import NoPlan, SearchTooLarge

    name = args.name or (args.out.stem if args.out is not None else "plan")
    if not name.isidentifier():
        raise BtError(f"`{name}` is no name of a tree", "letters, digits and _: --name cool_apple")
    if args.out is not None and args.out.exists():
        raise BtError(f"there is {args.out} already", "remove it, or name another file")
    kinds = _kinds(args.skills)
    known = _records(args, kinds) if args.recorded else {}
    try:
        found = _planned(args, name, kinds, known)
    except (NoPlan, SearchTooLarge) as error:
        print(f"{visible(f'no plan: {error.message}')}\n  {visible(error.hint)}", file=sys.stderr)
        return Exit.FAILURE
    _checked(found)
    if args.out is not None:
        disk.write(args.out, found.text)
    if args.json:
        steps = [
            {"skill": s.skill, "params": dict(s.params), "seconds": s.cost,
             "instead": [{"skill": o.skill, "params": dict(o.params), "seconds": cost} for o, cost in others]}
            for s, others in zip(found.steps, found.others, strict=True)
        ]  # fmt: skip
        told = {"goal": list(found.goal), "seconds": found.cost, "cheapest": found.cheapest, "steps": steps,
                "reasons": found.reasons(),
                "recorded": {skill: each._asdict() for skill, each in known.items()}}  # fmt: skip
        print(json.dumps({**told, "tree": found.text}, ensure_ascii=False, indent=2))
        return Exit.SUCCESS
    if args.out is None:
        sys.stdout.write(found.text)
    least = "; no plan costs less" if found.cheapest else ""
    said = f"{len(found.steps)} steps, about {found.cost:g} s{least}" if found.steps else "the goal holds already"
    used = [skill for skill in dict.fromkeys(step.skill for step in found.steps) if skill in known]
    costs = [f"recorded: {skill}: {known[skill]}" for skill in used]
    print("\n".join(map(visible, [said, *found.reasons(), *costs])), file=sys.stderr)
    return Exit.SUCCESS


def _records(args: argparse.Namespace, kinds: list[Kind]) -> dict[str, Record]:
    from bt_runtime.agents.backchain.recorded import records
    from bt_runtime.journal import folder

    return records(kinds, folder.journals(reading(args)))


def _planned(args: argparse.Namespace, name: str, kinds: list[Kind], known: dict[str, Record]) -> FoundPlan:
    from bt_runtime.agents.backchain.offered import known_by, values_in
    from bt_runtime.agents.backchain.planning import planned
    from bt_runtime.agents.backchain.relevant import MOST_SETS, Bound
    from bt_runtime.agents.backchain.tree_text import Head

    bound = Bound(sets=MOST_SETS if args.most is None else max(args.most, 1))
    head = Head(name, tuple(args.skills), max(args.times, 1), args.grow)
    values = dict(map(_filling, args.values))
    with ExitStack() as stack:
        opened = set_up(args, stack) if args.env else None
        world: Any = opened.world if opened is not None else None
        every, limits = known_by(world, kinds, known)
        ask = getattr(world, "holds", lambda fact: None)
        return planned(args.goal, every, args.given, values_in(world, kinds) | values, head, bound, limits, ask)


def _kinds(names: list[str]) -> list[Kind]:
    found: list[Kind] = []
    for name in names:
        path = project.find("skills", name)
        if path is None:
            known = sorted({file.stem for place in project.folders("skills") for file in place.glob("*.yaml")})
            hint = did_you_mean(name, known, f"manifests here: {', '.join(known)}")
            raise BtError(f"there is no manifest `{name}`", hint)
        read = manifest.read(path)
        if read.diagnostics:
            raise Faults(read.diagnostics, {str(path): read.text})
        found += read.kinds
    return found


def _filling(text: str) -> tuple[str, list[str]]:
    slot, sign, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not sign or not found:
        raise BtError(f"`--values {text}` names no values", "write SLOT=A,B: --values 'place=fridge 1,table 1'")
    return slot.strip(), found


def _checked(found: FoundPlan) -> None:
    """Holds the tree to the same checks as one that a person wrote."""
    from bt_runtime.language.loader import Loader

    Loader(project.find_root()).text(found.text, "the plan").sound()
