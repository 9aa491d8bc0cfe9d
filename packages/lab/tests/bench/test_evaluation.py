"""What has ended is on disk, whatever happens then; and what is on disk is not run again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run import evaluation
from bt_lab.run import results_file as ledger
from bt_lab.run.backend import Local
from bt_lab.run.case import Case, Setup, cases
from bt_lab.run.evaluation import Again
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import RESULTS, ResultsFile
from bt_runtime import BtError
from bt_runtime.clock import Manual
from packages.lab.tests.bench.conftest import knowing, named, outcomes, tasks_of

FRESH, ROOT = Again(), Path(__file__).parents[4]


class Asked:
    """A backend that remembers which cases it was given."""

    def __init__(self, inner: Local) -> None:
        self.inner = inner
        self.cases: list[str] = []

    def outcomes(self, setup: Setup, cases: Sequence[Case]) -> Iterator[Outcome]:
        self.cases = [case.task.id for case in cases]
        return self.inner.outcomes(setup, cases)


def quiet(outcome: Outcome, left: int) -> None:
    """Nobody looks on."""


@pytest.fixture
def evaluate(doors: str, tmp_path: Path) -> Any:
    def run(count: int = 6, jobs: int = 2, again: Again = FRESH, kinds: Any = None, told: Any = quiet) -> Any:
        backend = Asked(Local(knowing(doors, 1), jobs, Manual))
        todo = cases(named("react"), tasks_of(doors, count, kinds=kinds))
        return evaluation.run(tmp_path, Setup(doors), todo, backend, again, told), backend

    return run


def test_the_file_is_in_the_order_of_the_cases_however_many_ran_at_once(evaluate: Any, tmp_path: Path) -> None:
    ended: list[int] = []
    evaluate(9, 4, told=lambda outcome, left: ended.append(outcome.number))
    assert ended != sorted(ended)  # tasks differ in length, so they end in another order
    assert [o.number for o in ledger.read(tmp_path / RESULTS)] == list(range(9))


def test_an_outcome_is_on_disk_by_the_time_it_is_told(evaluate: Any, tmp_path: Path) -> None:
    seen = []
    evaluate(5, told=lambda outcome, left: seen.append((len(ledger.read(tmp_path / RESULTS)), left)))
    assert seen == [(1, 4), (2, 3), (3, 2), (4, 1), (5, 0)]


def test_what_was_cut_off_goes_on_with_what_is_missing_and_comes_out_as_if_it_had_not_been(
    evaluate: Any, tmp_path: Path
) -> None:
    class Cut(Exception):
        pass

    def cut(outcome: Outcome, left: int) -> None:
        if left == 3:
            raise Cut

    whole, _ = evaluate()
    (tmp_path / RESULTS).unlink()
    with pytest.raises(Cut):
        evaluate(told=cut)
    before = {o.task for o in ledger.read(tmp_path / RESULTS)}
    found, backend = evaluate(again=Again(resume=True))
    assert len(before) == 3 and not before & set(backend.cases) and len(backend.cases) == 3
    assert found == whole == ledger.read(tmp_path / RESULTS)


def test_errors_are_run_again_only_when_that_is_asked_for(evaluate: Any, tmp_path: Path) -> None:
    broken, _ = evaluate(4, kinds=["none", "act"])
    assert [bool(o.error) for o in broken] == [False, True, False, True]
    _, resumed = evaluate(4, kinds=["none", "act"], again=Again(resume=True))
    assert resumed.cases == []
    found, retried = evaluate(4, again=Again(retry=True))  # the world has been mended
    assert retried.cases == [o.task for o in broken if o.error]
    assert all(o.success and not o.error for o in found)
    assert ledger.read(tmp_path / RESULTS) == found  # one line a case


KILLED = """
import os, signal, sys
from pathlib import Path
from bt_lab.run import evaluation
from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, cases
from bt_runtime.clock import Manual
from packages.lab.tests.bench.conftest import knowing, named, outcomes, tasks_of

def told(outcome, left):
    if left == 2:
        os.kill(os.getpid(), signal.SIGKILL)

tasks = tasks_of("textcraft", 5)
backend = Local(knowing("textcraft", 1), 2, Manual)
evaluation.run(Path(sys.argv[1]), Setup("textcraft"), cases(named("react"), tasks), backend, evaluation.Again(), told)
"""


def test_a_kill_loses_at_most_what_was_running(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, timeout=900)
    assert done.returncode == -signal.SIGKILL
    assert len(ledger.read(tmp_path / RESULTS)) == 3


def test_a_line_that_a_kill_left_unfinished_is_run_again(evaluate: Any, tmp_path: Path) -> None:
    whole, _ = evaluate(4)
    path = tmp_path / RESULTS
    text = path.read_bytes()
    for end in (len(text) - 1, len(text) - 40, text.rindex(b"\n", 0, -1) + 2):
        path.write_bytes(text[:end])
        found, backend = evaluate(4, again=Again(resume=True))
        assert backend.cases == [whole[-1].task]
        assert found == whole and path.read_bytes() == text


def test_a_file_that_was_changed_by_hand_is_told_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    path.write_text('{"strategy": "a", "task": "t", "number": 0}\nnonsense\n{}\n')
    with pytest.raises(BtError, match=r"results\.jsonl:2"):
        ResultsFile(path)


def test_fields_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    path.write_text(json.dumps({**Outcome("a", "t", 0).to_json(), "colour": "blue"}) + "\n")
    assert ledger.read(path) == [Outcome("a", "t", 0)]


def test_a_folder_is_one_evaluations_and_never_written_over_by_another(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    evaluation.open_folder(folder, {"seed": 1, "free": False}, {}, Again())
    with pytest.raises(BtError, match="this evaluation already"):
        evaluation.open_folder(folder, {"seed": 1, "free": False}, {}, Again())
    evaluation.open_folder(folder, {"seed": 1, "free": False}, {}, Again(resume=True))
    for again in (Again(), Again(resume=True), Again(retry=True)):
        with pytest.raises(BtError, match="it differs in free"):
            evaluation.open_folder(folder, {"seed": 1, "free": True}, {}, again)
    with pytest.raises(BtError, match="no evaluation whose errors"):
        evaluation.open_folder(tmp_path / "none", {"seed": 1}, {}, Again(retry=True))


def test_prompts_are_of_the_register_that_the_set_up_names(doors: str) -> None:
    """Without a name, as each model was taught."""
    asked: dict[str, list[str]] = {}
    for register in ("", "starter", "instruct"):
        known, made = knowing(doors), list[Any]()

        def heard(case: Case, known: Any = known, made: list[Any] = made) -> dict[str, Any]:
            made.append(known(case)["default"])
            return {"default": made[-1]}

        found = outcomes(doors, tasks_of(doors, 1), "react", models=heard, prompts=register)
        assert [each.success for each in found] == [True]
        asked[register] = [question.prompt for question in made[0].asked]
    assert asked[""] == asked["starter"] != asked["instruct"]
