"""Skills of four forms: started once, polled, always cancelled, late answers dropped."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bt_runtime import BtError, Faults, Run, Skill, Status, load, skill
from bt_runtime.events import Tick, Woken
from bt_runtime.types import Observation

HEAD = "version: 1\ntree: t\nroot:\n"
SUCCESS, FAILURE, RUNNING, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID


@pytest.fixture
def start():
    runs = []

    def make(root, *skills, header="", **options):
        runs.append(Run(load(f"version: 1\ntree: t\n{header}\nroot:\n  {root}\n", skills=skills), **options))
        return runs[-1]

    yield make
    for run in runs:
        run.close()


def finish(run):
    status = run.spin(seconds=120)
    assert not run.parts.runner.timed_out
    return status


class Life(Skill):
    calls: list[str]

    def start(self, place: str) -> None:
        self.calls = log
        self.calls.append(f"start {place}")
        self.left = 2

    def poll(self) -> Status:
        self.calls.append("poll")
        self.left -= 1
        self.feedback = f"{self.left} to go"
        return RUNNING if self.left else SUCCESS

    def cancel(self) -> None:
        self.calls.append("cancel")


log: list[str] = []


@pytest.fixture(autouse=True)
def empty_log():
    log.clear()


def test_a_class_is_started_polled_and_not_cancelled_when_it_has_ended(start):
    run = start("life: {place: hall}", Life)
    assert run.tick().running
    assert run.parts.engine.root.feedback_message == "1 to go"
    assert run.tick().status is SUCCESS
    run.halt("enough")
    assert log == ["start hall", "poll", "poll"]
    assert run.parts.engine.root.feedback_message == "0 to go"


def test_a_class_is_cancelled_when_the_tree_moves_on_and_when_it_halts_and_when_it_closes(start):
    for end in (lambda r: r.halt("x"), lambda r: r.close(), lambda r: r.replace("/t", "succeed: {}\n") and r.tick()):
        log.clear()
        run = start("life: {place: hall}", Life)
        run.tick()
        end(run)
        assert log == ["start hall", "poll", "cancel"]


def test_one_object_a_node_so_that_two_nodes_do_not_meet(start):
    run = start("parallel: [life: {place: a}, life: {place: b}]", Life)
    run.tick()
    one, two = (n.activity.target for n in run.parts.engine.root.children)
    assert one is not two


@pytest.mark.parametrize(("value", "status"), [(None, SUCCESS), (True, SUCCESS), (False, FAILURE), (FAILURE, FAILURE)])
def test_a_function_runs_in_a_thread_and_what_it_returns_becomes_the_status(start, value, status):
    threads = []

    @skill
    def beep(times: int = 1):
        threads.append((threading.current_thread(), times))
        return value

    assert finish(start("beep: {times: 3}", beep)) is status
    assert threads[0][0] is not threading.main_thread()
    assert threads[0][1] == 3


@pytest.mark.parametrize("value", [RUNNING, INVALID])
def test_a_function_that_returns_no_end_is_a_fault(start, value):
    @skill
    def beep():
        return value

    run = start("beep: {}", beep)
    ticks = []
    run.listen(ticks.append, Tick)
    assert finish(run) is FAILURE
    assert "must have ended" in ticks[-1].crashes[0].message


def test_a_function_that_makes_a_coroutine_is_a_fault(start):
    async def inner():
        return True

    made = []

    @skill
    def beep():
        made.append(inner())
        return made[0]

    assert finish(start("beep: {}", beep)) is FAILURE
    made[0].close()


@pytest.mark.parametrize("error", [OSError("no motor"), SystemExit(3)])
def test_what_a_function_raises_is_a_crash_of_its_node_and_no_more(start, error):
    @skill
    def beep():
        raise error

    run = start("fallback: [beep: {}, succeed: {}]", beep)
    ticks = []
    run.listen(ticks.append, Tick)
    assert finish(run) is SUCCESS
    assert ticks[-1].crashes[0].path == "/t/0"


def test_a_late_answer_of_a_cancelled_function_is_dropped(start):
    began, go, done, starts = threading.Event(), threading.Event(), threading.Event(), []

    @skill(outputs={"thing": str})
    def find():
        starts.append(1)
        began.set()
        go.wait(60)
        done.set()
        return {"thing": "late"}

    run = start("find: {}", find)
    assert run.tick().running
    assert began.wait(60)
    run.halt("enough")
    go.set()
    assert done.wait(60)
    assert run.parts.engine.root.status is INVALID
    assert finish(run) is SUCCESS
    assert len(starts) == 2  # a new start, not the old answer


def test_a_generator_takes_one_step_a_tick_and_is_closed_when_cancelled(start):
    steps = []

    @skill
    def sweep(n: int):
        try:
            for i in range(n):
                steps.append(i)
                yield
        finally:
            steps.append("closed")
        return False

    run = start("sweep: {n: 2}", sweep)
    assert run.tick().running
    assert steps == [0]
    run.halt("enough")
    assert steps == [0, "closed"]
    assert finish(run) is FAILURE
    assert steps[2:] == [0, 1, "closed"]


def test_a_generator_that_will_not_stop_is_a_crash_and_the_others_are_cancelled(start):
    @skill
    def stubborn():
        while True:
            try:
                yield
            except GeneratorExit:
                yield

    run = start("parallel: [stubborn: {}, life: {place: x}]", stubborn, Life)
    run.tick()
    run.halt("enough")
    assert log[-1] == "cancel"
    assert "GeneratorExit" in run.parts.context.crashes[-1].message


def test_an_async_function_runs_on_a_loop_and_is_cancelled_there(start):
    began, ended = threading.Event(), []
    cancelled = threading.Event()

    @skill
    async def listen(forever: bool):
        began.set()
        try:
            await asyncio.sleep(60 if forever else 0)
            ended.append("done")
            return FAILURE
        except asyncio.CancelledError:
            cancelled.set()
            raise

    assert finish(start("listen: {forever: false}", listen)) is FAILURE
    began.clear()
    run = start("listen: {forever: true}", listen)
    assert run.tick().running
    assert began.wait(60)
    run.halt("enough")
    assert cancelled.wait(60)
    assert ended == ["done"]


MANIFEST = """\
version: 1
skills: tools
impl: tools.py:find
kinds:
  find:
    params: {what: {type: string, choices: [cup, plate]}, speed: {type: number, minimum: 0, maximum: 2, default: 1}}
    outputs: {place: string, count: integer}
  grab:
    impl: tools.py:Grab
    outputs: {held: string}
  broken: {impl: "tools.py:nothing"}
  act: {impl: world, sentence: "open {thing}", params: {thing: string}}
