"""A run that is killed at any moment goes on to the same verdict, does nothing twice that may not be done twice, loses
nothing without saying so, and tells its memory everything once.

`make kills` tries more moments: BTR_KILLS=200 BTR_KILLED_ARMS=50 BTR_KILLED_AGENTS=40.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bt_runtime.journal import folder as journals
from bt_runtime.memory.store import Store

ROUNDS = int(os.environ.get("BTR_KILLS", "10"))
ARMS = int(os.environ.get("BTR_KILLED_ARMS", "2"))
AGENTS = int(os.environ.get("BTR_KILLED_AGENTS", "0"))
ROOT = Path(__file__).parents[2]
RUN = ("run", "reactree", "--env", "house", "--model", "starter", "--seed", "3")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[str]]:
    """A process without threads, which parts into those that are killed: nothing has to be imported again."""
    words = [sys.executable, "-m", "tests.journal.kills", str(tmp_path_factory.mktemp("kills")), "0", str(ROUNDS)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield iter(process.stdout)
        process.kill()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_run_that_was_killed_ends_as_if_it_had_not_been(number: int, rounds: Iterator[str]) -> None:
    found = json.loads(next(rounds))
    assert found["round"] == number
    assert found["wrong"] == [], found


def test_an_arm_that_was_killed_in_a_motion_or_a_decision_is_resumed_and_tidies_its_table(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    words = [sys.executable, "-m", "tests.journal.tidying", str(tmp_path), str(ARMS)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900 + 30 * ARMS)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["how"] for each in found][:2] == ["motion", "decision"], done.stderr[-2000:]
    assert len(found) == ARMS and not [each for each in found if each["wrong"]], found


def btr(words: tuple[str, ...], folder: Path, seconds: float | None = None) -> str | None:
    """What it said last; None when it was killed after so many seconds."""
    command = [sys.executable, "-m", "bt_runtime.cli", *words, "--runs", str(folder / "runs")]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds or 300)
    except subprocess.TimeoutExpired:  # `run` has killed it
        return None
    return (done.stdout.strip().splitlines() or [done.stderr[-500:]])[-1]


def verdict(folder: Path) -> tuple[str, str, int, set[str | None]]:
    """State and verdict as the list of runs has it, and what is remembered of it."""
    (found,) = json.loads(subprocess.run(
        [sys.executable, "-m", "bt_runtime.cli", "runs", "list", "--json", "--runs", str(folder / "runs")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
    ).stdout)  # fmt: skip
    with closing(Store(folder / "memory.sqlite", readonly=True)) as memory:
        told = list(memory.each())
    assert len({(e.task, e.place) for e in told}) == len(told)
    return found["state"], found["verdict"], len(told), {str(e.verdict) for e in told}


@pytest.mark.skipif(not AGENTS, reason="BTR_KILLED_AGENTS=40: `make kills`")
def test_an_agent_s_run_that_was_killed_is_resumed_by_its_name_alone(tmp_path: Path) -> None:
    """As a person does it: `btr runs resume last`, nothing else; with the verdict and the memory of the uncut run."""
    whole = tmp_path / "whole"
    btr((*RUN, "--memory", str(whole / "memory.sqlite")), whole)
    expected, draw, others, kills = verdict(whole), random.Random(7), [], 0
    for number in range(AGENTS):
        folder = tmp_path / str(number)
        words: tuple[str, ...] = (*RUN, "--memory", str(folder / "memory.sqlite"))
        said = None
        for turn in range(5):
            said = btr(words, folder, draw.uniform(1.0, 12.0) if turn < 1 + draw.randrange(3) else None)
            there = list((folder / "runs").glob("*.btr"))
            if said is not None:
                break
            kills += 1
            if there and journals.begun(there[0]):
                words = ("runs", "resume", "last")
            for path in there if words[0] == "run" else ():
                journals.remove(path)
        if verdict(folder) != expected:
            others.append((number, said, verdict(folder)))
        print(f"{number + 1} of {AGENTS}: {kills} kills, {len(others)} not as the uncut run", flush=True)
    assert not others, others
