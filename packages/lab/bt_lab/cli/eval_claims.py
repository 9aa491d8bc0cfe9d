"""`btr lab eval claims`: the tables of what papers and issues claim. They are measured in a checkout, by `recipes`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError

MEASURES = "recipes.results"


def claims(args: argparse.Namespace) -> int:
    """Measures the named claims, or all that do not take long, and prints their figures. What has ended is not run
    again."""
    _findable()
    words = [*args.folders, "--seed", str(args.seed), "--jobs", str(args.jobs), "--color", args.color or "auto"]
    for name in ("model", "data", "episodes", "out"):
        value = getattr(args, name)
        words += [f"--{name}", str(value)] if value else []
    words += [f"--{name}" for name in ("retry", "repeatable", "journals") if getattr(args, name)]
    return int(import_module(f"{MEASURES}.__main__").main(words))


def _findable() -> None:
    """Makes the checkout's folder importable; raises BtError where there is none."""
    checkout = Path(__file__).parents[4]
    if (checkout / "recipes" / "results" / "claims.yaml").is_file():
        if str(checkout) not in sys.path:
            sys.path.append(str(checkout))
        if find_spec(MEASURES) is not None:
            return
    raise BtError(
        "claims are measured in a checkout of bt_runtime, and this is an installed package",
        "in a checkout, after `make setup`: .venv/bin/btr lab eval claims known_work --model starter",
    )
