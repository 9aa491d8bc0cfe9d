"""A run that is killed at any moment goes on to the same verdict, and does nothing twice that may not be done twice.

`BTR_KILLS=40 pytest tests/journal/test_kill.py` tries more moments (`make kills`).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journal import errand

KILLS = int(os.environ.get("BTR_KILLS", "10"))
CASES = [
    ("house", 3, "simulated"),
    ("house", 3, "lasting"),
    ("textcraft", 16, "simulated"),
    ("textcraft", 16, "lasting"),
]
REPEATABLE = ("inventory",)  # the only sentence of these manifests that says `on_resume: repeat`


def process(how: str, folder: Path, case: tuple[str, int, str], moment: int = 0) -> subprocess.CompletedProcess[str]:
    name, seed, kind = case
    words = [sys.executable, errand.__file__, how, str(folder), name, str(seed), kind, str(moment)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory):
    """How each errand ends when nobody kills it."""
    found = {}
    for case in CASES:
        done = process("start", tmp_path_factory.mktemp("whole"), case)
        assert done.returncode == 0, done.stderr
        found[case] = json.loads(done.stdout.splitlines()[-1])
        assert found[case]["met"] == found[case]["total"] > 0
    return found


def deeds(folder: Path) -> list[tuple[str, str]]:
    """(process, sentence) of everything that was ever done."""
    path = folder / "deeds"
    lines = path.read_text().splitlines() if path.exists() else []
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


@pytest.mark.parametrize("number", range(KILLS))
def test_a_run_that_was_killed_goes_on_to_the_same_verdict_and_does_nothing_twice(number, whole, tmp_path):
    draw = random.Random(number)
    case = CASES[number % len(CASES)]
    expected = whole[case]
    moment = draw.randint(expected["moments"] // 50 + 1, expected["moments"] - 1)
    killed = process("start", tmp_path, case, moment)
    again = 0
    while killed.returncode == -signal.SIGKILL and again < 2 and draw.random() < 0.3:
        again += 1  # and once more, while it goes on
        if list((tmp_path / "runs").glob("*.btr")):
            killed = process("resume", tmp_path, case, draw.randint(1, expected["moments"]))
    if killed.returncode == -signal.SIGKILL:
        killed = process("resume", tmp_path, case)
    assert killed.returncode == 0, f"moment {moment}: {killed.stderr[-2000:]}"
    found = json.loads(killed.stdout.splitlines()[-1])
    assert {k: found[k] for k in ("status", "met", "total")} == {k: expected[k] for k in ("status", "met", "total")}
    plan = errand.oracle(case[0], errand.task_of(case[0], case[1]))
    if case[2] == "simulated":  # each process builds its world anew
        done = deeds(tmp_path)
        last = [sentence for process, sentence in done if process == done[-1][0]]
        assert last == plan
    else:
        site = json.loads((tmp_path / "site").read_text())  # saved together with what was done
        assert without_repeats(site["sentences"], plan) == plan


def without_repeats(done: list[str], plan: list[str]) -> list[str]:
    """Repeats are left out where the manifest allows them; any other stays, and is seen."""
    kept: list[str] = []
    for sentence in done:
        repeated = kept and kept[-1] == sentence and sentence.startswith(REPEATABLE)
        if not (repeated and len(kept) < len(plan) and plan[len(kept)] != sentence):
            kept.append(sentence)
    return kept
