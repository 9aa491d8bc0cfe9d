"""`python -m recipes.starter.mean OLD.gguf WORK [WORK ...] --share 0.8 --out NEW.gguf`: between where training began
and ended. Several trainings side by side, each with a seed of its own, count alike.

A short training that goes on from a model forgets some of what that knew; the weights between the two often know both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bt_lab.distill import checkpoint, gguf_file, pretrained
from bt_lab.distill.checkpoint import LATEST
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import Size
from bt_lab.distill.stages import StageOrder, described
from bt_runtime.language.faults.diagnostic import BtError


def mean(old: Path, works: Sequence[Path], share: float, out: Path) -> None:
    """Writes the mean of the old weights and of those in the work folders, which together have the share `share`."""
    before = pretrained.read(old)
    trained = [checkpoint.load(work / LATEST) for work in works]
    for work, (_, about, weights, _) in zip(works, trained, strict=True):
        if about["tokenizer"] != before.tokenizer.digest or weights.keys() != before.weights.keys():
            raise BtError(f"{old} has other tokens or sizes than {work}", "name the file that the training began with")
    between = {
        name: (1 - share) * weight + share * sum(weights[name] for _, _, weights, _ in trained) / len(trained)
        for name, weight in before.weights.items()
    }
    state, about, _, _ = trained[0]
    state.tokens = sum(each.tokens for each, *_ in trained)
    command = f"python -m recipes.starter.mean {old.name} {' '.join(w.name for w in works)} --share {share:g}"
    order = StageOrder([], works[0], out, Schedule(tokens=state.tokens), name="starter", command=command)
    gguf_file.write(out, between, Size(**about["size"]), before.tokenizer, "f16", described(order, state))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter.mean", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("works", type=Path, nargs="+", metavar="WORK")
    parser.add_argument("--share", type=float, default=0.8)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(words)
    mean(args.old, args.works, args.share, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
