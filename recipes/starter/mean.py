"""`python -m recipes.starter.mean OLD.gguf WORK --share 0.8 --out NEW.gguf`: between where training began and ended.

A short training that goes on from a model forgets some of what that knew; the weights between the two often know both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bt_runtime.distill import checkpoint, gguf_file, pretrained
from bt_runtime.distill.checkpoint import LATEST
from bt_runtime.distill.schedule import Schedule
from bt_runtime.distill.size import Size
from bt_runtime.distill.stages import Order, described
from bt_runtime.faults.diagnostic import BtError


def mean(old: Path, work: Path, share: float, out: Path) -> None:
    """`share` is that of the checkpoint in the work folder."""
    before = pretrained.read(old)
    state, about, weights, _ = checkpoint.load(work / LATEST)
    if about["tokenizer"] != before.tokenizer.digest or weights.keys() != before.weights.keys():
        raise BtError(f"{old} has other tokens or sizes than {work}", "name the file that the training began with")
    between = {name: (1 - share) * before.weights[name] + share * weight for name, weight in weights.items()}
    command = f"python -m recipes.starter.mean {old.name} {work.name} --share {share:g}"
    order = Order([], work, out, Schedule(tokens=state.tokens), name="starter", command=command)
    size = Size(**about["size"])
    gguf_file.write(out, between, size, before.tokenizer, "f16", described(order, state))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter.mean", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--share", type=float, default=0.8)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(words)
    mean(args.old, args.work, args.share, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
