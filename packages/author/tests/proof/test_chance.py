"""How likely a tree succeeds: the chain's answer beside runs of the engine, and records beside journals."""

from __future__ import annotations

import math
import os
from pathlib import Path
from random import Random

import pytest

import bt_runtime as bt
from bt_author.proof import chance
from bt_author.proof.chance import Chances, Record
from bt_author.proof.records import records_of
from bt_runtime import BtError, Faults, Skill, Tree, load
from bt_runtime.cli import main
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial
from tests.support.random_trees import SKILLS, Maker

TREES, RUNS = int(os.environ.get("CHANCE_TREES", "8")), int(os.environ.get("CHANCE_RUNS", "150"))
PART = 50  # seeds of one test
RECORDS = {
    "go": Record(8, 2, 30.0),
    "grab": Record(5, 5, 20.0),
    "lift": Record(9, 1, 10.0),
    "is_near": Record(3, 7, 0.0),
}


class Drawn:
    """Skills of the engine that run for a random time, and succeed by their rates."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def get(self, name: str) -> type[Skill]:
        record, random = RECORDS[name], self.random

        class One(Skill):
            wakes = True

            def start(self, **params: object) -> None:
                self.left = 0.0 if name == "is_near" else random.expovariate(1 / record.mean)
                self.until: float | None = None

            def poll(self) -> object:
                if self.until is None:
                    self.until = clocks[-1].now() + self.left
                if clocks[-1].now() < self.until - 1e-9:
                    waiting.append(self.until)
                    return RUNNING
                return SUCCESS if random.random() < record.rate else FAILURE

        return One


clocks: list[object] = []
waiting: list[float] = []


def once(tree: Tree, random: Random) -> bool:
    """One run of the engine: the clock moves to the next end of a skill."""
    with Trial(tree, allow="*", slow=None) as trial:
        trial.run.parts.context.services.scripted_skills = Drawn(random)
        clocks[:] = [trial.clock]
        for _ in range(400):
            waiting.clear()
            if trial.tick() is not RUNNING:
                break
            if trial.due > trial.clock.now() and waiting:
                trial.clock.advance(max(0.0, min(waiting) - trial.clock.now()))
        return trial.status is SUCCESS


def rates() -> dict[str, float]:
    return {name: record.rate for name, record in RECORDS.items()}


def made(seed: int) -> Tree:
    return load(Maker(Random(seed), timed=False, size=7, skills=tuple(RECORDS)).text(), skills=SKILLS)


def beside(tree: Tree, seed: int, success: float) -> None:
    """Compares the chain with so many runs of the engine, within four standard errors."""
    random = Random(seed)
    seen = sum(once(tree, random) for _ in range(RUNS)) / RUNS
    assert abs(seen - success) < 4 * math.sqrt(success * (1 - success) / RUNS) + 1e-9, (seed, seen, success)


@pytest.mark.parametrize("first", range(0, TREES * 4, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_the_chain_says_what_runs_of_the_engine_show(first: int) -> None:
    """One in four random trees without clocks ends now so, now so; these are compared."""
    compared = 0
    for seed in range(first, min(first + PART, TREES * 4)):
        try:
            tree = made(seed)
            success, _, _ = Chances(tree.spec, RECORDS).solved(rates(), 0)
        except (Faults, BtError):
            continue
        if 0.02 < success < 0.98:
            beside(tree, seed, success)
            compared += 1
    print(f"seeds {first} on: {compared} compared")
    assert compared


def test_a_pipeline_that_asks_a_condition_again_at_once_never_ends_an_action() -> None:
    """The tree of this seed counts in an entry that no test reads: the count is why the engine ticks it at once."""
    tree = made(1090)
    assert Chances(tree.spec, RECORDS).solved(rates(), 0)[0] == 0.0
    assert not any(once(tree, Random(seed)) for seed in range(5))


def test_a_chain_with_too_many_states_is_answered_by_drawn_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = load("version: 1\ntree: t\nroot: {sequence: [go: {}, grab: {}]}\n", skills=SKILLS)
    chances = Chances(tree.spec, RECORDS)
    monkeypatch.setattr(chance, "MOST_STATES", 1)
    success, _, states = chances.solved(rates(), 0)
    assert states == 0
    assert success == pytest.approx(0.8 * 0.5, abs=0.04)


def test_a_chain_by_hand() -> None:
    text = "version: 1\ntree: t\nroot: {sequence: [{retry: {times: 2, child: {go: {}}}}, grab: {}]}\n"
    found = Chances(load(text, skills=SKILLS).spec, RECORDS).chance()
    assert found.success == pytest.approx(0.96 * 0.5)
    assert found.seconds == pytest.approx(3 * 1.2 + 0.96 * 2)
    assert [name for name, _ in found.gains] == ["grab", "go"]
    assert found.low < found.success < found.high


def test_where_a_tree_has_clocks_its_runs_are_drawn() -> None:
    text = "version: 1\ntree: t\nroot: {timeout: {seconds: 5, child: {go: {}}}}\n"
    success, _, states = Chances(load(text, skills=SKILLS).spec, RECORDS).solved({"go": 0.8}, 3)
    assert states == 0
    assert success == pytest.approx(0.8 * (1 - math.exp(-5 / 3)), abs=0.04)


TOSS = """\
from random import Random
import bt_runtime as bt

RANDOM = Random(3)


def toss() -> bool:
    return RANDOM.random() < 0.5
"""


def test_the_command_reads_recorded_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "btr.yaml": "version: 1\n", "skills/coin.py": TOSS,
        "skills/coin.yaml": "version: 1\nskills: coin\nkinds:\n  toss: {impl: coin.py:toss, on_resume: repeat}\n",
        "trees/coin.yaml": "version: 1\ntree: coin\nskills: [coin]\nroot: {fallback: [toss: {}, toss: {}]}\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BtError, match="nothing is recorded of toss"):
        Chances(load("coin").spec, {})
    for _ in range(6):
        with bt.Run(bt.load("coin"), journal="runs/") as run:
            run.spin(ticks=50)
    record = records_of(sorted((tmp_path / "runs").glob("*.btr")), {"toss"})["toss"]
    assert record.starts >= 6 and record.succeeded > 0
    assert main(["check", "coin", "--chance"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("succeeds: ") and f"toss: {record.succeeded} of {record.starts}" in told
