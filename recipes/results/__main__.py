"""`python -m recipes.results`: the papers' claims, measured with one model; a page, pictures, and a summary."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bt_lab.cli.progress import Progress
from bt_lab.report.plots import draw_by_depth
from bt_lab.report.summary import groups
from bt_lab.run import provenance
from bt_lab.run import results_file as ledger
from bt_lab.run.backend import Local
from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import open_models
from bt_runtime.cli.color import add_color
from bt_runtime.cli.failure import told
from bt_runtime.cli.whole_number import at_least
from bt_runtime.journal.sources import versions
from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.settings import Settings
from bt_runtime.llm.settings import usable_cores
from bt_runtime.types import Json
from recipes.results import record
from recipes.results.claims import Claim, Claims, read_claims
from recipes.results.page import lines, page, value, whole
from recipes.results.rows import Row, only, row
from recipes.results.study import Measured, Study

EPISODES, OUT = 100, Path("evals/claims")
SHIPPED = Path("docs/results.md")
MOST_PARTS = 64  # processes side by side


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m recipes.results", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("claims", nargs="*", metavar="CLAIM", help="only these claims; default: all but those that take long")
    add("--model", metavar="FILE", help="a GGUF file or an address [BTR_MODEL]")
    add("--episodes", type=at_least(1), default=EPISODES, metavar="N", help=f"tasks a strategy; default: {EPISODES}")
    add("--seed", type=int, default=0, metavar="N", help="of tasks and decisions; default: 0")
    add("--data", default="", metavar="DIR", help="your copy of the data sets [BTR_DATA]")
    add("--jobs", type=at_least(1), default=4, metavar="J", help="episodes at once; default: 4")
    add("--repeatable", action="store_true", help="the same bits whatever else runs; slower")
    add("--out", default=OUT, type=Path, metavar="FOLDER", help=f"where the evaluations go; default: {OUT}")
    add("--retry", action="store_true", help="run again what broke there")
    add("--journals", action="store_true", help="keep a journal of every episode, for btr view")
    add("--page", type=Path, metavar="FILE", help="where the page goes; default: results.md in FOLDER")
    add("--check", type=Path, metavar="SUMMARY", help="the summary that the figures must come back to")
    add("--rows", nargs="+", type=_row, default=[], metavar="EVALUATION/STRATEGY[:TASKS]",
        help="only these rows of the worlds' tables, such as webshop/react:40")  # fmt: skip
    add("--beside", metavar="NAME", help="with --rows: another model's figures, kept as NAME.json beside the page")
    add("--show", action="store_true", help="measure nothing: print all that the summary holds of these claims")
    add("--rewrite", action="store_true", help="measure nothing: write the page again from the summary beside it")
    add("--finished", action="store_true", help="run nothing, take what has ended")
    add("--part", type=_part, metavar="K/N", help="the K-th of N processes side by side; it writes no page")
    add_color(parser)
    return parser


def _part(text: str) -> tuple[int, int]:
    """`2/3` → (2, 3)."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts) <= MOST_PARTS):
        raise argparse.ArgumentTypeError(f"write the part and how many there are, such as 1/2 (at most {MOST_PARTS})")
    return int(part), int(parts)


