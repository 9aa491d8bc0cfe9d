"""A breakpoint pauses a run between two ticks; a node that it holds has not begun, and all else is decided as ever."""

from __future__ import annotations

import math
import threading

import pytest

from bt_runtime import BtError, Run, debugger_of, load
from bt_runtime.clock import Manual
from bt_runtime.events import Debugged
from bt_runtime.testing import RUNNING, SUCCESS, Trial, after

PATROL = """\
version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 0.41}
root:
  sequence:
    - go: {}
    - sequence:
        name: dock
        children: [turn: {}, charge: {}]
    - log: done
"""
REACTIVE = """\
version: 1
tree: t
root:
  reactive_sequence:
    - look: {}
    - drive: {}
"""


@pytest.fixture
def trial():
    with Trial(PATROL, skills={"go": SUCCESS, "turn": after(2), "charge": after(1)}) as made:
        yield made


def news(run: Run) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    run.listen(lambda event: heard.append((event.what, event.path)), Debugged)
    return heard


def test_a_node_that_is_held_has_not_begun_and_begins_in_the_tick_after_the_pause(trial):
    heard = news(trial.run)
    debugger_of(trial.run).break_at("/patrol/dock")
    assert trial.tick() is RUNNING
    assert heard == [("paused", "/patrol/dock")]
    assert trial.skills["go"].started == 1 and trial.skills["turn"].started == 0
    assert trial.tick(5) is RUNNING and trial.run.parts.engine.count == 1, "no tick is made during a pause"
    debugger_of(trial.run).resume()
    trial.finish()
    assert trial.status is SUCCESS and trial.skills["go"].started == 1 and trial.skills["charge"].started == 1
    assert heard[1:] == [("going on", "")]


@pytest.mark.parametrize(
    ("moment", "tick"), [("before", 1), ("running", 1), ("success", 3), ("after", 3), ("failure", 0), ("skipped", 0)]
)
def test_a_breakpoint_is_hit_at_its_moment(trial, moment, tick):
    debugger_of(trial.run).break_at("/patrol/dock/0", moment)
    for _ in range(6):
        trial.tick()
        if debugger_of(trial.run).paused:
            break
    assert debugger_of(trial.run).paused is bool(tick)
    assert not tick or trial.run.parts.engine.count == tick


def test_a_condition_is_an_expression_over_the_entries_of_the_node(trial):
    debugger_of(trial.run).break_at("**/dock", condition="battery < 0.2")
    debugger_of(trial.run).break_at("**/dock", condition="nobody_wrote > 1")
    trial.tick()
    assert not debugger_of(trial.run).paused
    trial.run.halt("again")
    trial.board["battery"] = 0.1
    trial.tick()
    assert debugger_of(trial.run).paused


def test_into_over_and_to_go_where_they_say(trial):
    debugger = debugger_of(trial.run)
    debugger.break_at("/patrol/dock")
    trial.tick()
    debugger.into()
    trial.tick(2)
    assert debugger.paused and debugger.at == "/patrol/dock/0" and trial.skills["turn"].started == 0
    debugger.over()
    trial.tick(5)
    assert debugger.paused and debugger.at == "/patrol/dock/0" and trial.skills["charge"].started == 1
    debugger.resume()
    assert trial.tick(2) is SUCCESS

    trial.run.halt("again")
    debugger.clear()
    debugger.run_to("/patrol/2")
    trial.tick(9)
    assert debugger.paused and debugger.at == "/patrol/2" and not debugger.breakpoints


def test_a_step_is_one_tick(trial):
    debugger = debugger_of(trial.run)
    debugger.pause()
    assert trial.run.tick().running and trial.run.tick().running and trial.run.parts.engine.count == 0
    debugger.step()
    trial.tick(3)
    assert trial.run.parts.engine.count == 1
    debugger.step(2)
    trial.tick(9)
    assert trial.run.parts.engine.count == 3 and debugger.paused


def test_a_node_is_not_held_where_that_would_halt_what_runs():
    """A test of a reactive sequence that answers RUNNING would halt the robot's drive: it is ticked, and reported."""
    with Trial(REACTIVE, skills={"look": SUCCESS, "drive": RUNNING}) as trial:
        trial.tick()
        heard: list[str] = []
        trial.run.listen(lambda event: heard.append(event.text), Debugged)
        debugger_of(trial.run).break_at("/t/0")
        trial.tick()
        assert debugger_of(trial.run).paused and "would have halted what it runs" in heard[0]
        assert trial.skills["drive"].cancels == 0 and trial.skills["look"].started == 2


def test_what_cleans_up_while_it_is_halted_is_never_held():
    text = "version: 1\ntree: t\nroot:\n  try:\n    do: {wait: 100}\n    finally: {log: brakes}\n"
    with Trial(text) as trial:
        trial.tick()
        debugger_of(trial.run).break_at("**")
        trial.run.halt("stop")
        assert [line.text for line in trial.lines if line.text == "brakes"] == ["brakes"]


