"""`python -m recipes.starter.gpu`: the starter's training cut into slices, for a machine that is lent for minutes.

    pack LESSONS --parcel DIR     what travels there: lessons, tokens and code, packed
    slice --parcel DIR            trains there for some minutes; `weights.pt` in the parcel is what comes back
    file --parcel DIR --out FILE  the model of those weights, here

The machine needs torch, numpy and tokenizers, and no network; there PYTHONPATH is `.:packages/lab`. A slice takes
`weights.pt` up where the last one left it and leaves the next; without it, it begins. `make starter-gpu` does all of it
on the machine that it runs on.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bt_lab.distill import checkpoint, documents, gguf_file, pretrained, tokenizer
from bt_lab.distill.checkpoint import LATEST
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import SIZES, Size
from bt_lab.distill.stages import StageOrder, described
from bt_lab.distill.training import Training
from bt_runtime.cli.failure import told
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.settings import starter

LESSONS, CODE, WORDS, WEIGHTS = "lessons.tar.xz", "code.tar.xz", "tokenizer.json", "weights.pt"
_ROOT = Path(__file__).parents[2]
_HEAVY = (".gguf", ".pyc")  # what training there has no use for


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter.gpu", description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("stage", choices=("pack", "slice", "file"))
    add("lessons", nargs="*", type=Path, help="folders of shards, for pack")
    add("--parcel", type=Path, required=True, metavar="DIR", help="what travels")
    add("--out", type=Path, metavar="FILE.gguf", help="of file")
    add("--size", choices=sorted(SIZES), default="large")
    add("--context", type=int, default=8192)
    add("--minutes", type=float, default=30.0, help="of all slices together")
    add("--slice", type=float, default=8.5, help="minutes of one")
    add("--batch", type=int, default=65_536, help="tokens of a step")
    add("--rate", type=float, default=0.002)
    add("--no-compile", action="store_true")
    args = parser.parse_args(words)
    try:
        {"pack": _pack, "slice": _slice, "file": _file}[args.stage](args)
    except BtError as fault:
        return told(fault)
    return 0


def pack(lessons: Sequence[Path], parcel: Path) -> None:
    """Lessons shrink to a tenth: their prompts are alike."""
    found = documents.shards(lessons)
    if not found:
        raise BtError("there are no lessons to pack", "python -m recipes.starter house:6000 … --out build/lessons")
    parcel.mkdir(parents=True, exist_ok=True)
    with tarfile.open(parcel / LESSONS, "w:xz") as packed:
        for number, shard in enumerate(found):
            packed.add(shard, f"lessons/{number:05}{documents.SUFFIX}")
    with tarfile.open(parcel / CODE, "w:xz") as packed:
        for part in ("bt_runtime", "packages/lab/bt_lab", "recipes/__init__.py", "recipes/starter"):
            packed.add(_ROOT / part, part, filter=lambda file: None if file.name.endswith(_HEAVY) else file)
    pretrained.read(starter()).tokenizer.save(parcel / WORDS)


def train(parcel: Path, schedule: Schedule, size: str, context: int) -> checkpoint.State:
    """One slice: from the parcel's weights, or none, to its next."""
    work = parcel / "work"
    if not (work / "lessons").is_dir():
        with tarfile.open(parcel / LESSONS) as packed:
            packed.extractall(work, filter="data")
    if (parcel / WEIGHTS).is_file():  # they are half of what they were, and newer than what may lie here
        shutil.copyfile(parcel / WEIGHTS, work / LATEST)
    words = tokenizer.load(parcel / WORDS)
    shape = replace(SIZES[size], vocab=words.size, context=context)
    training = Training([work / "lessons"], work, words, shape, schedule, _say)
    if training.spent < 1.0:
        training.go()
    checkpoint.lightened(work / LATEST, parcel / WEIGHTS)
    return training.state


def write(parcel: Path, out: Path, schedule: Schedule) -> None:
    """The file of the weights that came back."""
    state, about, weights, _ = checkpoint.load(parcel / WEIGHTS)
    words, shape = tokenizer.load(parcel / WORDS), Size(**about["size"])
    order = StageOrder([], parcel, out, schedule, command="make starter-gpu")
    whole = {name: weight.float() for name, weight in weights.items()}
    gguf_file.write(out, whole, shape, words, "f16", described(order, state))


def _pack(args: argparse.Namespace) -> None:
    pack(args.lessons, args.parcel)
    for file in sorted(args.parcel.iterdir()):
        if file.is_file():
            _say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def _slice(args: argparse.Namespace) -> None:
    state = train(args.parcel, _schedule(args), args.size, args.context)
    spent = 100 * min(1.0, _schedule(args).spent(state))
    _say(f"{state.tokens:,} tokens in {state.seconds / 60:.1f} minutes: {spent:.0f} % of the training")


def _file(args: argparse.Namespace) -> None:
    if args.out is None:
        raise BtError("the file has no name", "say --out build/starter.gguf")
    write(args.parcel, args.out, _schedule(args))


def _schedule(args: argparse.Namespace) -> Schedule:
    return Schedule(
        minutes=args.minutes, batch=args.batch, rate=args.rate, fall=0.7, echo=0.12, slice=args.slice,
        compile=not args.no_compile,
    )  # fmt: skip


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
