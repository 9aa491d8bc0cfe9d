"""Why a node is as it is: in sentences, of a run that goes on and of a recorded one alike."""

from __future__ import annotations

import pytest

from bt_runtime import BtError, Run, debugger_of, load
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import why_recorded
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial

PATROL = """\
version: 1
tree: patrol
inputs:
  low: {type: number, default: 0.2}
blackboard:
  battery: {type: number, default: 0.56}
  room: {type: string, default: hall}
root:
  repeat:
    times: 3
    child:
      fallback:
        - sequence: {name: charge, when: battery < low, children: [log: charging]}
        - sequence:
            name: drive
            children:
              - set: {battery: "{battery - 0.15}"}
              - wait: {name: go, seconds: 1}
              - switch: {name: at, on: room, cases: {kitchen: {log: {name: cook, text: cook}}}, default: {log: {name: pass, text: pass}}}
              - check: {name: full, expr: battery > 0.3}
        - parallel: {name: both, children: [fail: {name: lost, why: no map}, wait: 9]}
        - log: {name: sorry, text: sorry}
"""  # noqa: E501


def recorded(folder) -> str:
    with Run(load(PATROL), clock=Manual(), journal=folder) as run:
        run.spin()
        return str(run.parts.journal.path)


def test_a_skipped_branch_names_its_test_and_the_values_that_it_read(tmp_path):
    journal = recorded(tmp_path)
    found = why_recorded(journal, "/patrol/0/charge", 1)
    said = "`when: battery < low` of /patrol/0/charge does not hold: `battery` was 0.56 and `low` is 0.2."
    assert found.sentences[1:] == [said, "So /patrol/0/charge is skipped."], (
        "not the value that it had later in the tick"
    )


@pytest.mark.parametrize(
    ("path", "tick", "part"),
    [
        ("/patrol", 1, "/patrol/0/drive/go (wait) is running"),
        ("/patrol/0/drive/at", 1, "/patrol/0/drive/at had no turn: /patrol/0/drive/go before it is running."),
        ("/patrol/0/drive/at/cook", None, "/patrol/0/drive/at/cook was not chosen: /patrol/0/drive/at/pass was."),
        ("/patrol/0/drive/at/cook", None, '`on: room` of /patrol/0/drive/at is "hall": `room` was "hall".'),
        ("/patrol/0/both", None, "`battery > 0.3` of /patrol/0/drive/full does not hold: `battery` was 0.1"),
    ],
)
def test_a_recorded_run_tells_what_led_there(tmp_path, path, tick, part):
    journal = recorded(tmp_path)
    found = why_recorded(journal, path, tick)
    everything = why_recorded(journal, "/patrol/0/drive", tick)
    assert part in "\n".join([*found.sentences, *everything.sentences])


def test_a_run_that_goes_on_tells_the_same_as_its_journal(tmp_path):
    """With the values as the tests read them: a debugger that looks on keeps them."""
    clock = Manual()
    with Run(load(PATROL), clock=clock, journal=tmp_path) as run:
        debugger_of(run).look()
        told: dict[int, list[str]] = {}
        while run.tick().running:
            told[run.parts.engine.count] = [*debugger_of(run).why("/patrol/0/charge"), *debugger_of(run).why("/patrol")]
            clock.advance(1)
        journal = run.parts.journal.path
    for tick, said in told.items():
        again = [s for path in ("/patrol/0/charge", "/patrol") for s in why_recorded(journal, path, tick).sentences]
        assert again == said


def test_a_halt_a_crash_and_a_forced_result_are_reasons():
    text = "version: 1\ntree: t\nroot:\n  reactive_fallback:\n    - look: {}\n    - drive: {}\n"
    acts = {"look": [FAILURE, SUCCESS, OSError("no light")], "drive": [RUNNING, FAILURE]}
    with Trial(text, skills=acts) as trial:
        debugger = debugger_of(trial.run)
        debugger.look()
        trial.tick(2)
        assert "/t/1 was halted at tick 2 by /t: an earlier child took over." in debugger.why("/t/1")
        trial.tick()
        assert "/t/0 broke: OSError: no light." in debugger.why("/t/0")
        debugger.force("/t/0", "failure")
        trial.tick()
        assert "is forced by the debugger" in " ".join(debugger.why("/t/0"))


def test_before_the_first_tick_and_where_no_node_is_it_says_so():
    with Trial(PATROL) as trial:
        assert debugger_of(trial.run).why("/patrol") == ["No tick was made yet."]
        with pytest.raises(BtError, match="no node"):
            debugger_of(trial.run).why("/patrol/nowhere")


def test_a_long_chain_and_a_large_value_are_bounded():
    deep = "succeed:"
    for _ in range(100):
        deep = f"sequence: [{{{deep}}}]"
    text = f"version: 1\ntree: t\nblackboard:\n  big: {{type: string, default: {'x' * 5000}}}\nroot:\n  {deep}\n"
    with Trial(text.replace("succeed:", 'check: "len(big) < 1"')) as trial:
        trial.tick()
        said = debugger_of(trial.run).why("/t")
        assert len(said) <= 40 and max(map(len, said)) < 2000


def test_the_command_answers_from_the_journal_alone(tmp_path, capsys):
    journal = recorded(tmp_path)
    assert main(["runs", "why", journal, "/patrol/0/charge", "--at", "1"]) == 0
    assert "`low` is 0.2" in capsys.readouterr().out
    assert main(["runs", "why", journal, "/patrol", "--at", "999"]) != 0
    assert "its ticks are 1 to" in capsys.readouterr().err
    assert main(["runs", "why", journal, "/patrol/dirve"]) != 0
    assert "no node" in capsys.readouterr().err
