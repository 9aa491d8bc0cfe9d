"""`python -m recipes.starter house:6000 textcraft:6600 --out build/lessons`: the starter's lessons, as shards."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bt_runtime.cli.failure import told
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.settings import STARTER, starter
from recipes.starter.teachers import course, shards


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter", description=__doc__)
    add = parser.add_argument
    add(
        "courses",
        nargs="+",
        metavar="TEACHER:LESSONS",
        help="house, held, textcraft, trials, judged, rooms-tried, guided, drills, alfworld, thor, arm, webshop, "
        "hotpotqa, facts, …-practice",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="of the shards; those that are there are kept")
    add("--seed", type=int, default=0)
    add("--model", metavar="FILE", help="who practises: starter, or a GGUF file")
    args = parser.parse_args()
    student = starter() if args.model == STARTER else Path(args.model) if args.model else None
    try:
        for word in args.courses:
            shards(course(word, args.seed, student), args.out, lambda text: print(text, file=sys.stderr, flush=True))
    except BtError as fault:
        return told(fault)
    return 0


if __name__ == "__main__":
    sys.exit(main())
