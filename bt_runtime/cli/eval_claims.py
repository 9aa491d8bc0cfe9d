"""`btr eval claims`: the papers' claims, measured with one model; a page, pictures, and a summary for later runs."""

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

from bt_runtime.bench.report import record
from bt_runtime.bench.report.claims import Claim, read_claims
from bt_runtime.bench.report.page import page, value
from bt_runtime.bench.report.plots import draw_by_depth
from bt_runtime.bench.report.study import Measured, Study
from bt_runtime.bench.report.summary import groups
from bt_runtime.bench.run import provenance
from bt_runtime.bench.run import results_file as ledger
from bt_runtime.bench.run.backend import Local
from bt_runtime.cli import Exit
from bt_runtime.cli.models import open_models
from bt_runtime.cli.progress import Progress
from bt_runtime.journal.record import versions
from bt_runtime.llm.settings import usable_cores
from bt_runtime.run.config import Settings
from bt_runtime.types import Json

EPISODES, OUT = 200, Path("evals/claims")


def claims(args: argparse.Namespace) -> int:
    """The page and its pictures are written when all has ended; until then the same command goes on where it was."""
    every = read_claims()
    chosen = every.chosen(args.folders)
    names = every.needed(chosen)
    if args.part:
        names = every.dealt(names, args.part[1])[args.part[0] - 1]
    with ExitStack() as stack:
        how = {"repeatable": True} if args.repeatable else {}
        models = open_models(Settings({"model": args.model}), stack, **how)
        backend = Local(models, args.jobs)
        study = Study(
            every, Path(args.out or OUT), models, backend, backend.count,
            lambda name: Progress(name, args.color), args.episodes or EPISODES, args.seed, args.data, args.retry,
            args.journals,
        )  # fmt: skip
        measured, missing = measure(study, names)
        if args.part:
            return Exit.SUCCESS
        if not measured:
            print("nothing could be measured", file=sys.stderr)
            return Exit.NOTHING
        made = about(args, study)
    place = Path(args.page) if args.page else study.out / "results.md"
    found = record.make(every, measured, missing, made, record.read(summary(place)))
    write(place, study, chosen, measured, found)
    print(f"wrote {place}")
    return held_against(Path(args.check), found) if args.check else Exit.SUCCESS


def measure(study: Study, names: Sequence[str]) -> tuple[dict[str, Measured], dict[str, str]]:
    measured: dict[str, Measured] = {}
    missing = {name: why for name in names if (why := study.able(name))}
    for name, why in missing.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    try:
        for name in names:
            if name not in missing:
                measured[name] = study.measure(name)
    except KeyboardInterrupt:
        print(f"what has ended is in {study.out}; the same command goes on", file=sys.stderr)
        raise
    return measured, missing


def about(args: argparse.Namespace, study: Study) -> dict[str, Json]:
    """Nothing of it tells where on this machine anything lies."""
    model = next(iter(study.models.values()))
    named = Path(args.model).name if args.model else "FILE.gguf"
    words = ["btr eval claims", *args.folders, "--model", named, "--episodes", str(study.episodes)]
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
    drawn = {name: f"{folder.name}/{name}.png" for name in study.claims.claims if (folder / f"{name}.png").is_file()}
    ledger.write(place, page(study.claims, found, drawn))


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
