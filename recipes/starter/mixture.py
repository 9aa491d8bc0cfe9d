"""`python -m recipes.starter.mixture build/lessons --out build/tuned/mixture.jsonl`: so many documents of each kind.

The kinds and their counts are data, `mixture.yaml`; which documents of a kind are taken follows from the seed there."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

from bt_lab.distill.documents import Document, read, shards, write
from bt_runtime.cli.failure import told
from bt_runtime.language.faults.diagnostic import BtError
from recipes.starter.data import read as data


def chosen(found: Iterable[Document], counts: Mapping[str, int], seed: int) -> list[Document]:
    """So many documents of each kind, shuffled; fewer where there are not that many. None of a kind is an error."""
    kinds = defaultdict[str, list[Document]](list)
    for document in found:
        kinds[document.kind].append(document)
    if missing := [kind for kind in counts if kind not in kinds]:
        raise BtError(f"there are no lessons of {', '.join(missing)}", "recipes/starter/tuned.sh makes all of them")
    random = Random(seed)
    taken = [document for kind, most in counts.items() for document in _some(kinds[kind], most, random)]
    random.shuffle(taken)
    return taken


def _some(found: list[Document], most: int, random: Random) -> list[Document]:
    return random.sample(found, min(most, len(found)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.starter.mixture", description=__doc__)
    parser.add_argument("lessons", nargs="+", type=Path, metavar="DIR", help="folders of shards")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl")
    args = parser.parse_args()
    wanted = data("mixture")
    try:
        every = (document for path in shards(args.lessons) for document in read(path))
        count = write(args.out, chosen(every, wanted["kinds"], wanted["seed"]))
    except BtError as fault:
        return told(fault)
    print(f"{args.out}: {count:,} documents of {len(wanted['kinds'])} kinds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