"""
TOOLS = """\
from bt_runtime import Skill, Status

def find(what, speed):
    return {"place": f"{what} shelf", "count": 2}

class Grab(Skill):
    def start(self): pass
    def poll(self):
        self.result = "cup"
        return Status.SUCCESS
    def cancel(self): pass
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "tools.yaml").write_text(MANIFEST)
    (tmp_path / "skills" / "tools.py").write_text(TOOLS)

    def make(root, header="", **options):
        text = f"version: 1\ntree: t\nskills: [tools]\n{header}\nroot:\n  {root}\n"
        return Run(load(text, project=tmp_path), **options)

    return make


def test_outputs_are_written_by_name_from_a_function_and_from_the_result_of_a_class(project):
    run = project('sequence: [find: {what: cup, place: "{p}", count: "{n}"}, grab: {held: "{h}"}]')
    assert finish(run) is SUCCESS
    assert (run.blackboard["p"], run.blackboard["n"], run.blackboard["h"]) == ("cup shelf", 2, "cup")
    run.close()


def test_an_output_that_nobody_asked_for_is_not_written(project):
    run = project('find: {what: cup, count: "{n}"}')
    assert finish(run) is SUCCESS
    assert run.parts.context.blackboard.snapshot() == {"": {"n": 2}}
    run.close()


@pytest.mark.parametrize(
    ("params", "why"),
    [('what: "{x}"', "one of 'cup', 'plate'"), ('what: cup, speed: "{y}"', "0 to 2"), ('what: "{y}"', "a string")],
)
def test_parameters_are_checked_at_run_time_too(project, params, why):
    header = "blackboard: {x: {type: any, default: fork}, y: {type: any, default: 9}}"
    run = project(f"find: {{{params}}}", header=header)
    tick = run.tick()
    assert tick.status is FAILURE
    assert why in tick.crashes[0].message
    run.close()


