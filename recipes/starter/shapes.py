"""`python -m recipes.starter.shapes deep heads --from SHARDS --out DIR`: small networks of one weight, told apart.

Each learns the same documents from nothing for as many rounds; what was held back says which shape copies best.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bt_lab.distill import documents
from bt_lab.distill.dataset import gather
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import Size
from bt_lab.distill.stages import StageOrder, vocabulary
from bt_lab.distill.training import Training

_CONTEXT = 4096
_USUAL = Size(128, 5, 2, 2, 352, context=_CONTEXT)  # about a million weights beside the vocabulary, as all here
SHAPES = {
    "usual": _USUAL,
    "deep": replace(_USUAL, width=96, layers=9, feed_forward=256),
    "wide": replace(_USUAL, width=192, layers=2, heads=3, kv_heads=3, feed_forward=576),
    "heads": replace(_USUAL, heads=8, kv_heads=8),
    "words": replace(_USUAL, vocab=8192),  # most names are a token each
}


def tried(name: str, places: Sequence[Path], folder: Path, rounds: float) -> str:
    """Train one of the shapes; a line of what came of it."""
    size = SHAPES[name]
    order = StageOrder(places, folder, folder / "model.gguf", Schedule(tokens=1), vocab=size.vocab)
    words = vocabulary(order, _tell)
    rows = gather(documents.shards(places), words, size.context, folder / "rows", _tell)
    schedule = Schedule(tokens=int(rounds * len(rows.tokens)), batch=8192)
    training = Training(places, folder, words, size, schedule, _tell)
    state = training.state if training.spent >= 1.0 else training.go()
    last = next(point for point in reversed(state.curve) if "exact" in point)
    exact = ", ".join(f"{kind} {100 * share:.1f}" for kind, share in last["exact"].items())
    return (
        f"{name}: {size.parameters / 1e6:.2f}M weights, {state.tokens / 1e6:.1f}M tokens in {state.seconds / 60:.1f} "
        f"minutes, loss {last['held_loss']}, exact {exact}"
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m recipes.starter.shapes", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("shapes", nargs="*", choices=[*SHAPES, []], metavar="SHAPE", help=", ".join(SHAPES))
    parser.add_argument("--from", dest="places", type=Path, nargs="+", required=True)
    parser.add_argument("--rounds", type=float, default=3.0, help="through the documents")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(words)
    for name in args.shapes or SHAPES:
        print(tried(name, args.places, args.out / name, args.rounds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
