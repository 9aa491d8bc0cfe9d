"""Forced results and hot replacement: what a debugger changes is marked, and can be taken back."""

from __future__ import annotations

import random

import pytest

from bt_runtime import BtError, Faults, Run, debugger_of, load
from bt_runtime.clock import Manual
from bt_runtime.events import Line, Notice
from bt_runtime.testing import RUNNING, SUCCESS, Trial
from bt_runtime.tree.node import path_of

PATROL = """\
version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 0.41}
root:
  fallback:
    - sequence:
        name: drive
        children: [go: {}, turn: {}]
    - log: {name: lost, text: "lost at {battery}"}
"""


@pytest.fixture
def trial():
    with Trial(PATROL, skills={"go": RUNNING, "turn": RUNNING}) as made:
        yield made


def test_a_forced_result_halts_what_runs_there_and_tells_it_why(trial):
    trial.tick()
    debugger_of(trial.run).force("**/drive", "failure")
    assert trial.tick() is SUCCESS
    halts = {(path_of(node), why.by, why.reason) for tick in trial.ticks for node, why in tick.halts}
    assert ("/patrol/drive/0", "debugger", "its result is forced") in halts
    assert trial.skills["go"].cancels == 1 and trial.lines[-1].text == "lost at 0.41"


def test_a_force_goes_by_a_script_one_act_a_start(trial):
    debugger_of(trial.run).force("**/drive/0", [2, "success"], "failure")
    assert [trial.tick() for _ in range(3)] == [RUNNING] * 3
    assert trial.skills["go"].started == 0 and trial.skills["turn"].started == 1
    trial.run.halt("again")
    assert trial.tick() is SUCCESS and trial.lines[-1].text == "lost at 0.41"


def test_what_is_taken_back_is_as_before_and_by_number_only_that(trial):
    debugger = debugger_of(trial.run)
    first, second = debugger.force("**/drive", "running"), debugger.force("**/lost", "failure")
    trial.tick()
    assert trial.skills["go"].started == 0
    debugger.take_back(first.number)
    trial.tick()
    assert trial.skills["go"].started == 1 and len(debugger.changes) == 1
    assert len(debugger.take_back()) == 1 and debugger.changes == []
    with pytest.raises(BtError, match="no change"):
        debugger.take_back(second.number)


def test_a_forced_running_node_can_be_halted_and_nothing_of_its_own_is_called():
    text = "version: 1\ntree: t\nroot:\n  try:\n    do: {wait: 1}\n    finally: {log: brakes}\n"
    with Trial(text) as trial:
        debugger_of(trial.run).force("/t", "running")
        assert trial.tick() is RUNNING
        trial.run.halt("stop")
        assert [line for line in trial.lines if line.text == "brakes"] == []


def test_nodes_that_come_later_are_forced_too(trial):
    debugger_of(trial.run).force("**/new", "failure")
    trial.insert("/patrol/drive", "succeed: {name: new}", 0)
    assert trial.tick() is SUCCESS and trial.lines[-1].text == "lost at 0.41"


def test_a_node_is_replaced_by_edited_yaml_between_two_ticks_and_put_back(trial):
    debugger = debugger_of(trial.run)
    trial.tick()
    assert debugger.replace("/patrol/drive", "sequence: {name: crawl, children: [turn: {}]}") == "/patrol/crawl"
    assert trial.tick() is RUNNING and trial.skills["turn"].started == 1
    halted = [why for tick in trial.ticks for node, why in tick.halts]
    assert halted[0].by == "debugger" and "replaced by edited YAML" in halted[0].reason
    assert debugger.take_back("/patrol/drive") == ["/patrol/drive is replaced by edited YAML"]
    trial.tick()
    assert trial.skills["go"].started == 2 and trial.skills["turn"].cancels == 1


def test_edited_yaml_is_held_to_what_a_file_is_held_to(trial):
    before = [path_of(node) for node in trial.run.nodes()]
    with pytest.raises(Faults) as caught:
        debugger_of(trial.run).replace("/patrol/drive", "sequence: [chek: battery > nobody]")
    assert {fault.code for fault in caught.value.diagnostics} == {"BT012"}
    with pytest.raises(BtError, match="too many"):
        debugger_of(trial.run).replace("/patrol/drive", "#" * 100_000)
    with pytest.raises(BtError, match="no node"):
        debugger_of(trial.run).replace("/patrol/dirve", "succeed:")
    assert [path_of(node) for node in trial.run.nodes()] == before and debugger_of(trial.run).changes == []


@pytest.mark.parametrize("acts", [("maybe",), ([1, 2, 3],), ([-1, "success"],), (None,), tuple(["failure"] * 300)])
def test_what_is_no_result_is_refused(trial, acts):
    with pytest.raises(BtError):
        debugger_of(trial.run).force("**", *acts)


# A session of anything, all taken back ------------------------------------------------------------

