"""`btr runs`, `btr runs replay` and `btr runs resume`: what they print, and with what they exit."""

from __future__ import annotations

import json
import re
import struct
from xml.etree.ElementTree import fromstring

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, folder
from tests.journal.forgery import rewrite
from tests.journal.mutations import HOSTILE, made
from tests.support.abandoned import abandoned


@pytest.fixture
def journal(errand_of, runs, monkeypatch):
    path = errand_of("textcraft", 8)
    monkeypatch.chdir(runs.parent)
    return path


def test_list_shows_each_run_with_its_state_and_verdict(journal, capsys):
    assert main(["runs", "list"]) == 0
    line = capsys.readouterr().out.splitlines()[1].split()
    assert line[:3] == [journal.stem, "SUCCESS", "1/1"]
    assert main(["runs", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0]["state"] == "SUCCESS" and found[0]["ticks"] == Recording(journal).last_tick


def test_list_says_running_interrupted_and_damaged(runs, capsys):
    tree = load("version: 1\ntree: t\nroot: {wait: 5}\n")
    run = Run(tree, clock=Manual(), journal=runs)
    run.tick()
    run.parts.journal.tape.writer.durable().wait(60)
    (runs / "noise.btr").write_bytes(b"noise" * 999)
    states = lambda: {s["name"]: s["state"] for s in json.loads(capsys.readouterr().out)}  # noqa: E731
    assert main(["runs", "list", "--json", "--runs", str(runs)]) == 0
    assert states() == {run.parts.name: "running", "noise": "damaged"}
    assert main(["runs", "rm", run.parts.name, "--runs", str(runs)]) == 2
    assert "is being written" in capsys.readouterr().err
    abandoned(run)
    assert main(["runs", "list", "--json", "--runs", str(runs)]) == 0
    assert states()[run.parts.name] == "interrupted"


def test_no_runs_is_exit_5(tmp_path):
    assert main(["runs", "list", "--runs", str(tmp_path)]) == 5


def test_show_tells_the_story_and_shows_a_models_escape_codes_as_text(journal, capsys):
    assert main(["runs", "show", "last"]) == 0
    out = capsys.readouterr().out
    assert "expand /reactree" in out and "verdict" in out
    rewrite(journal, "step", "do part 1", "\\u001b[31mdo part 1")
    assert main(["runs", "show", "last"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_run_is_found_by_the_beginning_of_its_name_and_a_wrong_name_is_a_clear_error(journal, capsys):
    assert folder.find(journal.stem[:12], journal.parent) == journal
    assert main(["runs", "show", "raectree"]) == 2
    told = capsys.readouterr().err
    assert "no run" in told and ("btr runs list" in told or "did you mean" in told)


def test_diff_names_the_first_place_where_two_runs_part(journal, errand_of, capsys):
    same = errand_of("textcraft", 8)
    assert main(["runs", "diff", journal.stem, same.stem]) == 0
    assert capsys.readouterr().out == "no difference\n"
    other = errand_of("textcraft", 20)
    assert main(["runs", "diff", journal.stem, other.stem]) == 1
    assert "tick " in capsys.readouterr().out


def test_how_long_a_model_or_a_skill_took_is_no_difference_between_two_runs(tmp_path, capsys):
    """The same decisions of a model on a busy machine come some ticks later: that is the same run."""
    tree = "version: 1\ntree: t\nroot: {sequence: [work: {}, SECOND: done]}\n"

    def record(ticks: int, second: str = "log") -> str:
        @skill("work", on_resume="repeat")
        def work():
            yield from ["on the way"] * ticks

        with Run(load(tree.replace("SECOND", second), skills=[work]), journal=tmp_path) as run:
            while run.tick().running:
                pass
            return run.parts.journal.path.stem

    quick, slow, other = record(1), record(7), record(1, "fail")
    assert main(["runs", "diff", quick, slow, "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert main(["runs", "diff", slow, other, "--runs", str(tmp_path)]) == 1
    assert re.search("^tick [0-9]+: /t/1 SUCCESS / /t/1 FAILURE$", capsys.readouterr().out, re.MULTILINE)


def test_json_lines_are_strict_json_and_hold_everything(journal, tmp_path, capsys):
    assert main(["runs", "export", "last", "-o", "-"]) == 0
    refuse = pytest.fail
    found = [json.loads(line, parse_constant=refuse) for line in capsys.readouterr().out.splitlines()]
    assert [f["kind"] for f in found].count("status") == len(Recording(journal).ticks)
    assert sum(1 for f in found if f["kind"] == "ask") == sum(1 for _ in Recording(journal).of("ask"))


def test_a_btlog_has_the_tree_and_a_record_for_each_change(journal, tmp_path):
    out = tmp_path / "run.btlog"
    assert main(["runs", "export", "last", "--format", "btlog", "-o", str(out)]) == 0
    data, recording = out.read_bytes(), Recording(journal)
    assert data.startswith(b"BTCPP4-FileLogger2\x01")
    (size,) = struct.unpack_from("<i", data, 19)
    nodes = [e for e in fromstring(data[23 : 23 + size]).iter() if e.get("_uid")]
    assert [int(e.get("_uid")) for e in nodes] and len(nodes) == len(recording.nodes)
    records = data[23 + size + 8 :]
    expected = [c for t in sorted(recording.ticks) for c in recording.changes(t)]
    assert len(records) == 9 * len(expected)
    codes = {"INVALID": 0, "RUNNING": 1, "SUCCESS": 2, "FAILURE": 3}
    found = [struct.unpack("<HB", records[i + 6 : i + 9]) for i in range(0, len(records), 9)]
    assert found == [(number, codes[status]) for number, status in expected]


def test_an_mcap_file_can_be_read_by_the_reference_reader(journal, tmp_path):
    reader = pytest.importorskip("mcap.reader")
    out = tmp_path / "run.mcap"
    assert main(["runs", "export", "last", "--format", "mcap", "-o", str(out)]) == 0
    with out.open("rb") as file:
        found = [(c.topic, json.loads(m.data)) for _, c, m in reader.make_reader(file).iter_messages()]
    assert {topic for topic, _ in found} >= {"/bt/status", "/bt/events", "/bt/nodes", "/bt/blackboard"}
    changes = [c for topic, line in found if topic == "/bt/status" for c in line["changes"]]
    recording = Recording(journal)
    assert len(changes) == sum(len(recording.changes(t)) for t in recording.ticks)


def test_rm_removes_the_journal_and_what_lies_beside_it(journal, capsys):
    assert main(["runs", "rm", journal.stem]) == 0
    assert list(journal.parent.iterdir()) == []
    assert main(["runs", "rm", "--older-than", "30"]) == 5


def test_replay_exits_1_on_a_difference(journal, capsys):
    assert main(["runs", "replay", "last"]) == 0
    rewrite(journal, "answer", "sequence:", "fallback:")
    assert main(["runs", "replay", "last", "--json"]) == 1
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["difference"].startswith("tick ")


def test_resume_goes_on_with_a_tree_of_its_own_and_one_that_had_ended_is_left_alone(runs, capsys):
    run = Run(load("version: 1\ntree: t\nroot: {wait: 0.05}\n"), clock=Manual(), journal=runs)
    run.tick()
    abandoned(run)
    for why in ("", "it had ended"):
        assert main(["runs", "resume", "last", "--runs", str(runs), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["status"], found["why"]) == ("SUCCESS", why)


def test_rm_removes_only_journals_and_a_file_never_stands_in_for_a_run(journal, tmp_path, capsys):
    """A file of the working directory is not what a name means, and what is no journal is not removed."""
    for name in ("notes.txt", journal.stem, "last", "other.btr"):
        (tmp_path / name).write_text("mine")
    for name in ("notes.txt", "./notes.txt", "other.btr"):
        assert main(["runs", "rm", name]) == 2
        assert "help:" in capsys.readouterr().err
    assert main(["runs", "show", "last"]) == 0
    assert main(["runs", "rm", journal.stem]) == 0
    assert not journal.exists()
    assert all((tmp_path / name).read_text() == "mine" for name in ("notes.txt", journal.stem, "last", "other.btr"))


def test_an_export_stays_in_the_working_directory_whatever_the_journal_calls_itself(journal, tmp_path, capsys):
    path = made(journal, journal.parent / "evil.btr", HOSTILE["a name that leads out"])
    before = set(tmp_path.rglob("*"))
    assert main(["runs", "export", str(path)]) == 0
    (new,) = set(tmp_path.rglob("*")) - before
    assert new.parent == tmp_path and not new.name.startswith(".")


def test_a_run_that_ended_while_it_began_is_listed_as_such_and_last_passes_over_it(journal, capsys):
    (journal.parent / "t-0.btr").write_bytes(b"")
    assert main(["runs", "list", "--json"]) == 0
    states = {s["name"]: s["state"] for s in json.loads(capsys.readouterr().out)}
    assert states == {journal.stem: "SUCCESS", "t-0": "not begun"}
    assert main(["runs", "show", "last"]) == 0
    assert journal.stem in capsys.readouterr().out
    assert main(["runs", "show", "t-0"]) == 2
    assert "never began" in capsys.readouterr().err
    assert main(["runs", "rm", "t-0"]) == 0
