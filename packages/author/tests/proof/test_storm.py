"""The chance of a tree beside another solver: the same chain handed to Storm gives the same probability."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bt_author.proof.chance import Chances
from bt_runtime import BtError, Faults, load
from packages.author.tests.proof.test_chance import RECORDS
from tests.support.random_trees import SKILLS, Maker

stormpy: Any = pytest.importorskip("stormpy", reason="needs stormpy 2, of no extra: pip install stormpy")
TREES = int(os.environ.get("CHANCE_TREES", "20"))


def by_storm(rows: list[list[tuple[float, int]]], file: Path) -> float:
    """How likely the chain reaches its success, by Storm, which reads it from a file."""
    count = len(rows)
    ends = {-1: count, -2: count + 1}
    lines = [
        "@type: DTMC",
        "@parameters",
        "",
        "@reward_models",
        "",
        "@nr_states",
        str(count + 2),
        "@nr_choices",
        str(count + 2),
        "@model",
    ]
    for at, row in enumerate([*rows, [(1.0, count)], [(1.0, count + 1)]]):
        label = " init" if at == 0 else " good" if at == count else ""
        lines += [f"state {at}{label}", "\taction 0"]
        lines += [f"\t\t{to} : {weight!r}" for to, weight in sorted((ends.get(to, to), weight) for weight, to in row)]
    file.write_text("\n".join(lines) + "\n")
    chain = stormpy.build_model_from_drn(str(file))
    [formula] = stormpy.parse_properties('P=? [ F "good" ]')
    return float(stormpy.model_checking(chain, formula).get_value(0))


def test_storm_gives_the_same_probability(tmp_path: Path) -> None:
    compared, seed = 0, 0
    while compared < TREES:
        seed += 1
        text = Maker(Random(seed), timed=False, size=9, skills=("go", "grab", "lift", "is_near")).text()
        rates = {name: record.rate for name, record in RECORDS.items()}
        try:
            chances = Chances(load(text, skills=SKILLS).spec, RECORDS)
            own, _, states = chances.chain(rates)
        except (Faults, BtError):
            continue
        rows, _ = chances.rows(rates)
        if states < 2 or any(not row for row in rows):
            continue  # decided at once, or without an end
        assert by_storm(rows, tmp_path / "chain.drn") == pytest.approx(own, abs=1e-5), (seed, text)
        compared += 1
