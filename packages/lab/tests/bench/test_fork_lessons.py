"""Forks of all failed runs of an evaluation: what is saved, in how many tokens, and the lessons in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bt_lab.forks.drawn import DrawnModel
from bt_lab.forks.forking import SPENT, How
from bt_lab.forks.lessons import Kept, Tries, shares, table, tried
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.types import Question, Spent
from packages.lab.tests.bench.test_forks import Unsure, failed  # noqa: F401

MODEL = """
from packages.lab.tests.bench.test_fork_lessons import Counted


def unsure(where, **settings):
    return Counted()
"""


class Counted(Unsure):
    """Each answer costs ten tokens."""

    asks = 0

    def ask(self, question: Question) -> ScriptedAnswer:
        type(self).asks += 1
        job = super().ask(question)
        job.spent = Spent(computed=10)
        return job


def row(path: Path, tries: Tries) -> dict[str, Any]:
    return tried(Recording(path), How(Counted(), clock=Manual, changed=True), tries, None)


def test_flips_stop_at_the_first_that_saves_and_tell_their_tokens(failed) -> None:  # noqa: F811
    found = row(failed, Tries(10))
    assert [(f["decision"], f["saved"], f["tokens"]) for f in found["flips"]] == [(2, False, 10), (1, True, 30)]
    assert len(found["pairs"]) == 1 and found["anew"] is None and found["allowed"] is None


def test_no_fork_computes_more_than_the_tokens_allow(failed) -> None:  # noqa: F811
    """The fork at which they are spent has failed, and nothing is learnt from it."""
    found = row(failed, Tries(10, 30))
    assert [(f["decision"], f["status"] == SPENT) for f in found["flips"]] == [(2, False), (1, True)]
    assert not found["flips"][-1]["saved"] and not found["pairs"]
    assert len(row(failed, Tries(10, 10))["flips"]) == 1


def test_flips_get_as_many_tokens_as_starting_anew_took(failed) -> None:  # noqa: F811
    """Both ways are told with their intervals, and which runs only one of them saved."""
    found = row(failed, Tries(10, anew=True))
    assert found["allowed"] == found["anew"]["tokens"] > 0
    said = table([found, {**found, "run": "b"}])
    assert "start anew" in said and "of" not in said.splitlines()[0] and "saved only by flips" in said
    assert {s.runs for s in shares([found])} == {1}


def test_a_run_that_is_started_anew_takes_another_course_by_its_seed() -> None:
    """The second best is drawn as often as its distance says, the same with the same seed; a certain answer stays."""

    def model(margin: float) -> ScriptedModel:
        class Sure(ScriptedModel):
            def ask(self, question: Question) -> ScriptedAnswer:
                job = super().ask(question)
                job.answer = job.answer._replace(margin=margin)
                return job

        return Sure(lambda question: question.alternatives[0])

    def drawn(margin: float, seed: int) -> list[str]:
        asked = DrawnModel(model(margin), seed)
        return [asked.ask(Question("choose", "p", options=("a", "b", "c"))).wait(5).text for _ in range(200)]

    near, far = drawn(0.1, 1), drawn(3.0, 1)
    assert near == drawn(0.1, 1) != drawn(0.1, 2) and set(near) == {"a", "b"}
    assert 60 < near.count("b") < 120 and far.count("b") < 10
    assert set(drawn(float("inf"), 1)) == {"a"}


def test_one_command_forks_a_folder_goes_on_where_it_was_and_writes_the_pairs(
    failed, tmp_path, monkeypatch, capsys  # noqa: F811
) -> None:  # fmt: skip
    place = tmp_path / "evaluation"
    (place / "runs").mkdir(parents=True)
    failed.rename(place / "runs" / failed.name)
    monkeypatch.chdir(tmp_path)
    Path("btr.yaml").write_text("version: 1\n")
    Path("model.py").write_text(MODEL)
    words = ["runs", "fork", str(place), "--flip", "--model", "model.py:unsure", "--changed", "--pairs", "pairs.jsonl"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "1 runs, 1 failed and could be forked" in said.out and "saved by decision 1" in said.err
    assert "flip further ones, too" in said.out and "1/1" in said.out
    assert len(Path("pairs.jsonl").read_text().splitlines()) == 1
    asked = Counted.asks
    assert main([*words, "--json"]) == 0 and Counted.asks == asked, "what was tried is not tried again"
    told = json.loads(capsys.readouterr().out)
    assert told["failed"] == 1 and [way["saved"] for way in told["ways"]] == [0, 1] and told["pairs"] == 1
    assert main([*words, "--budget", "1"]) == 2
    assert "was made with other options (flips: 10)" in capsys.readouterr().err


def test_a_file_that_is_none_is_refused_and_stays_as_it_is(tmp_path) -> None:
    file = tmp_path / "forks.jsonl"
    file.write_text("not a line\n")
    with pytest.raises(BtError, match="is no file of forks"):
        Kept(file, {})
    assert file.read_text() == "not a line\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [([".", "--at", "3"], "its failed runs are forked by flips"), ([".", "--flip"], "no journals"),
     (["last", "--at", "2", "--anew"], "--anew belongs to a folder"),
     (["last", "--at", "2", "--tokens", "5"], "many forks")],
)  # fmt: skip
def test_options_of_a_folder_are_refused_elsewhere(words, said, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["runs", "fork", *words]) == 2
    assert said in capsys.readouterr().err
