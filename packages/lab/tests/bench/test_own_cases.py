"""`btr lab eval CASES.csv`: an `infer` node is measured on cases whose answers are known."""

from __future__ import annotations

import json
import math

import pytest

from bt_lab.report.judgements import draw, judged, text
from bt_lab.report.temperature import fitted
from bt_lab.run.own_cases import Answered, OwnCase, answers, judge_of, read
from bt_runtime import BtError, load
from bt_runtime.cli import main
from bt_runtime.language.outputs import Output
from bt_runtime.llm.question import NO_SCORES
from tests.support.scoring import Scoring

TREE = """
version: 1
tree: t
inputs: {message: string, floor: {type: integer, default: 1}}
outputs: {team: {type: string, default: ""}}
root:
  sequence:
    - infer:
        name: judge
        prompt: "{message} on {floor}"
        outputs:
          team: {choices: [billing, technical]}
          sum: {type: number, maximum: 9}
        holds: team == 'billing'
    - log: "{team} {sum}"
"""
CSV = """message,floor,team,sum
"a bill, please",2,billing,1.5
a screen,3,technical,2
a bill for a screen,1,technical,2.5
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(TREE)
    (tmp_path / "c.csv").write_text(CSV)
    return tmp_path


def model():
    """Takes whatever is a bill for one of billing, with three to one; every sum is 2."""

    def weights(question):
        said = question.prompt.rpartition(" on ")[0].rpartition("\n")[2]
        return [math.log(0.75), math.log(0.25)] if "bill" in said else [math.log(0.1), math.log(0.9)]

    return Scoring(weights, [" 2.00"] * 9)


def test_each_row_is_answered_by_the_node_alone_and_compared(here):
    tree = load("t.yaml")
    judge = judge_of(tree)
    cases = read(here / "c.csv", judge)
    assert cases[0] == OwnCase(2, {"message": "a bill, please", "floor": 2}, {"team": "billing", "sum": 1.5})
    found = answers(cases, judge, tree, {"default": model()}, jobs=2)
    assert [each.answers["team"] for each in found] == ["billing", "technical", "billing"]
    team = judged(found, judge.outputs["team"])
    assert (team.hits, team.cases) == (2, 3) and team.mistakes == (("technical", "billing", 1),)
    assert {c.name: (c.precision, c.recall) for c in team.classes} == {"billing": (0.5, 1.0), "technical": (1.0, 0.5)}
    assert team.error == pytest.approx((2 * abs(0.75 - 0.5) + abs(0.9 - 1)) / 3)
    assert team.brier == pytest.approx((2 * 0.25**2 + 2 * 0.75**2 + 2 * 0.1**2) / 3)
    total = judged(found, judge.outputs["sum"])
    assert total.hits == 1 and total.off == pytest.approx(1 / 3) and not total.bins
    assert ["technical", "billing", "1"] in [line.split() for line in text([team, total], 0).splitlines()]


def test_a_model_without_scores_is_measured_without_calibration(here):
    class Plain(Scoring):
        def ask(self, question):
            if question.mode == "scores":
                raise BtError(f"it {NO_SCORES}")
            job = super().ask(question)
            if question.kind == "choose":
                job.answer = job.answer._replace(margin=math.nan, logprob=math.nan)
            return job

    tree = load("t.yaml")
    judge = judge_of(tree)
    script = model()
    found = answers(read(here / "c.csv", judge), judge, tree, {"default": Plain(script.weights, script.lines)})
    team = judged(found, judge.outputs["team"])
    assert team.hits == 2 and not team.bins and math.isnan(team.error)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("message,floor,team,sum", "message,floor,team,team", "stands there twice"),
    ("message,floor,team,sum", "message,floor,x,y", "no column is an output"),
    ("message,floor,team,sum", "msg,floor,team,sum", "reads `message`, which is no column"),
    ("message,floor,team,sum", "message,flor,team,sum", "c.csv:1: the column `flor` is no entry of `t`, and no output"),
    ("technical,2\n", "techncal,2\n", "c.csv:3: `team` can never be 'techncal'"),
    ("3,technical", "third,technical", "c.csv:3: `floor` takes a integer"),
    ("2.5", "25", "out of its bounds"),
    (",2.5", "", "c.csv:4: this row has not as many cells"),
    ('"a bill, please"', '"a bill, please', "no CSV that can be read"),
])  # fmt: skip
def test_a_file_that_is_not_as_it_must_be_is_told_with_the_line(here, old, new, said):
    (here / "c.csv").write_text(CSV.replace(old, new, 1))
    with pytest.raises(BtError, match=said.replace("(", "[(]")):
        read(here / "c.csv", judge_of(load("t.yaml")))


def test_a_tree_with_no_or_with_several_nodes_is_told_what_to_name(here):
    with pytest.raises(BtError, match="has no `infer` node called `x`"):
        judge_of(load("t.yaml"), "x")
    with pytest.raises(BtError, match="has no `infer` node"):
        judge_of(load("react"))


def test_a_case_without_an_answer_is_a_wrong_one_and_the_picture_is_drawn(tmp_path):
    output = Output("ok", "boolean")
    found = [
        Answered(OwnCase(2, {}, {"ok": True}), {"ok": True}, {"ok": {"yes": 0.9, "no": 0.1}}),
        Answered(OwnCase(3, {}, {"ok": True}), {}, {}, "nobody is there"),
    ]
    told = judged(found, output)
    assert told.hits == 1 and told.mistakes == (("yes", "no answer", 1),) and len(told.bins) == 1
    pytest.importorskip("matplotlib")
    picture = draw(tmp_path, [told])
    assert picture is not None and picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_prints_a_table_and_leaves_all_in_a_folder(here, capsys):
    pytest.importorskip("llama_cpp")
    assert main(["lab", "eval", "c.csv", "--strategy", "t.yaml", "--model", "starter", "--out", "out"]) == 0
    assert "team" in capsys.readouterr().out
    assert len([json.loads(line) for line in (here / "out" / "cases.jsonl").read_text().splitlines()]) == 3
    assert main(["lab", "eval", "c.csv", "--strategy", "react", "--model", "starter"]) == 2


def test_accuracy_is_told_with_calibrate_and_without(here, monkeypatch, capsys):
    """A model that says billing to everything is right more often when what it says anyway is taken off."""

    def weights(question):
        share = 0.9 if "bill" in question.prompt.rpartition(" on ")[0].rpartition("\n")[2] else 0.6
        share = 0.8 if any(f"{blank} on" in question.prompt for blank in ("N/A", "[MASK]", "...")) else share
        return [math.log(share), math.log(1 - share)]

    biased = Scoring(weights, [" 2.00"] * 9)
    monkeypatch.setattr("bt_lab.cli.eval_cases.open_models", lambda *args, **how: {"default": biased})
    assert main(["lab", "eval", "c.csv", "--strategy", "t.yaml", "--model", "x"]) == 0
    told = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert ["team", "false", "1/3"] in told and ["team", "true", "2/3"] in told


@pytest.mark.parametrize(("share", "low", "high"), [(0.999, 1.5, 20.0), (0.55, 0.01, 0.7), (0.75, 0.95, 1.05)])
def test_a_scale_makes_a_model_as_sure_as_it_is_right(share, low, high):
    """Of forty cases thirty are right. Too sure: above 1; not sure enough: below; sure of three in four: 1."""
    output = Output("team", "string", choices=["a", "b"])
    odds = {"team": {"a": share, "b": 1 - share}}
    found = [
        Answered(OwnCase(n, {}, {"team": "b" if n % 8 in (2, 5) else "a"}), {"team": "a"}, odds) for n in range(40)
    ]
    fit = fitted(found, [output])["team"]
    assert low < fit.scale < high
    assert fit.after.error <= fit.before.error + 1e-6 and fit.after.error < 0.01
    assert fit.after.hits == fit.before.hits == 30


def test_scores_are_divided_by_the_scale_of_the_node(here):
    """Three to one becomes the square root of three to one."""
    (here / "t.yaml").write_text(TREE.replace("holds: team", "scale: 2\n        holds: team"))
    tree = load("t.yaml")
    judge = judge_of(tree)
    found = answers(read(here / "c.csv", judge)[:1], judge, tree, {"default": model()})
    assert found[0].odds["team"]["billing"] == pytest.approx(3**0.5 / (3**0.5 + 1), abs=1e-3)


def test_the_command_prints_a_scale_with_the_error_before_and_after(here, capsys, monkeypatch):
    """And a table of how often it is right where it is so sure; too few cases are a fault."""
    script = Scoring(model().weights, [" 2.00"] * 99)
    monkeypatch.setattr("bt_lab.cli.eval_cases.open_models", lambda *given, **more: {"default": script})
    words = ["lab", "eval", "c.csv", "--strategy", "t.yaml", "--model", "starter", "--fit-calibration"]
    assert main(words) != 0
    assert "nothing to fit" in capsys.readouterr().err
    rows = "".join(f"a bill,1,{team},1\n" for team in ["billing", "billing", "technical", "technical"] * 3)
    (here / "c.csv").write_text("message,floor,team,sum\n" + rows)
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "team: scale 20. Calibration error 0.25 as it is, 0.0" in told
    assert "50–60 %" in told.partition("scale")[2]


def test_a_column_that_resembles_no_entry_is_let_be(here):
    """Tables have columns of their own, such as a number; only a slip in a name would be asked unseen."""
    lines = CSV.splitlines()
    (here / "c.csv").write_text("\n".join([f"id,{lines[0]}", *(f"7,{line}" for line in lines[1:])]) + "\n")
    judge = judge_of(load("t.yaml"))
    assert len(read(here / "c.csv", judge)) == len(CSV.splitlines()) - 1