def test_a_missing_implementation_is_known_when_the_tree_is_loaded(project):
    with pytest.raises(BtError, match=r"tools.yaml:11:18: error\[BT050\]: `tools.py` has no `nothing`"):
        project("sequence: [succeed: {}, broken: {}]")


def test_a_missing_world_is_known_at_setup_with_a_way_out(project):
    run = project("act: {thing: fridge}")
    with pytest.raises(BtError, match="/t could not be set up: `act` acts in a world, and this run has none") as error:
        run.tick()
    assert "--env" in error.value.hint
    run.close()


class House:
    """A world whose actions are slow, or instant."""

    def __init__(self, instant: bool) -> None:
        self.instant = instant
        self.acts: list[str] = []
        self.inside = self.most = 0
        self.entered, self.go = threading.Event(), threading.Event()

    def act(self, sentence: str) -> Observation:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.acts.append(sentence)
        self.entered.set()
        if not self.instant:
            self.go.wait(60)
        self.inside -= 1
        return Observation(f"did: {sentence}", ok="window" not in sentence)


def test_an_instant_world_answers_within_the_tick(project):
    house = House(instant=True)
    run = project("fallback: [act: {thing: window}, act: {thing: fridge}]", world=house)
    assert run.tick().status is SUCCESS
    assert house.acts == ["open window", "open fridge"]
    assert run.parts.engine.root.children[0].feedback_message == "did: open window"
    run.close()


def test_a_slow_world_acts_in_a_thread_one_action_at_a_time(project):
    house = House(instant=False)
    run = project("parallel: [act: {thing: fridge}, act: {thing: door}]", world=house)
    assert run.tick().running
    house.go.set()
    assert finish(run) is SUCCESS
    assert (sorted(house.acts), house.most) == (["open door", "open fridge"], 1)
    run.close()


def test_an_action_that_was_cancelled_before_its_turn_is_never_made(project):
    house = House(instant=False)
    run = project("parallel: [act: {thing: fridge}, act: {thing: door}]", world=house)
    over = threading.Semaphore(0)
    run.listen(lambda woken: over.release(), Woken)
    run.tick()
    assert house.entered.wait(60)
    run.halt("enough")
    house.go.set()
    activities = 3  # the halt wakes too
    for _ in range(activities):
        assert over.acquire(timeout=10)
    assert len(house.acts) == 1
    run.close()


def test_a_parameter_that_any_node_may_carry_is_refused():
    def speak(name: str): ...

    with pytest.raises(BtError, match="is called `name`"):
        load(HEAD + "  succeed: {}\n", skills=[speak])


def test_an_unknown_parameter_is_a_fault_of_the_tree():
    def speak(text: str): ...

    with pytest.raises(Faults, match="has no field `txt`"):
        load(HEAD + "  speak: {txt: x}\n", skills=[speak])


def course(run, polls):
    """What seven ticks show, and how often the skill was polled until then."""
    return [(run.tick().status, run.parts.engine.root.feedback_message, len(polls)) for _ in range(7)]


@pytest.mark.parametrize("end", [SUCCESS, FAILURE, None, "SUCCESS", ValueError("no power")])
def test_an_observed_skill_is_polled_once_a_tick_and_tells_what_it_tells_unobserved(start, tmp_path, end):
    """Feedback, ends, exceptions and answers that are no status, whichever way the poll takes."""
    polls: list[int] = []

    @skill("talks", on_resume="repeat", durable=False)
    class Talks(Skill):
        def start(self) -> None:
            polls.clear()

        def poll(self):
            polls.append(len(polls))
            self.feedback = f"{len(polls) // 3}"
            if len(polls) == 7 and isinstance(end, Exception):
                raise end
            return RUNNING if len(polls) < 7 else end

    plain = course(start("talks: {}", Talks), polls)
    assert [count for _, _, count in plain] == [1, 2, 3, 4, 5, 6, 7]
    listened = start("talks: {}", Talks)
    listened.listen(lambda event: None)
    assert course(listened, polls) == plain
    recorded = course(start("talks: {}", Talks, journal=tmp_path), polls)  # the text of the feedback comes later
    assert [(status, count) for status, _, count in recorded] == [(status, count) for status, _, count in plain]
    assert recorded[-1] == plain[-1]
