"""Conditions and instant skills: called in the tick, answered in it, in no thread."""

from __future__ import annotations

import threading

import pytest

import bt_runtime as bt
from bt_runtime import BtError, Run, Skill, Status, load
from bt_runtime.clock import Manual
from bt_runtime.events import Notice
from bt_runtime.journal import Recording, replay

SUCCESS, FAILURE, RUNNING = Status.SUCCESS, Status.FAILURE, Status.RUNNING


def tree(root: str, *skills, header: str = ""):
    return load(f"version: 1\ntree: t\n{header}\nroot:\n  {root}\n", skills=skills)


class Truth:
    """The truth value of an array library, as `numpy.linalg.norm(error) < limit` gives it."""

    dtype, shape = "bool", ()

    def __init__(self, value: bool) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return self.value


@pytest.mark.parametrize(
    ("answer", "status"),
    [(True, SUCCESS), (False, FAILURE), (Truth(True), SUCCESS), (Truth(False), FAILURE), (FAILURE, FAILURE)],
)
def test_a_condition_answers_in_the_tick_that_asks_and_in_its_thread(answer, status):
    threads = []

    @bt.skill("the battery is above {level}", condition=True)
    def battery_above(level: float):
        threads.append(threading.current_thread())
        return answer

    with Run(tree("battery_above: 0.2", battery_above)) as run:
        assert run.tick().status is status
        assert run.parts.engine.root.feedback_message == "the battery is above 0.2"
    assert threads == [threading.current_thread()]


def test_a_condition_that_returns_nothing_is_told_to():
    @bt.skill(condition=True)
    def forgetful():
        pass

    with Run(tree("forgetful: {}", forgetful)) as run:
        tick = run.tick()
    assert tick.status is FAILURE
    assert "true or false" in tick.crashes[0].message


def test_a_drive_behind_a_condition_is_started_once():
    """A plain function in its place starts and cancels it again and again."""
    calls = []

    @bt.skill(condition=True)
    def clear():
        return True

    class Drive(Skill):
        def start(self) -> None:
            calls.append("start")

        def poll(self) -> Status:
            return RUNNING

        def cancel(self) -> None:
            calls.append("cancel")

    checked = tree("reactive_sequence: [clear: {}, drive: {}]", clear, Drive)
    assert checked.warnings == ()
    with Run(checked, clock=Manual()) as run:
        run.spin(hz=50, seconds=1)
    assert calls == ["start", "cancel"]


def test_what_takes_time_is_warned_of_as_before_and_the_way_out_is_named():
    @bt.skill
    def clear():
        return True

    (warning,) = tree("reactive_sequence: [clear: {}, wait: 1]", clear).warnings
    assert warning.code == "BT027"
    assert "instant" in warning.help


def test_an_instant_skill_writes_its_outputs_and_what_it_returns_is_its_result():
    @bt.skill(instant=True, outputs={"x": float, "y": float})
    def where():
        return {"x": 1.5, "y": 2.0}

    with Run(tree('where: {x: "{a}", y: "{b}"}', where)) as run:
        assert run.tick().status is SUCCESS
        assert (run.blackboard["a"], run.blackboard["b"]) == (1.5, 2.0)


def test_a_condition_that_breaks_has_failed_and_is_asked_again():
    answers = [OSError("no sensor"), True]

    @bt.skill(condition=True)
    def clear():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with Run(tree("retry: {times: 2, child: {clear: {}}}", clear), clock=Manual()) as run:
        assert run.spin() is SUCCESS


def test_a_slow_condition_is_named_while_it_holds_the_tick():
    told = threading.Event()

    @bt.skill(condition=True)
    def slow():
        return told.wait(60)

    lines = []

    def hear(line):
        lines.append(line)
        told.set()

    with Run(tree("sequence: [{slow: {name: asks the arm}}]", slow), slow=0.02) as run:
        run.listen(hear, Notice)
        assert run.tick().status is SUCCESS
    assert lines[0].path == "/t/asks the arm"


@pytest.mark.parametrize("form", ["async", "generator", "class"])
def test_only_a_plain_function_can_be_instant(form):
    async def later(): ...

    def steps():
        yield

    class Drive(Skill): ...

    target = {"async": later, "generator": steps, "class": Drive}[form]
    with pytest.raises(BtError, match="cannot be instant"):
        tree("succeed: {}", bt.skill(name="it", instant=True)(target))


MANIFEST = """\
version: 1
skills: sensors
kinds:
  clear: {instant: true, impl: "sensors.py:clear", params: {side: string}}
  slow: {instant: true, impl: "sensors.py:slow"}
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "sensors.yaml").write_text(MANIFEST)
    (tmp_path / "skills" / "sensors.py").write_text("def clear(side): return side == 'left'\nasync def slow(): ...\n")

    def make(root):
        return Run(load(f"version: 1\ntree: t\nskills: [sensors]\nroot:\n  {root}\n", project=tmp_path))

    return make


def test_a_manifest_may_say_that_a_skill_is_instant(project):
    with project("fallback: [clear: right, clear: left]") as run:
        assert run.parts.tree.warnings == ()
        assert run.tick().status is SUCCESS


def test_a_manifest_that_calls_an_async_function_instant_is_told_before_the_first_tick(project):
    with pytest.raises(bt.Faults, match="cannot be instant"):
        project("slow: {}")


def test_a_recorded_run_with_conditions_comes_again_and_only_other_answers_are_written(tmp_path):
    asked = []

    @bt.skill(condition=True)
    def clear():
        asked.append(1)
        return len(asked) not in (5, 6)

    @bt.skill(condition=True)
    def broken():
        raise OSError("no sensor")

    held = "{force: {status: success, child: {clear: {}}}}"
    root = f"parallel: {{success: 1, failure: -1, children: [{{repeat: {{times: 20, child: {held}}}}}, broken: {{}}]}}"
    with Run(tree(root, clear, broken), clock=Manual(), journal=tmp_path) as run:
        run.spin(ticks=12)
        path = run.parts.journal.path
    found = replay(path)
    assert found.same, found
    assert len(asked) == 12
    assert len([e for e in Recording(path).events if e.kind == "instant"]) == 4


def test_a_status_is_looked_up_once():
    """It was imported anew at each access."""
    assert bt.Status is Status
    assert vars(bt)["Status"] is Status
