"""`btr lab eval CASES.csv`: measures an `infer` node on cases with known answers."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from bt_lab.report.judgements import Judgement, compared, draw, judged, text
from bt_lab.report.temperature import fitted
from bt_lab.report.temperature import text as fit_text
from bt_lab.run.own_cases import Answered, answers, judge_of, read, rows
from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import open_models
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.tree_argument import found
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.language.settings import Settings
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
        say = lambda done: told_of(done, len(cases))  # noqa: E731
        answered = answers(cases, judge, tree, models, args.jobs, args.seed, say)
        other = None
        if any(each.odds for each in answered):  # without scores nothing can be calibrated
            other = answers(cases, judge.otherwise(), tree, models, args.jobs, args.seed, say)
    outputs = [output for name, output in judge.outputs.items() if name in cases[0].right]
    measured = [judged(answered, output) for output in outputs]
    beside = compared(measured, [judged(other, o) for o in outputs], judge.calibrated) if other is not None else ""
    if args.fit_calibration:
        fits = fitted(answered, outputs)
        if not fits:
            raise BtError(
                "there is nothing to fit a scale to", "it takes four cases of something chosen, and a model with scores"
            )
        beside += ("\n" if beside else "") + fit_text(
            fits, own if isinstance(own := judge.node.values["scale"], (int, float)) else 1.0
        )
    folder = Path(args.out) if args.out else Path("evals") / f"{path.stem}-{tree.name}-s{args.seed}"
    return written(folder, answered, measured, args, beside)


def told_of(done: int, count: int) -> None:
    """Redraws the progress line on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{done}/{count} cases", end="\n" if done == count else "", file=sys.stderr, flush=True)


def written(
    folder: Path, answered: list[Answered], measured: list[Judgement], args: argparse.Namespace, beside: str
) -> int:
    """Writes the answers into the folder and in the requested form. The exit code tells of cases without an answer."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = list(rows(answered))
    disk.write(folder / "cases.jsonl", (json.dumps(row) + "\n" for row in kept))
    faults = [each for each in answered if each.fault]
    told = text(measured, len(faults)) + (f"\n{beside}" if beside else "")
    disk.write(folder / "report.txt", told)
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
    """Replaces NaN by None: JSON has no NaN."""
    return value if value == value else None
