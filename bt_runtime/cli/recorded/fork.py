"""`btr runs fork`: a recorded run up to a moment, and a future of its own from there on."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bt_runtime.agents import rewording
from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.options import add_options
from bt_runtime.cli.options import instead as instead_of
from bt_runtime.cli.recorded.resume import trusted
from bt_runtime.cli.running import person
from bt_runtime.cli.running.log_lines import LogLines
from bt_runtime.cli.running.result import recorded
from bt_runtime.cli.running.watch import printed
from bt_runtime.cli.set_option import given
from bt_runtime.cli.terminal import printed_apart
from bt_runtime.cli.whole_number import at_least
from bt_runtime.events import Notice
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk
from bt_runtime.llm.server import key
from bt_runtime.run.replay import rebuild
from bt_runtime.run.replay.fork import Edits, dry, fork
from bt_runtime.run.replay.refit import offered
from bt_runtime.run.replay.strategy import instead

PATIENCE = 600.0  # seconds of a dry fork that asks for no action
RESULTS = ("success", "failure", "running")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "journal",
        metavar="RUN",
        help="its name, the beginning of it, `last`, or a file; with --flip also a folder of runs",
    )
    text = "a tick (12: right after it) or a decision (decision:3: before its answer; decision:-1: the last)"
    parser.add_argument("--at", metavar="MOMENT", help=text)
    edits = parser.add_argument_group("what is different from there on")
    edits.add_argument("--model", metavar="FILE", help="another model")
    edits.add_argument("--memory", metavar="FILE", help="another memory")
    edits.add_argument("--seed", type=at_least(0), metavar="N", help="another seed")
    edits.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an entry's value")
    text = "the result of a node's next start: success, failure or running"
    edits.add_argument("--force", action="append", default=[], metavar="PATH=RESULT", help=text)
    text = "the node at a path is replaced by the YAML of a file"
    edits.add_argument("--replace", action="append", default=[], metavar="PATH=FILE", help=text)
    text = "a named prompt has the text of a file"
    edits.add_argument("--prompt", action="append", default=[], metavar="NAME=FILE", help=text)
    text = "another tree in the place of the root, with the inputs that both have"
    edits.add_argument("--strategy", metavar="TREE", help=text)
    add_options(parser, "fork")
    text = "ask the model, begin no action, keep no journal: stop before the first action, and name it"
    parser.add_argument("--dry", action="store_true", help=text)
    text = "what was done outside is as it was at that moment: I have put it back"
    parser.add_argument("--anyway", action="store_true", help=text)
    parser.add_argument("--changed", action="store_true", help="go on although files are not those that it ran with")
    parser.add_argument("--hz", type=float, help="tick at this rate instead of the run's")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)
    parser.epilog = (
        "Exits: 0 success, 1 failure, 4 time is up, 130 interrupted. A dry fork: 0. "
        "A sweep and flips: 0 when one saves the run, 1 when none does."
    )


def run(args: argparse.Namespace) -> int:
    code = instead_of(args, "fork")
    if code is not None:
        return code
    if args.at is None:
        raise BtError("name the moment to fork at", "--at 12 (a tick), or --at decision:3")
    path = folder.find(args.journal, reading(args))
    recording = Recording(path)
    edits = _edits(args, recording)
    trusted(path, recording, args.model)
    key.named(args.model)
    if args.dry:
        return _dry(args, path, edits)
    services = services_of(recording)
    with (
        printed_apart(args.json),
        fork(path, args.at, edits, services=services, changed=args.changed, anyway=args.anyway) as going,
    ):
        going.listen(LogLines(printed, "warning").log, Notice)
        print(
            visible(f"{going.parts.name}: on from tick {going.parts.engine.count} of {recording.name}"), file=sys.stderr
        )
        status = going.spin(args.hz, args.seconds)
        stopped, timed_out = going.parts.runner.stopped, going.parts.runner.timed_out
        count = going.parts.engine.count
    why = stopped or ("time is up" if timed_out else "")
    _said(args, {"run": going.parts.name, "of": recording.name, "status": status.name, "ticks": count, "why": why})
    code = Exit.SUCCESS if status.name == "SUCCESS" else Exit.FAILURE
    return recorded(going, Exit.INTERRUPTED if stopped else Exit.BUDGET if timed_out else code)


def services_of(recording: Recording) -> dict[str, Any]:
    return {"person": person.AtTerminal()} if "person" in recording.head["given"].get("services", ()) else {}


def _dry(args: argparse.Namespace, path: Path, edits: Edits) -> int:
    with printed_apart(args.json), dry(path, args.at, edits) as (going, brake):
        status = going.spin(args.hz, args.seconds or PATIENCE)
        told = {"run": going.parts.name, "status": status.name, "ticks": going.parts.engine.count}
    _said(args, {**told, "why": f"it would do: {brake.wanted}" if brake.wanted else "no action was wanted"})
    return Exit.SUCCESS


def _said(args: argparse.Namespace, told: dict[str, object]) -> None:
    if args.json:
        print(json.dumps(told, ensure_ascii=False))
    else:
        why = f" ({told['why']})" if told["why"] else ""
        print(visible(f"{told['run']}: {told['status']} after {told['ticks']} ticks{why}"))


def _edits(args: argparse.Namespace, recording: Recording) -> Edits:
    entries, strategy = {}, []
    for part in (part for part in ("model", "memory") if getattr(args, part)):
        offered(recording, part, getattr(args, part))
    if args.set or args.strategy:
        with rebuild.recorded_tree(recording) as (_, tree):
            entries = given(args.set, tree.spec) if args.set else {}
            strategy = [instead(tree.spec, args.strategy)] if args.strategy else []
    forced = tuple(_pair(each, "--force", "PATH=failure") for each in args.force)
    for path, result in forced:
        if result not in RESULTS:
            raise BtError(f"--force {path}={result}: not a result of a node", f"results: {', '.join(RESULTS)}")
    replaced = tuple(
        (path, disk.read_text(Path(file))) for path, file in (_pair(e, "--replace", "PATH=FILE") for e in args.replace)
    )
    prompts = dict(_prompt(each) for each in args.prompt)
    return Edits(args.model, args.memory, args.seed, entries, forced, (*replaced, *strategy), prompts)


def _prompt(option: str) -> tuple[str, str]:
    name, file = _pair(option, "--prompt", "NAME=FILE")
    rewording.named(name)
    text = disk.read_text(Path(file))
    rewording.checked(text, file)
    return name, text


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    left, sign, right = text.rpartition("=")
    if not sign or not left or not right:
        raise BtError(f"{option} {text}: there is no `=`", f"write it as {option} {form}")
    return left, right
