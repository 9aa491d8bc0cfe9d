"""`btr eval CASES.csv`: an `infer` node measured on cases whose answers are known."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from bt_runtime.bench.report.judgements import Judgement, draw, judged, text
from bt_runtime.bench.run.own_cases import Answered, answers, judge_of, read, rows
from bt_runtime.cli import Exit, trust_prompt
from bt_runtime.cli.models import open_models
from bt_runtime.cli.tree_argument import found
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.config import Settings
from bt_runtime.run.run import load
from bt_runtime.types import Json


def of_cases(what: str) -> bool:
    return Path(what).suffix.lower() == ".csv"


def run(args: argparse.Namespace) -> int:
    path = Path(args.what)
    if not path.is_file():
        raise BtError(
            f"there is no file {path}", "a CSV: a column for each entry that the node reads, and for each output"
        )
    tree = load(found(args.strategy))
    judge = judge_of(tree, args.node)
    settings = Settings({"model": args.model})
    trust_prompt.trees([tree], settings)
    cases = read(path, judge, args.episodes)
    if not cases:
        print("error: there are no cases in it", file=sys.stderr)
        return Exit.NOTHING
    with ExitStack() as stack:
        models = open_models(settings, stack, **({"repeatable": True} if args.repeatable else {}))
        answered = answers(cases, judge, tree, models, args.jobs, args.seed, lambda done: told_of(done, len(cases)))
    measured = [judged(answered, output) for name, output in judge.outputs.items() if name in cases[0].right]
    folder = Path(args.out) if args.out else Path("evals") / f"{path.stem}-{tree.name}-s{args.seed}"
    return written(folder, answered, measured, args)


def told_of(done: int, count: int) -> None:
    """One line that is redrawn, for a person."""
    if sys.stderr.isatty():
        print(f"\r{done}/{count} cases", end="\n" if done == count else "", file=sys.stderr, flush=True)


def written(folder: Path, answered: list[Answered], measured: list[Judgement], args: argparse.Namespace) -> int:
    """In the folder, and as it was asked for; a case without an answer is told by the exit."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = list(rows(answered))
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
    faults = [each for each in answered if each.fault]
    told = text(measured, len(faults))
    (folder / "report.txt").write_text(told, "utf-8")
    if args.plots and (picture := draw(folder, measured)) is not None:
        print(f"drew {picture}", file=sys.stderr)
    if args.format == "json":
        print(json.dumps([_plain(each) for each in measured], indent=1))
    elif args.format == "csv":
        lines = csv.writer(sys.stdout, lineterminator="\n")
        lines.writerow(["line", "output", "right", "answer", "odds", "fault"])
        for each in answered:
            for name, right in each.case.right.items():
                odds = max(each.odds.get(name, {}).values(), default="")
                lines.writerow([each.case.line, name, right, each.answers.get(name, ""), odds, each.fault])
    else:
        print(told, end="")
    for each in faults[:3]:
        print(f"line {each.case.line}: {each.fault}", file=sys.stderr)
    print(f"all of it is in {folder}", file=sys.stderr)
    return Exit.FAILURE if len(faults) == len(answered) else Exit.SUCCESS


def _plain(found: Judgement) -> dict[str, Json]:
    return {
        "output": found.output.name, "cases": found.cases, "hits": found.hits, "accuracy": found.accuracy._asdict(),
        "classes": [
            {**each._asdict(), "precision": _told(each.precision), "recall": _told(each.recall)}
            for each in found.classes
        ],
        "mistakes": [{"right": right, "answered": got, "times": times} for right, got, times in found.mistakes],
        "calibration": [each._asdict() for each in found.bins], "calibration_error": _told(found.error),
        "brier": _told(found.brier), "off": _told(found.off),
    }  # fmt: skip


def _told(value: float) -> float | None:
    """JSON has no word for what is no number."""
    return value if value == value else None
