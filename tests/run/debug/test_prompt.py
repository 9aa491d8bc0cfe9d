"""The prompt of `btr run --break`: asked at each pause; the run waits for it no longer than its author allows."""

from __future__ import annotations

import io
import json

import pytest

from bt_runtime import BtError, debugger_of
from bt_runtime.cli import main
from bt_runtime.journal import Recording, folder
from bt_runtime.run.debug.commands import COMMANDS, do, parsed
from bt_runtime.testing import Trial

PATROL = """\
version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 0.41}
root:
  repeat:
    times: 3
    child:
      fallback:
        - sequence: {name: drive, children: [{wait: {name: go, seconds: 0.01}}, {log: {name: said, text: arrived}}]}
        - log: lost
"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "patrol.yaml").write_text(PATROL)
    return str(tmp_path / "patrol.yaml")


def run(monkeypatch, capsys, tree: str, typed: str, *more: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    code = main(["run", tree, "--break", "**/said", *more])
    return code, capsys.readouterr().err


def test_each_pause_asks_and_what_is_typed_is_done(monkeypatch, capsys, tree, tmp_path):
    (tmp_path / "new.yaml").write_text("log: {name: said, text: found}\n")
    typed = f"why\nprint battery\nbrake\ncheck /patrol/0/1 {tmp_path}/nothing.yaml\nreplace /patrol/0/drive/said {tmp_path}/new.yaml\nforce **/1 3:failure\nstatus\nclear\nc\n"  # noqa: E501
    code, said = run(monkeypatch, capsys, tree, typed, "--runs", str(tmp_path / "runs"))
    assert code == 0
    assert "it is held, and has not begun" in said and "battery = 0.41" in said and "did you mean `break`?" in said
    assert "nothing.yaml cannot be read" in said and "is replaced; the running nodes" in said
    assert "failure after 3 ticks" in said
    lines = [body["text"] for _, body in Recording(folder.find("last", tmp_path / "runs")).of("log")]
    assert [text for text in lines if text in ("found", "arrived")] == ["found"] * 3


def test_a_path_where_no_node_is_gets_a_word_of_warning():
    with Trial(PATROL) as trial:
        said = do(debugger_of(trial.run), "break", {"path": "/patrol/0/drvie"})["said"]
        assert said.endswith("(no node is there now: did you mean `drive`?)")
        assert "no node" not in do(debugger_of(trial.run), "break", {"path": "**/drive"})["said"]


def test_when_nothing_more_can_be_typed_the_run_goes_on(monkeypatch, capsys, tree):
    code, said = run(monkeypatch, capsys, tree, "")
    assert code == 0 and "nobody is there: the run goes on" in said


def test_or_it_halts_if_that_was_asked_for(monkeypatch, capsys, tree):
    code, said = run(monkeypatch, capsys, tree, "", "--pause-then", "halt")
    assert code != 0 and "nobody is there: the run is halted" in said


def test_the_prompt_can_end_the_run(monkeypatch, capsys, tree):
    code, _ = run(monkeypatch, capsys, tree, "halt\n")
    assert code != 0


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("b /p/dock success if battery < 0.2 and n == 1",
         ("break", {"path": "/p/dock", "moment": "success", "condition": "battery < 0.2 and n == 1"})),
        ("force /p failure 2:success", ("force", {"path": "/p", "acts": ["failure", [2, "success"]]})),
        ("step 3", ("step", {"ticks": 3})), ("n", ("over", {})), ("undo 4", ("undo", {"which": 4})),
        ("back", ("back", {})), ("back 4", ("back", {"ticks": 4})), ("to 12", ("to", {"tick": 12})),
        ("fork", ("fork", {})), ("fork anyway", ("fork", {"anyway": True})),
        ("p battery /p", ("print", {"entry": "battery", "path": "/p"})), ("to /p/dock", ("to", {"path": "/p/dock"})),
    ],
)  # fmt: skip
def test_lines_are_read_as_a_person_means_them(line, given):
    assert parsed(line) == given


@pytest.mark.parametrize(
    "line", ["step x", "force /p x:success", "break 'open", "to", "force", "break", "step 999999999"]
)
def test_a_line_that_makes_no_sense_is_answered_in_words(line):
    with Trial("version: 1\ntree: t\nroot:\n  wait: 1\n") as trial, pytest.raises(BtError) as caught:
        do(debugger_of(trial.run), *parsed(line))
    assert caught.value.hint


def test_every_answer_is_plain_json_and_says_something():
    with Trial("version: 1\ntree: t\nroot:\n  sequence: [{wait: 1}]\n") as trial:
        given = {"path": "/t/0", "text": "wait: 2", "acts": ["failure"]}
        for name in COMMANDS.keys() - {"back", "fork"}:  # these need a journal
            needs = ("path",) if name == "to" else COMMANDS[name].needs
            answer = do(debugger_of(trial.run), name, {key: given[key] for key in needs})
            assert json.loads(json.dumps(answer))["said"]


def test_the_yaml_of_a_node_is_what_stands_in_its_file():
    with Trial(PATROL) as trial:
        text = do(debugger_of(trial.run), "source", {"path": "/patrol/0"})["text"]
        assert text.startswith("fallback:\n  - sequence:") and text.endswith("  - log: lost\n")
        assert do(debugger_of(trial.run), "check", {"path": "/patrol/0", "text": text})["faults"] == []
        found = do(debugger_of(trial.run), "check", {"path": "/patrol/0", "text": "sequence: [wiat: 1]"})["faults"]
        assert [fault["code"] for fault in found] == ["BT012"] and found[0]["line"] == 1
