"""What a program gives to a run is checked where it is given: before anything is done, and before it is recorded."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import debugger_of
from bt_runtime.clock import Manual
from bt_runtime.events import Notice
from bt_runtime.journal import Recording, replay, why_recorded
from bt_runtime.tree.context import Context, ScopedContext

TREE = "version: 1\ntree: t\nroot: {sequence: [{log: a}, {wait: 100}]}\n"


@pytest.fixture
def run(tmp_path: Path):
    with bt.Run(bt.load(TREE), clock=Manual(), slow=None, journal=tmp_path) as made:
        made.tick()
        yield made


WRONG: list[tuple[Any, ...]] = [
    ("replace", "/t/0", None), ("replace", "/t/0", b"log: b"), ("insert", "/t/0", 3), ("insert", None, "log: b"),
    ("insert", "/t", "log: b", 1.5), ("insert", "/t", "log: b", "0"), ("insert", "/t", "log: b", True),
    ("replace", "/t/0", "logg: b"), ("replace", "/t/9", "log: b"), ("replace", "/t/0", "log: ["), ("remove", None),
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG, ids=repr)
def test_a_change_that_cannot_be_meant_is_refused_and_not_recorded(given: tuple[Any, ...], run: bt.Run) -> None:
    with pytest.raises(bt.BtError):
        getattr(run, given[0])(*given[1:])
    run.tick()
    assert [node.name for node in run.nodes()][1:] == ["log", "wait"]
    assert run.parts.journal is not None and run.parts.journal.path is not None
    run.close()
    found = Recording(run.parts.journal.path)
    assert found.damage == "" and not [event for event in found.events if event.kind == "change"]
    assert replay(run.parts.journal.path).difference == ""


@pytest.mark.parametrize("given", [{"hz": 0}, {"hz": -1}, {"hz": "fast"}, {"hz": float("nan")}, {"hz": True},
                                   {"ticks": -1}, {"ticks": 1.5}, {"ticks": "3"}, {"seconds": -1}, {"seconds": "1"}],
                         ids=repr)  # fmt: skip
def test_a_rate_or_a_bound_that_is_none_is_refused(given: dict[str, Any], run: bt.Run) -> None:
    with pytest.raises(bt.BtError):
        run.spin(**given)
    assert run.parts.engine.count == 1 and run.status is bt.Status.RUNNING


def test_what_has_one_way_only_tells_it_to_who_takes_another() -> None:
    """A tree's text is loaded first, changes have a method each, and a condition is a skill."""
    with pytest.raises(bt.BtError, match="load it first"):
        bt.Run(TREE)  # type: ignore[arg-type]
    with pytest.raises(ImportError, match="condition=True"):
        from bt_runtime import condition  # noqa: F401
    assert not hasattr(bt.Run, "graft")


def test_no_tick_is_none() -> None:
    with bt.Run(bt.load(TREE), clock=Manual(), slow=None) as run:
        run.spin(ticks=0)
        assert run.parts.engine.count == 0 and run.parts.runner.timed_out


def test_the_rate_of_one_spin_is_not_that_of_the_next(run: bt.Run) -> None:
    run.spin(hz=50, ticks=1)
    assert run.parts.runner.hz is None


def test_why_a_tree_stands_still_is_told_until_it_is_started_anew(run: bt.Run) -> None:
    assert run.stopped == ""
    run.halt("a person came near")
    assert run.stopped == "a person came near"
    run.tick()
    assert run.stopped == ""
    run.halt("for good", for_good=True)
    assert run.stopped == "for good"


@pytest.mark.parametrize("name", ["task", "scene", "starts", "deeds", "given", "turns"])
def test_a_service_of_a_name_that_the_run_keeps_itself_is_refused(name: str) -> None:
    with pytest.raises(bt.BtError, match=name):
        bt.Run(bt.load(TREE), services={name: "mine"})


def test_a_cleared_entry_was_not_updated() -> None:
    with bt.Run(bt.load(TREE)) as run:
        run.blackboard["x"] = 1
        run.blackboard.clear(())
        assert run.blackboard.stamp("x") == 0


def test_the_nodes_of_an_episode_see_who_listens_to_actions() -> None:
    context = Context(Manual())
    scoped = ScopedContext(context)
    assert scoped.observed is context.observed
    context.refresh_listeners()
    assert scoped.observed is context.observed is False


