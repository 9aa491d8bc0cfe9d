"""What `btr fuzz` and `btr check` promise: they find what breaks a promise, and show it as a test that is red."""

from __future__ import annotations

from typing import Any

import pytest

from bt_author.proof.check import check
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.testing import Trial
from bt_runtime.testing.fuzz import fuzz

MANIFEST = """\
version: 1
skills: base
kinds:
  drive: {impl: base.py:drive, params: {place: string}}
  dock: {impl: base.py:dock}
  look: {impl: base.py:dock, outputs: {door: {type: string, choices: [open, closed]}}}
"""
PYTHON = """\
from pathlib import Path
Path(__file__).with_name("imported").touch()
def drive(place): ...
def dock(): ...
"""
HEAD = """\
version: 1
tree: rover
skills: [base]
blackboard:
  low: {type: boolean, default: false}
  driving: {type: boolean, default: false, outside: false}
  charging: {type: boolean, default: false, outside: false}
root:
"""
# a halt in the middle of driving leaves `driving` true: only an entry from outside that comes in time shows it
CARELESS = (
    HEAD
    + """\
  reactive_fallback:
    - sequence:
        name: charge
        when: low
        children:
          - set: {charging: true}
          - dock: {}
          - set: {charging: false}
    - sequence:
        name: drive
        children:
          - set: {driving: true, charging: false}
          - drive: {place: hall}
          - set: {driving: false}
"""
)
CAREFUL = CARELESS.replace("name: drive\n", "name: drive\n        on_halt: {driving: false}\n").replace(
    "name: charge\n", "name: charge\n        on_failure: {charging: false}\n        on_halt: {charging: false}\n"
)
PROMISE = "charging and driving"
LOOK = "  look_for: {outputs: {left: integer}, on_resume: repeat, impl: 'base.py:dock'}\n"


