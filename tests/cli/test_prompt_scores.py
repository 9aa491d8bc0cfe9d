"""`btr view prompt --scores`: options token by token, with their end and what they have anyway."""

from __future__ import annotations

import json
import math

import pytest

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from tests.support.random_models import Shape, make_gguf
from tests.support.room import Room

TREE = """\
version: 1
tree: t
root:
  agent: {goal: find the egg, moves: MOVES, recall: false}
"""


def scored(tmp_path, capsys, moves: str, *more: str) -> list[dict]:
    file = make_gguf(tmp_path / "micro.gguf", Shape(context=8192))
    (tmp_path / "t.yaml").write_text(TREE.replace("MOVES", moves))
    words = ["view", "prompt", str(tmp_path / "t.yaml"), "--env", "house", "--model", str(file), "--scores", *more]
    assert main(words) == 0
    return json.loads(capsys.readouterr().out) if "--json" in more else []


@pytest.mark.parametrize("moves", ["[act]", "[think, act]"])
def test_the_tokens_and_the_end_of_an_option_make_its_score(tmp_path, capsys, moves):
    """The product of all probabilities is the sentence's; the likeliest comes first."""
    places = scored(tmp_path, capsys, moves, "--json")
    assert [place["opening"] for place in places] == ["Act:"] if moves == "[act]" else ["", "Act:"]
    for place in places:
        scores = [row["score"] for row in place["options"]]
        assert scores == sorted(scores, reverse=True) and len(scores) <= 10
        for row in place["options"]:
            parts = [piece["probability"] for piece in row["pieces"]] + ([row["end"]] if row["end"] is not None else [])
            assert sum(map(math.log, parts)) == pytest.approx(row["score"], abs=0.02)
            assert "".join(piece["text"] for piece in row["pieces"]) == row["option"]
            assert row["prior"] < 0


def test_it_is_a_table_for_people(tmp_path, capsys):
    """A line an option, and what the prior stands behind."""
    file = make_gguf(tmp_path / "micro.gguf", Shape(context=8192))
    (tmp_path / "t.yaml").write_text(TREE.replace("MOVES", "[act]"))
    assert main(["view", "prompt", str(tmp_path / "t.yaml"), "--env", "house", "--model", str(file), "--scores"]) == 0
    told = capsys.readouterr().out
    assert "| end 0." in told and "prior: behind" in told and "sum - prior/2" in told


def test_a_recorded_question_is_scored_by_the_model_that_is_named(tmp_path, capsys):
    """Whoever answered it then: the options are those that were on offer at that step."""
    file = make_gguf(tmp_path / "micro.gguf", Shape(context=8192))
    model = ScriptedModel(["Act: go left", "Act: jump", "Act: done"])
    tree = load(TREE.replace("MOVES", "[act]"))
    with Run(tree, world=Room(), model=model, clock=Manual(), journal=tmp_path / "runs") as run:
        run.spin(ticks=50)
    (recorded,) = (tmp_path / "runs").iterdir()
    assert main(["view", "prompt", str(recorded), "--step", "2", "--model", str(file), "--scores", "--json"]) == 0
    (place,) = json.loads(capsys.readouterr().out)
    assert {row["option"].strip() for row in place["options"]} == {"go left", "go right", "jump", "done", "failure"}


def test_without_a_model_the_one_of_the_recorded_run_is_named_and_not_opened(tmp_path, capsys, monkeypatch):
    """A journal may be anybody's, and would say whom to send the prompt."""
    monkeypatch.delenv("BTR_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    with Run(load(TREE.replace("MOVES", "[act]")), world=Room(), model="starter", journal=tmp_path / "runs") as run:
        run.spin(ticks=2)
    assert main(["view", "prompt", "last", "--step", "1", "--scores", "--runs", "runs"]) == 2
    assert "the run asked starter: add --model" in capsys.readouterr().err