def _row(text: str) -> Row:
    try:
        return row(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no row: write house/react, or house/react:20") from None


def main(words: Sequence[str] | None = None) -> int:
    args = arguments().parse_args(words)
    try:
        return claims(args)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        return told(error)


def claims(args: argparse.Namespace) -> int:
    """The page and its pictures are written when all has ended; until then the same command goes on where it was."""
    every = read_claims()
    if args.rewrite:
        place = args.page or args.out / "results.md"
        rewrite(place, every)
        print(f"wrote {place}")
        return Exit.SUCCESS
    if args.show:
        kept = record.read(summary(args.page or SHIPPED))
        for claim in every.chosen(args.claims or list(kept["claims"])):
            print("\n".join(whole(claim, every, kept)))
        return Exit.SUCCESS
    if bool(args.rows) != bool(args.beside):
        raise BtError("--rows and --beside go together", "name both, or neither")
    if args.rows:
        every = only(every, args.rows, args.episodes)
    chosen = every.chosen(args.claims)
    names = every.needed(chosen)
    if args.part:
        names = every.dealt(names, args.part[1])[args.part[0] - 1]
    with ExitStack() as stack:
        how = {"repeatable": True} if args.repeatable else {}
        models = open_models(Settings({"model": args.model}), stack, **how)
        backend = Local(models, args.jobs)
        study = Study(
            every, args.out, models, backend, backend.count,
            lambda name: Progress(name, args.color), args.episodes, args.seed, args.data, args.retry,
            args.journals, args.finished,
        )  # fmt: skip
        measured, missing = measure(study, names)
        if args.part:
            return Exit.SUCCESS
        if not measured:
            print("nothing could be measured", file=sys.stderr)
            return Exit.NOTHING
        made = about(args, study)
    place = args.page or study.out / "results.md"
    if args.beside:
        ended = [each for each in args.rows if each.name in measured]
        return beside(place, args.beside, only(read_claims(), ended, args.episodes), measured, made)
    found = record.make(every, measured, missing, made, record.read(summary(place)))
    write(place, study, chosen, measured, found)
    for claim in chosen:
        print("\n".join(lines(claim, found)))
    print(f"wrote {place}")
    return held_against(args.check, found) if args.check else Exit.SUCCESS


def beside(place: Path, name: str, rows: Claims, measured: Mapping[str, Measured], made: Mapping[str, Json]) -> int:
    """Another model's figures: they are kept in a file of their own, and the page is written anew with them."""
    kept = summary(place).with_name(f"{name}.json")
    found = record.make(rows, measured, {}, made, {})
    kept.parent.mkdir(parents=True, exist_ok=True)
    ledger.write_json(kept, found)
    for claim in rows.claims.values():
        print("\n".join(lines(claim, found)))
    print(f"wrote {kept}")
    if summary(place).is_file():
        rewrite(place, read_claims())
        print(f"wrote {place}")
    return Exit.SUCCESS


def measure(study: Study, names: Sequence[str]) -> tuple[dict[str, Measured], dict[str, str]]:
    measured: dict[str, Measured] = {}
    missing = {name: why for name in names if (why := study.able(name))}
    for name, why in missing.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    try:
        for name in names:
            if name not in missing:
                measured[name] = study.measure(name)
                if not measured[name].outcomes:
                    del measured[name]
                    missing[name] = "none of its tasks has ended"
    except KeyboardInterrupt:
        print(f"what has ended is in {study.out}; the same command goes on", file=sys.stderr)
        raise
    return measured, missing


def about(args: argparse.Namespace, study: Study) -> dict[str, Json]:
    """Nothing of it tells where on this machine anything lies."""
    model = next(iter(study.models.values()))
    named = Path(args.model).name if args.model else "FILE.gguf"
    words = ["python -m recipes.results", *args.claims, "--model", named, "--episodes", str(study.episodes)]
    if args.rows:
        words += [
            "--beside",
            args.beside,
            "--rows",
            *(f"{r.evaluation}/{r.strategy}{f':{r.tasks}' if r.tasks else ''}" for r in args.rows),
        ]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "command": " ".join([*words, "--seed", str(study.seed)]),
        "model": provenance.of_model(model),
        "seed": study.seed,
        "episodes": study.episodes,
        "jobs": args.jobs,
        "cores": usable_cores(),
        "versions": {**versions(), **_versions_of("llama-cpp-python", "llguidance", "faiss-cpu")},
    }


def _versions_of(*packages: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def summary(place: Path) -> Path:
    return place.with_suffix("") / "summary.json"


def write(
    place: Path, study: Study, chosen: Sequence[Claim], measured: Mapping[str, Measured], found: Mapping[str, Any]
) -> None:
    """docs/results.md, docs/results/summary.json, docs/results/CLAIM.png: pictures of earlier runs stay."""
    folder = place.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for claim in chosen:
        if claim.picture and all(name in measured for name, _ in claim.picture.values()):
            draw_by_depth(folder / f"{claim.name}.png", _lines(claim, measured, study.seed))
    ledger.write_json(folder / "summary.json", dict(found))
    rewrite(place, study.claims)


def rewrite(place: Path, every: Claims) -> None:
    """Writes the page of the summary, of other models' summaries and of other studies (YAML) beside it; a claim that is
    newer than the summary waits until it is measured."""
    folder = place.with_suffix("")
    found = record.read(folder / "summary.json")
    every = every._replace(claims={name: claim for name, claim in every.claims.items() if name in found["claims"]})
    drawn = {name: f"{folder.name}/{name}.png" for name in every.claims if (folder / f"{name}.png").is_file()}
    files = sorted(file for file in folder.glob("*.json") if file.name != "summary.json")
    others = {file.stem: record.read(file) for file in files}
    studies = [str(source.read(file).sound().data()["page"]) for file in sorted(folder.glob("*.yaml"))]
    ledger.write(place, page(every, found, drawn, others, studies))


def _lines(claim: Claim, measured: Mapping[str, Measured], seed: int) -> list[Any]:
    return [
        group._replace(strategy=legend)
        for legend, (name, strategy) in claim.picture.items()
        for group in groups(measured[name].of(strategy), seed)
    ]


def held_against(path: Path, found: Mapping[str, Any]) -> int:
    """Does this run say what the other one said?"""
    first = record.read(path)
    told = record.returns(first, found)
    for name in record.unlike(first, found, ("model", "seed", "episodes")):
        print(f"the two runs differ in {name}: {json.dumps(first['made'][name])}, {json.dumps(found['made'][name])}")
    for each in told:
        if not each.within:
            was, is_now = value(each.first), value(each.second)
            print(f"{each.claim}: {each.name}: {was} came back as {is_now}, outside its interval")
    inside = sum(each.within for each in told)
    print(f"{inside} of {len(told)} figures came back within the intervals of {os.path.relpath(path)}")
    return Exit.SUCCESS if told and inside == len(told) else Exit.FAILURE


if __name__ == "__main__":
    sys.exit(main())