GROWS = """version: 1
tree: t
blackboard: {n: {type: integer, default: 1}}
root:
  repeat:
    times: -1
    child: {parallel: {wait_all: true, success: 1, children: [{check: n > 5}, {set: {n: '{n + 1}'}}]}}
"""


@pytest.mark.parametrize("debugs", [False, True])
def test_why_tells_a_grafted_tests_values_whether_or_not_the_run_was_debugged(debugs: bool, tmp_path: Path) -> None:
    with bt.Run(bt.load(GROWS), clock=Manual(), slow=None, journal=tmp_path) as run:
        run.tick()
        if debugs:
            debugger_of(run).break_at("/t/9")
            debugger_of(run).clear()
        run.tick()
        run.replace("/t/0/0", "check: n > 500")
        run.tick()
        run.tick()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        path = run.parts.journal.path
    assert "3" in " ".join(why_recorded(path, "/t/0/0", 3).sentences)


NAMED = """version: 1
tree: t
inputs: {goal: string}
blackboard: {battery: {type: number, default: 1.0}}
root: {wait: {seconds: 9, when: battery > 0.1 and not parked}}
"""


def doubts(*names: str) -> list[str]:
    """The notices of a run in which a program writes these entries."""
    notices: list[str] = []
    with bt.Run(bt.load(NAMED), inputs={"goal": "g"}, clock=Manual(), slow=None) as run:
        run.listen(lambda notice: notices.append(notice.text), Notice)
        run.blackboard["parked"] = False
        run.tick()
        for name in names:
            run.blackboard[name] = "x" if name == "goal" else 0.5
    return notices


def test_a_new_entry_whose_name_is_close_to_one_of_the_tree_is_told_once() -> None:
    (notice,) = doubts("batery", "batery")
    assert "`batery`" in notice and "did you mean `battery`?" in notice


def test_an_input_that_is_changed_from_outside_is_told_once() -> None:
    (notice,) = doubts("goal", "goal")
    assert "input `goal`" in notice


def test_entries_of_the_tree_and_names_of_a_programs_own_are_written_without_a_notice() -> None:
    assert doubts("battery", "parked", "camera", "battery_2", "battery_3") == []


def test_a_listener_of_a_notice_may_write_and_may_wait_for_another_thread_that_writes() -> None:
    with bt.Run(bt.load(NAMED), inputs={"goal": "g"}, clock=Manual(), slow=None) as run:

        def other(_: object) -> None:
            thread = Thread(target=lambda: run.blackboard.update(battery=0.3))
            thread.start()
            thread.join(60)

        run.listen(other, Notice)
        run.blackboard["batery"] = 0.5
        assert run.blackboard["battery"] == 0.3


def test_a_name_that_a_graft_brings_is_known() -> None:
    notices: list[str] = []
    with bt.Run(bt.load(NAMED), inputs={"goal": "g"}, clock=Manual(), slow=None) as run:
        run.listen(lambda notice: notices.append(notice.text), Notice)
        run.blackboard["parked"] = False
        run.replace("/t", "wait: {seconds: 9, when: not exists(batery) or batery > 0.1}")
        run.tick()
        run.blackboard["batery"] = 0.5
    assert notices == []


@pytest.mark.parametrize("given", [object(), 3, {"goal": "text"}, ["memory.sqlite"]])
def test_what_is_no_memory_is_refused_before_anything_is_opened(given: object, tmp_path: Path) -> None:
    with pytest.raises(bt.BtError, match="is not a memory"):
        bt.Run(bt.load(TREE), memory=given, journal=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_memory_whose_add_does_not_say_what_it_added_is_refused_at_the_start() -> None:
    """Not at the end of the run, whose experiences would be lost."""

    class Forgets:
        def ask(self, *given: object, **more: object) -> None:
            pass

        def add(self, experiences: object) -> None:
            pass

    with pytest.raises(bt.BtError, match="`add` of Forgets returns None") as fault:
        bt.Run(bt.load(TREE), memory=Forgets())
    assert "`new` and `known`" in fault.value.hint


def test_a_run_shows_at_most_five_attributes_and_what_it_is_made_of_stands_in_one(run: bt.Run) -> None:
    shown = {name for name in dir(run) if not name.startswith("_") and not callable(getattr(run, name))}
    assert shown == {"blackboard", "outputs", "parts", "status", "stopped"}