ROUND = """\
version: 1
tree: t
blackboard:
  a: {type: integer, default: 0}
  b: {type: integer, default: 0}
root:
  repeat:
    times: 1000
    child:
      fallback:
        - sequence:
            name: first
            when: a < 3
            children:
              - check: b > 1
              - reactive_sequence:
                  name: both
                  children: [{check: b < 6}, {wait: 2}]
              - log: "first {a} {b}"
        - parallel:
            name: second
            success: 1
            children:
              - sequence: [{check: a > 4}, {wait: 1}]
              - switch: {on: b, cases: {'1': {log: one}, '2': {fail: two}}, default: {wait: 3}}
        - retry: {name: third, times: 2, child: {check: "a == b"}}
        - log: "nothing {a} {b}"
"""
NEW = ("succeed:", "succeed: {name: new}", "fail: no", "sequence: [{wait: 1}, {log: new}]", "wait: 1")


def session(run: Run, clock: Manual, draw: random.Random, length: int = 40) -> None:
    """Random commands of a debugger, and ticks between them; then all of it is taken back."""
    debugger = debugger_of(run)
    for _ in range(length):
        path = draw.choice([path_of(node) for node in run.nodes()] + ["**/0", "/t/*", "**"])
        act = draw.randrange(12)
        try:
            if act == 0:
                debugger.break_at(path, draw.choice(["before", "after", "success", "failure", "running", "skipped"]))
            elif act == 1:
                debugger.force(path, *draw.choices(["success", "failure", "running", [1, "success"]], k=2))
            elif act == 2:
                debugger.replace(path, draw.choice(NEW))
            elif act == 3:
                debugger.take_back()
            elif act == 4:
                draw.choice([debugger.pause, debugger.into, debugger.over, debugger.step, debugger.look])()
            elif act == 5:
                debugger.clear()
            elif act == 6:
                debugger.why(path)
            elif act == 7:
                run.blackboard[draw.choice("ab")] = draw.randrange(7)
            else:
                if draw.random() < 0.6:
                    debugger.resume()
                clock.advance(draw.choice([0, 1, 2]))
                run.tick()
        except BtError:
            pass  # a path that is not there, a root that cannot be so: refused in words
    debugger.close()


@pytest.mark.parametrize("seed", range(25))
def test_after_any_session_that_was_taken_back_a_run_decides_as_one_that_was_never_debugged(seed):
    draw = random.Random(seed)
    clocks = [Manual(), Manual()]
    with Run(load(ROUND), clock=clocks[0]) as debugged, Run(load(ROUND), clock=clocks[1]) as control:
        session(debugged, clocks[0], draw)
        assert sorted(map(path_of, debugged.nodes())) == sorted(map(path_of, control.nodes()))
        clocks[0].advance(100 - clocks[0].now() if clocks[0].now() < 100 else 0)
        clocks[1].advance(clocks[0].now())
        traces: list[list[list[tuple[str, str]]]] = [[], []]
        inputs = [(draw.randrange(7), draw.randrange(7), draw.choice([0.0, 1.0, 2.0])) for _ in range(60)]
        for run, clock, trace in zip((debugged, control), clocks, traces, strict=True):
            run.halt("the comparison begins")
            for a, b, seconds in inputs:
                run.blackboard.update(a=a, b=b)
                clock.advance(seconds)
                run.parts.context.visits = []
                run.tick()
                trace.append([(path_of(node), node.status.name) for node in run.parts.context.visits])
        assert traces[0] == traces[1]


def test_breakpoints_alone_change_no_decision_only_when_it_is_made():
    """The same lines of the log, whatever breakpoints there are and however long their pauses."""

    def said(seed: int | None) -> list[str]:
        lines: list[str] = []
        clock = Manual()
        with Run(load(ROUND.replace("1000", "12")), clock=clock) as run:
            run.listen(lambda line: lines.append(line.text), Line, Notice)
            run.blackboard.update(a=1, b=3)
            draw = random.Random(seed)
            for _ in range(400):
                if seed is not None and draw.random() < 0.2:
                    debugger_of(run).break_at(
                        draw.choice(["**", "**/first", "**/0", "**/both"]), draw.choice(["before", "after"])
                    )
                if seed is not None and draw.random() < 0.7:
                    debugger_of(run).resume()
                if seed is not None and draw.random() < 0.1:
                    debugger_of(run).clear()
                if not run.tick().running:
                    break
                clock.advance(1)
        return lines

    control = said(None)
    assert len(control) == 12
    for seed in range(6):
        assert said(seed)[: len(control)] == control, seed


def test_to_force_nothing_is_refused_with_the_results_that_there_are(trial):
    """An empty list of results is no result: nothing is forced by it."""
    with pytest.raises(BtError, match="no result is named") as refused:
        debugger_of(trial.run).force("**/drive")
    assert "failure" in refused.value.hint and not debugger_of(trial.run).forces
