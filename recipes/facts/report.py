"""`python -m recipes.facts.report FILE ...`: goals reached in each file of measured goals, beside the first file, in
pairs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bt_lab.report.statistics import mcnemar, wilson

Rows = Mapping[tuple[str, str], Mapping[str, Any]]  # by trade and goal


def main(files: Sequence[str]) -> None:
    every = {Path(file).stem: read(Path(file)) for file in files}
    first = next(iter(every.values()))
    for name, rows in every.items():
        told = [rate(rows, what) for what in ("right", "reached", "first_right")]
        apart = [row for row in rows.values() if not row["copy_right"]]
        told.append(f"{sum(row['reached'] for row in apart)} of the {len(apart)} where no example begins right")
        said = f"understood {told[0]}; reached {told[1]}; first act right {told[2]}; {told[3]}"
        print(f"{name}: {said}; {paired(rows, first)}")


def read(file: Path) -> Rows:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {(row["trade"], row["goal"]): row for row in rows}


def rate(rows: Rows, what: str) -> str:
    hits = sum(bool(row[what]) for row in rows.values())
    share = wilson(hits, len(rows))
    return f"{hits}/{len(rows)} = {share.value:.0%} ({share.low:.0%} to {share.high:.0%})"


def paired(rows: Rows, first: Rows, what: str = "reached") -> str:
    """How many goals only these and only the first rows reach, and the exact test."""
    both = [(rows[key][what], first[key][what]) for key in rows.keys() & first.keys()]
    more, less = sum(a and not b for a, b in both), sum(b and not a for a, b in both)
    return f"against the first, {len(both)} pairs: {more} more, {less} fewer, p = {mcnemar(more, less):.3f}"


if __name__ == "__main__":
    main(sys.argv[1:])
