"""Many forks of a failed run: which edit saves it, which decision mattered, and what the saved forks teach."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bt_lab.forks.edit_file import NamedEdit
from bt_lab.forks.flip import doubts, flips, without
from bt_lab.forks.forking import Forking, How
from bt_lab.forks.sweep import Tried, smallest, sweep
from bt_runtime import Budget, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay.fork import Edits
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Question

WRONG = "Act: get 4 lub"


class Unsure(ScriptedModel):
    """Crafts what is asked for, unless it first takes what it does not need: then it gives up, and is unsure of it."""

    def __init__(self, wise: int | None = None) -> None:
        super().__init__(self.said)
        self.wise = wise  # the seed with which it does not begin wrongly

    def said(self, question: Question) -> str:
        found = re.search(r"craft 1 (.+?) using (\d+ \w+)\n", question.prompt)
        assert found is not None
        if WRONG in question.prompt:
            gives_up = "Act: failure" in question.alternatives
            return "Act: failure" if gives_up else "Act: done"
        if f"Got {found[2]}" in question.prompt:
            return f"Act: {found[0].strip()}" if "Crafted" not in question.prompt else "Act: done"
        return WRONG if WRONG in question.alternatives and question.seed != self.wise else f"Act: get {found[2]}"

    def ask(self, question: Question) -> ScriptedAnswer:
        job = super().ask(question)
        if question.kind != "write":
            job.answer = job.answer._replace(margin=0.5 if WRONG in question.prompt else 2.0)
        return job


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """The journal of a run that takes the wrong thing, and gives up."""
    task = open_suite("textcraft").tasks(1, 1)[0]
    world = open_world("textcraft")
    world.reset(task)
    with Run(
        load("react"), inputs={"goal": task.goal}, world=world, task=task, model=Unsure(), clock=Manual(),
        journal=tmp_path, seed=1, budget=Budget(decisions=8),
    ) as run:  # fmt: skip
        run.spin()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    assert Recording(run.parts.journal.path).verdict == (0, 1)
    return run.parts.journal.path


def forking(path: Path, model: object = None) -> Forking:
    return Forking(path, How(model or Unsure(), clock=Manual))


def test_decisions_are_flipped_by_their_margin_and_the_one_that_saves_the_run_is_told(failed) -> None:
    """Giving up was the most doubtful decision, and not the one that mattered."""
    found = doubts(Recording(failed))
    assert [(d.number, d.margin, d.answer) for d in found] == [(2, 0.5, "Act: failure"), (1, 2.0, WRONG)]
    with forking(failed) as forks:
        done = list(flips(forks, found))
    assert [(f.doubt.number, f.instead, f.played.passed) for f in done] == [
        (2, "Act: done", False), (1, "Act: get 3 skaurd", True),
    ]  # fmt: skip


def test_a_saved_fork_becomes_a_pair_of_two_answers_to_the_same_prompt(failed) -> None:
    """The answer of the saved fork is chosen, that of the failed run rejected; a fork that failed teaches nothing."""
    found = doubts(Recording(failed))
    with forking(failed) as forks:
        list(flips(forks, found[:1]))
        assert not forks.pairs
        list(flips(forks, found[1:]))
        rows = list(forks.pairs.values())
    assert [(r["chosen"][0]["content"], r["rejected"][0]["content"]) for r in rows] == [("Act: get 3 skaurd", WRONG)]
    asked = next(body["prompt"] for _, body in Recording(failed).of("ask"))
    assert rows[0]["prompt"][-1]["content"].strip() in asked
    json.dumps(rows)


def test_a_sweep_counts_what_passes_with_each_seed_and_names_the_smallest_edit(failed, tmp_path) -> None:
    """No fork is kept, the recorded run stays as it is, and a model that is named for one edit serves only that."""
    before, files = failed.read_bytes(), sorted(tmp_path.iterdir())
    edits = [NamedEdit("wise", Edits(model=Unsure(question_seed(failed))), 1),
             NamedEdit("again", Edits(model=Unsure()), 1)]  # fmt: skip
    with forking(failed) as forks:
        found = sweep(forks, "decision:1", edits, 3)
    assert [(each.name, each.passed, each.forks) for each in found] == [
        ("(none)", 0, 3),
        ("wise", 3, 3),
        ("again", 0, 3),
    ]
    assert smallest(found) == found[1]
    low, high = found[1].rate.low, found[1].rate.high
    assert 0.4 < low < 0.5 and high == 1
    assert failed.read_bytes() == before and sorted(tmp_path.iterdir()) == files


def question_seed(path: Path) -> int:
    """What the agent's questions have as their seed, whatever the run's."""
    model = Unsure()
    with forking(path, model) as forks:
        forks.play("decision:1", Edits())
    return model.asked[0].seed


def test_the_command_tells_the_flip_that_saves_the_run_and_writes_its_pair(
    failed, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("btr.yaml").write_text("version: 1\n")
    text = "from packages.lab.tests.bench.test_forks import Unsure\n\n\n"
    text += "def unsure(where, **settings):\n    return Unsure()\n"
    Path("model.py").write_text(text)
    words = ["runs", "fork", str(failed), "--flip", "--model", "model.py:unsure", "--pairs", "pairs.jsonl"]
    assert main([*words, "--changed"]) == 0
    said = capsys.readouterr().out
    assert "1 of 2 flips save the run: decision 1, `Act: get 3 skaurd` instead of `Act: get 4 lub`" in said
    assert len(Path("pairs.jsonl").read_text().splitlines()) == 1
    assert main([*words, "--changed", "--budget", "1"]) == 1
    assert "no flip of 1 saves the run; not flipped: 1 (--budget)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tried", "name"),
    [([("a", 2, 5), ("b", 1, 4)], "b"), ([("a", 1, 3), ("b", 1, 5)], "b"), ([("a", 1, 2), ("b", 3, 3)], "b"),
     ([("a", 1, 4), ("b", 1, 4)], "a"), ([("a", 1, 2)], None)],
)  # fmt: skip
def test_the_smallest_edit_passes_more_than_half_and_more_than_no_edit(tried, name) -> None:
    best = smallest([Tried("(none)", 0, 1, 5), *(Tried(n, size, passed, 5) for n, size, passed in tried)])
    assert (best.name if best else None) == name
    assert smallest([Tried("(none)", 0, 5, 5), Tried("a", 1, 5, 5)]) is None


def test_an_alternative_is_taken_away_with_its_move_when_it_was_the_only_one() -> None:
    question = Question("decide", moves={"Think:": (), "Act:": (" go",), "Look:": (" up", " down")})
    assert [*without(question, "Act: go").alternatives] == ["Think:", "Look: up", "Look: down"]
    assert [*without(question, "Think:").alternatives] == ["Act: go", "Look: up", "Look: down"]
    assert [*without(question, "Look: up").alternatives] == ["Think:", "Act: go", "Look: down"]
    assert without(Question("choose", options=("a", "b")), "a").options == ("b",)