@pytest.fixture
def robot(tmp_path, monkeypatch):
    for name, text in (
        ("skills/base.yaml", MANIFEST),
        ("skills/base.py", PYTHON),
        ("trees/careless.yaml", CARELESS),
        ("trees/careful.yaml", CAREFUL),
        ("btr.yaml", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def red(test: str) -> str:
    """Runs a test that was shown, as if it had been pasted; how it fails."""
    space: dict[str, Any] = {}
    exec(compile(test, "pasted", "exec"), space)
    [run] = [function for name, function in space.items() if name.startswith("test_")]
    with pytest.raises(AssertionError) as error:
        run()
    return str(error.value)


@pytest.mark.parametrize("search", [fuzz, lambda tree, **asked: check(tree, **asked)[0].finding])
def test_a_broken_promise_is_found_and_shown_as_a_test_that_is_red(robot, search):
    found = search("careless", never=PROMISE)
    assert "never: charging and driving - broken at 0 s, in tick 2" in found.why
    assert red(found.test) == found.why
    assert 'trial.board["low"] = True' in found.test or "halt" in found.test


def test_the_smallest_case_of_a_random_search_says_nothing_that_does_not_matter(robot):
    found = fuzz("careless", never=PROMISE, halts=False, runs=50)
    assert found.test == (
        "from bt_runtime.testing import FAILURE, RUNNING, Trial\n\n\n"
        "def test_rover_keeps_its_promises():\n"
        '    """Found by `fuzz(…, seed=0)`."""\n'
        "    with Trial(\n"
        '        "careless",\n'
        '        skills={"dock": FAILURE, "drive": RUNNING},\n'
        '        never=["charging and driving"],\n'
        "    ) as trial:\n"
        "        trial.step(1)\n"
        '        trial.board["low"] = True\n'
        "        trial.go_on(60)\n"
        "        assert not trial.crashes\n"
    )


def test_a_tree_that_keeps_its_promise_is_not_accused_and_every_state_of_it_is_seen(robot):
    assert fuzz("careful", never=PROMISE, runs=40) is None
    [result] = check("careful", never=PROMISE)
    assert (result.finding, result.outcome) == (None, "proved")
    assert result.states > 4


def test_the_same_seed_finds_the_same(robot):
    first, second = (fuzz("careless", never=PROMISE, seed=7, runs=50) for _ in range(2))
    assert str(first) == str(second)


def test_a_skill_that_never_ends_breaks_the_promise_to_end_unless_all_of_them_end(robot):
    found = fuzz("careful", within=30, halts=False)
    assert "waits at" in found.why and "scripted to run for ever" in found.why
    assert red(found.test) == found.why
    assert fuzz("careful", within=30, endless=False, values={"low": [False]}, runs=20) is None


DIVIDES = """\
version: 1
tree: divides
inputs: {n: integer}
root: {fallback: [{check: 10 / n > 3}, {log: "few"}]}
"""


def test_a_node_that_raises_is_a_finding_and_a_skill_that_is_made_to_raise_is_none(robot):
    found = fuzz(DIVIDES)
    assert found.why.startswith("/divides/0 raised ")
    assert 'inputs={"n": 0}' in found.test
    red(found.test)
    assert fuzz("careful", runs=30) is None


def one(tree, **asked):
    """The result of the only promise."""
    [result] = check(tree, **asked)
    return result


def test_outputs_of_skills_and_listed_values_are_tried(robot):
    text = HEAD + '  sequence: [{look: {door: "{seen}"}}, {check: seen == "closed"}, {set: {shut: true}}]\n'
    found = one(text, never="exists(shut) and shut").finding
    assert found is not None and '{"door": "closed"}' in found.test
    assert red(found.test)
    kept = one(text, never="exists(shut) and shut", values={"door": ["open"]})
    assert kept.outcome == "proved" and "`door` had only the values that were listed" in kept.doubts


def test_promises_look_at_nodes_by_their_paths(robot):
    found = one("careless", never="/rover/charge is running and driving").finding
    assert "/rover/charge is running" in found.why
    assert red(found.test) == found.why


def test_time_limits_are_met_in_every_order_with_what_skills_do(robot):
    text = HEAD + "  fallback: [{timeout: {seconds: 5, child: {drive: {place: hall}}}}, {dock: {}}]\n"
    assert one(text, never="/rover/1 is running and /rover/0 is running").outcome == "proved"
    late = one(text, never="/rover/1 is success").finding
    assert late is not None and red(late.test)


ENDLESS = """\
version: 1
tree: counts
root: {repeat: {times: -1, child: {sequence: [{set: {n: "{n + 1 if exists(n) else 0}"}}, {wait: 1}]}}}
"""


def test_too_many_states_are_told_with_how_many_were_seen(robot, capsys):
    assert one(ENDLESS, never="n < 0", states=30).outcome == "open"
    (robot / "trees" / "counts.yaml").write_text(ENDLESS)
    assert main(["check", "counts", "--never", "n < 0", "--states", "30"]) == 4
    told = capsys.readouterr().err
    assert "never: n < 0: not decided" in told and "there are more than" in told and "allow more --seconds" in told


def test_a_search_whose_time_is_up_tells_how_many_states_were_seen_and_tells_its_progress(robot, capsys, monkeypatch):
    seen = []
    one(ENDLESS, never="n < 0", states=100, told=lambda states, left: seen.append(states))
    assert seen and seen[-1] <= 200
    (robot / "trees" / "counts.yaml").write_text(ENDLESS)
    monkeypatch.setattr("bt_author.cli.check.EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["check", "counts", "--never", "n < 0", "--states", "100"]) == 4
    assert "of them are yet to be continued" in capsys.readouterr().err
    assert main(["check", "counts", "--never", "n < 0", "--seconds", "0.05"]) == 4
    assert "the time was over after" in capsys.readouterr().err


def test_a_process_that_grows_too_large_ends_the_search_and_tells_it(robot, capsys):
    (robot / "trees" / "counts.yaml").write_text(ENDLESS)
    assert main(["check", "counts", "--never", "n < 0", "--memory", "1"]) == 4
    assert "the process is larger than 1 MB" in capsys.readouterr().err


def test_an_entry_of_any_value_is_taken_in_each_way_in_which_the_tree_tells_values_apart(robot):
    text = "version: 1\ntree: t\ninputs: {n: integer}\nroot: {check: n == 7}\n"
    assert one(text, never="tree is success").finding is not None
    assert one(text, never="n < 7 and tree is success").outcome == "proved"
    assert one(DIVIDES, never="n == 7").finding is not None


@pytest.mark.parametrize("search", [lambda *a, **k: fuzz(*a, runs=5, **k), check])
def test_a_promise_about_an_entry_or_a_node_that_is_never_there_is_refused(robot, search):
    with pytest.raises(BtError, match="no entry is named `chargin`") as error:
        search("careful", never="chargin and driving")
    assert error.value.hint == "did you mean `charging`?"
    with pytest.raises(BtError, match="no node is at /rover/charg"):
        search("careful", never="/rover/charg is running")


def test_a_node_that_asks_a_model_may_do_anything_and_a_search_by_cases_refuses_it(robot):
    text = "version: 1\ntree: t\nroot: {fallback: [{agent: {name: think, goal: x}}, {fail: no}]}\n"
    with pytest.raises(BtError, match=r"`agent` \(text:3\) asks a model") as error:
        fuzz(text, never="/t/think is failure")
    assert "--double '**/t/think'" in error.value.hint
    assert fuzz(text, never="/t/think is failure", double=["**/think"], runs=20) is not None
    assert fuzz(text, never="/t/think is failure", double=["**/t/think"], runs=20) is not None
    assert one(text, never="/t/1 is running").outcome == "proved"


def test_the_commands_show_the_test_and_end_with_1_when_a_promise_is_broken(robot, capsys):
    assert main(["check", "careless", "--never", PROMISE, "--test", "found.py"]) == 1
    shown = capsys.readouterr()
    assert "never: charging and driving - broken at 0 s" in shown.err and "found.py" in shown.err
    assert "Found by `btr check careless --never 'charging and driving'`" in (robot / "found.py").read_text()
    assert red((robot / "found.py").read_text())
    assert main(["fuzz", "careless", "--never", PROMISE, "--seed", "3"]) == 1
    assert red(capsys.readouterr().out)
    assert main(["fuzz", "careful", "--never", PROMISE, "--runs", "20"]) == 0
    assert "20 cases (seed 0), and every promise was kept" in capsys.readouterr().err
    assert main(["check", "careful", "--never", PROMISE]) == 0
    assert "never: charging and driving: proved" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "careful"], "nothing is promised of the tree"),
        (["fuzz", "careful", "--never", "a &"], "never: a &"),
        (["fuzz", "careful", "--values", "lo=1"], "`lo` is no entry of the tree"),
        (["fuzz", "carefull"], "there is no tree `carefull`"),
        (["fuzz", "careful", "--runs", "0"], "--runs takes a number from 1"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_words(robot, capsys, words, said):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_no_implementation_is_imported(robot):
    with Trial("careful", skills={"drive": 1}) as trial:
        trial.tick()
    assert check("careful", never=PROMISE)[0].finding is None
    assert fuzz("careful", runs=3) is None
    assert not (robot / "skills" / "imported").exists()


def test_a_shipped_tree_of_a_world_can_be_fuzzed_although_a_double_stands_for_the_world(robot):
    """The scripted skills stand where the world would be told a sentence."""
    assert fuzz("errands", double=["**/errands/1"], runs=5) is None