def test_nor_when_a_tick_halts_it():
    body = "try: {do: {wait: 100}, finally: {log: {name: brakes, text: brakes}}}"
    text = f"version: 1\ntree: t\nblackboard: {{stop: {{type: boolean, default: false}}}}\nroot:\n  reactive_fallback: [{{check: stop}}, {{{body}}}]\n"  # noqa: E501
    with Trial(text) as trial:
        trial.tick()
        debugger_of(trial.run).break_at("**/brakes")
        trial.board["stop"] = True
        trial.tick()
        assert [line.text for line in trial.lines] == ["brakes"] and not debugger_of(trial.run).paused


def test_a_pause_that_nobody_ends_goes_on_by_itself(trial):
    debugger = debugger_of(trial.run)
    debugger.pause_of.author(limit=20)
    debugger.break_at("/patrol/dock")
    tick = trial.run.tick()
    assert tick.due == tick.deadline == 20.0, "who sleeps until the next tick is woken for the end of the pause"
    trial.advance(19.9)
    assert trial.run.parts.engine.count == 1
    debugger.entries() and debugger.break_at("**/never")  # a word of somebody: they are there
    trial.advance(19.9)
    assert trial.run.parts.engine.count == 1
    trial.advance(0.2)
    assert trial.run.parts.engine.count == 2 and not debugger.paused


def test_its_author_may_have_it_halted_instead(trial):
    debugger_of(trial.run).pause_of.author(limit=20, then="halt")
    trial.tick()
    debugger_of(trial.run).pause()
    trial.advance(21)
    assert not trial.run.tick().running and "pause" in trial.run.stopped
    assert trial.skills["turn"].cancels == 1
    with pytest.raises(BtError, match="above 0"):
        debugger_of(trial.run).pause_of.author(limit=-1)


@pytest.mark.parametrize("how", ["halt", "stop", "signal"])
def test_a_halt_a_stop_and_a_signal_land_during_a_pause(how):
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 1000\n")) as run:
        debugger_of(run).pause_of.author(limit=math.inf)
        paused = threading.Event()
        run.listen(lambda event: paused.set(), Debugged)
        debugger_of(run).step()
        ended = threading.Thread(target=run.spin)
        ended.start()
        assert paused.wait(60)
        {"halt": lambda: run.halt("enough"), "stop": lambda: run.halt("enough", for_good=True),
         "signal": lambda: run.parts.runner.halt("SIGTERM")}[how]()  # fmt: skip
        ended.join(60)
        assert not ended.is_alive() and run.parts.engine.root.status.name == "INVALID"


def test_the_ticks_that_a_run_may_make_are_not_spent_by_a_pause():
    clock = Manual()
    with Run(load("version: 1\ntree: t\nroot:\n  repeat: {times: 99, child: {wait: 1}}\n"), clock=clock, hz=10) as run:
        debugger_of(run).pause_of.author(limit=5)
        debugger_of(run).break_at("/t/0", "success", once=True)
        run.spin(ticks=30)
        assert run.parts.engine.count == 30 and clock.now() > 7.5


def test_nobody_can_ask_from_inside_a_tick(trial):
    trial.run.listen(lambda line: debugger_of(trial.run).force("**", "failure"))
    trial.skills["go"].acts = [lambda: debugger_of(trial.run).pause()]
    trial.tick()
    assert "ticked" in trial.ticks[0].crashes[0].message


@pytest.mark.parametrize(
    "wrong", [("/p", "whenever"), ("", "before"), ("/p" * 1000, "before"), ("/p", "before", "1 +")]
)
def test_what_is_wrong_with_a_breakpoint_is_said(trial, wrong):
    with pytest.raises(BtError):
        debugger_of(trial.run).break_at(*wrong)
    assert debugger_of(trial.run).breakpoints == []


def test_after_close_nothing_of_a_debugger_is_left(trial):
    plain = {id(node): set(vars(node)) for node in trial.run.nodes()}
    listeners = trial.run.parts.context.stream.count
    debugger = debugger_of(trial.run)
    debugger.look()
    debugger.break_at("**")
    debugger.force("**/dock", "failure")
    trial.tick()
    debugger.close()
    assert trial.run.parts.context.gates.ticks == () and trial.run.parts.context.stream.count == listeners
    left = {id(node): set(vars(node)) - {"_said"} - plain[id(node)] for node in trial.run.nodes()}
    assert not any(names & {"step", "resumes", "ends", "stop"} for names in left.values())
    trial.run.halt("again")
    assert trial.finish().status is SUCCESS


def test_a_breakpoint_ends_several_steps_early(trial):
    debugger_of(trial.run).break_at("/patrol/dock")
    debugger_of(trial.run).step(9)
    assert trial.run.tick().running and trial.run.tick().running
    assert trial.run.parts.engine.count == 1 and debugger_of(trial.run).at == "/patrol/dock"


def test_under_a_tree_of_py_trees_that_knows_no_pause_no_node_is_held():
    import py_trees

    with Run(load("version: 1\ntree: t\nroot:\n  sequence: [{log: one}, {wait: 9}]\n"), clock=Manual()) as run:
        debugger_of(run).break_at("**")
        stock = py_trees.trees.BehaviourTree(run.parts.engine.root)
        stock.tick()
        assert run.parts.engine.root.children[0].status is SUCCESS and run.parts.engine.root.status is RUNNING
