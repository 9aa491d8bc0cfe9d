"""Interlocks in pairs: each one holds beside every other one, for every form of a skill and every way to start it.

A row of `CLAIMS` says what must hold of one interlock; a row of `BESIDE` puts another one around the same skill, in a
state in which it lets everything pass."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import debugger_of
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import SkillEnded
from bt_runtime.journal import replay
from bt_runtime.plugins import Action, Activity, Gate, Wrapping, refused
from bt_runtime.skills.activity import Done
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.tree.gates import Call, Start
from bt_runtime.types import Job

RUNNING, SUCCESS, FAILURE = bt.Status.RUNNING, bt.Status.SUCCESS, bt.Status.FAILURE
HEAD = """version: 1
tree: t
blackboard:
  spot: {type: string, default: hall}
  mail: {type: string, default: vault}
  stop: {type: boolean, default: false}
  closed: {type: boolean, default: true}
"""
POLICY = "policies: {skills: {work: {place: [operator, author, model]}}, labels: {entries: {mail: outside}}}\n"


class Log:
    """What happened to the skill `work`, which goes on until `go`, and has not stopped before `still` is cleared."""

    def __init__(self) -> None:
        self.began, self.told, self.others = list[str](), list[object](), list[str]()
        self.go, self.bell = threading.Event(), threading.Event()
        self.still = True
        self.moving = False

    def begin(self, place: str) -> None:
        self.began.append(place)
        self.moving = True
        self.bell.set()


def as_class(log: Log, **options: Any) -> Any:
    @bt.skill("work at {place}", name="work", **options)
    class Work(bt.Skill):
        def start(self, place: str) -> None:
            log.begin(place)

        def poll(self) -> bt.Status:
            return SUCCESS if log.go.is_set() else RUNNING

        def changed(self, **values: Any) -> None:
            log.told.append(values["place"])

        def stopping(self) -> bool:
            log.moving = log.still
            return log.still

    return Work


def as_function(log: Log, **options: Any) -> Any:
    @bt.skill("work at {place}", name="work", **options)
    def work(place: str) -> bool:
        log.begin(place)
        log.go.wait(30)
        log.moving = False
        return True

    return work


def as_generator(log: Log, **options: Any) -> Any:
    @bt.skill("work at {place}", name="work", **options)
    def work(place: str) -> Iterator[None]:
        log.begin(place)
        try:
            while not log.go.is_set():
                values = yield
                if values:
                    log.told.append(values["place"])  # type: ignore[unreachable]
        finally:
            log.moving = False

    return work


def as_async(log: Log, **options: Any) -> Any:
    @bt.skill("work at {place}", name="work", **options)
    async def work(place: str) -> None:
        log.begin(place)
        try:
            while not log.go.is_set():
                await asyncio.sleep(0.001)
        finally:
            while log.still and not log.go.is_set():
                await asyncio.sleep(0.001)
            log.moving = False

    return work


def as_instant(log: Log, **options: Any) -> Any:
    @bt.skill("work at {place}", name="work", instant=True, **options)
    def work(place: str) -> bool:
        log.begin(place)
        return True

    return work


FORMS: dict[str, Callable[..., Any]] = {
    "class": as_class, "function": as_function, "generator": as_generator, "async": as_async, "instant": as_instant,
}  # fmt: skip
STOPS = ("class", "function", "generator", "async")
FOLLOWS = ("class", "generator")


class Answer(Job[str]):
    def __init__(self, word: str, polls: int) -> None:
        self.word, self.left = word, polls

    def poll(self) -> str | None:
        self.left -= 1
        return self.word if self.left < 0 else None

    def cancel(self, reason: str) -> None: ...


class Person:
    def __init__(self, word: str, polls: int = 0) -> None:
        self.word, self.polls, self.asked = word, polls, 0

    def ask(self, question: str) -> Job[str]:
        self.asked += 1
        return Answer(self.word, self.polls)


class Passing(Gate):
    def start(self, action: Action, start: Start) -> Activity:
        return start()

    def instant(self, call: Call) -> Call:
        return call


class Refusing(Gate):
    def start(self, action: Action, start: Start) -> Activity:
        return refused("not now")

    def instant(self, call: Call) -> Call:
        return lambda **params: False


class Case:
    """A run of the skill `work` beside another interlock."""

    def __init__(self, form: str, beside: str, place: Path) -> None:
        self.log, self.form, self.beside, self.place = Log(), form, beside, place
        self.options: dict[str, Any] = {"on_resume": "repeat"}
        self.more: dict[str, Any] = {}
        self.person: Person | None = None
        self.head = HEAD
        if beside.startswith("confirm"):
            self.options["confirm"] = True
            self.person = Person("yes", 2 if beside == "confirm, later" else 0)
        elif beside == "at_most":
            self.options["at_most"] = 9
        elif beside == "uses":
            self.options["uses"] = ["base"]
        elif beside == "requires":
            self.options["requires"] = "closed"
        elif beside == "policy":
            self.head += POLICY
        elif beside.startswith("journal"):
            self.options["on_resume"] = "repeat" if beside == "journal" else "fail"
            self.more["journal"] = place / "runs"

    @contextmanager
    def run(self, root: str, *acts: str) -> Iterator[bt.Run]:
        @bt.skill("other", uses=["arm"], on_resume="repeat")
        def other() -> bool:
            self.log.others.append("moving" if self.log.moving else "still")
            return True

        skills = [FORMS[self.form](self.log, **self.options), other]
        tree = bt.load(f"{self.head}root:\n  {root}\n", skills=skills)
        services = {"person": self.person} if self.person is not None else {}
        model = ScriptedModel([*acts, "Act: done"]) if acts else None
        with bt.Run(tree, services=services, model=model, **self.more) as run:
            if self.beside == "listener":
                run.listen(lambda ended: None, SkillEnded)
            elif self.beside == "gate":
                run.parts.context.gates.add(Passing())
            elif self.beside == "debugger":
                debugger_of(run)
            try:
                yield run
            finally:
                self.log.still = False
                self.log.go.set()

    def ticked(self, run: bt.Run, done: Callable[[], bool] | None = None) -> bool:
        """Ticks until something is so; without it a few times."""
        for _ in range(8 if done is None else 2000):
            if done is not None and done():
                return True
            self.log.bell.clear()
            run.tick()
            self.log.bell.wait(0.001)
        return done is None or done()


BESIDE = (
    "nothing", "confirm", "confirm, later", "at_most", "uses", "requires", "policy", "journal", "journal, once",
    "listener", "gate", "debugger",
)  # fmt: skip
CLAIMS: dict[str, tuple[Callable[[Case], None], tuple[str, ...]]] = {}


def claim(*forms: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    def kept(check: Callable[[Case], None]) -> Callable[[Case], None]:
        CLAIMS[check.__name__] = check, forms or tuple(FORMS)
        return check

    return kept


def started(case: Case, run: bt.Run, count: int = 1) -> bool:
    return case.ticked(run, lambda: len(case.log.began) >= count)


@claim()
def a_no_starts_nothing(case: Case) -> None:
    case.options["confirm"], case.person = True, Person("no", case.person.polls if case.person else 0)
    with case.run("work: hall") as run:
        assert run.spin(seconds=30) is FAILURE
    assert case.log.began == [] and case.person.asked == 1


@claim()
def one_of_three_starts(case: Case) -> None:
    case.options["at_most"] = 1
    with case.run("parallel: {success: 1, failure: 3, children: [{work: hall}, {work: hall}, {work: hall}]}") as run:
        assert started(case, run)
        case.ticked(run)
        assert len(case.log.began) == 1


@claim()
def what_it_requires_refuses_the_start(case: Case) -> None:
    case.options["requires"] = "not stop"
    with case.run("work: hall") as run:
        run.blackboard["stop"] = True
        assert run.spin(seconds=30) is FAILURE
        assert "`not stop`" in run.parts.engine.root.feedback_message
        assert case.log.began == []
        run.blackboard["stop"] = False
        assert started(case, run)


@claim(*STOPS)
def what_it_requires_halts_it(case: Case) -> None:
    """A write from outside halts it; what it uses is kept until it has stopped."""
    case.options["requires"] = "not stop"
    case.options["uses"] = ["arm", *case.options.get("uses", ())]
    with case.run("fallback: [{work: hall}, {other: {}}]") as run:
        assert started(case, run)
        run.blackboard["stop"] = True
        case.ticked(run)
        assert run.parts.engine.root.children[0].status is FAILURE
        assert "`not stop`" in run.parts.engine.root.children[0].feedback_message
        if case.form != "generator":  # that stops at once
            assert case.log.others == []
        case.log.still = False
        if case.form == "function":
            case.log.go.set()
        assert case.ticked(run, lambda: bool(case.log.others))
    assert {*case.log.others} == {"still"} and len(case.log.began) == 1


@claim()
def a_question_is_withdrawn_when_what_it_requires_fails(case: Case) -> None:
    case.options["requires"], case.options["confirm"] = "not stop", True
    case.person = Person("yes", 10_000)
    with case.run("work: hall") as run:
        assert case.ticked(run, lambda: case.person is not None and case.person.asked == 1)
        run.blackboard["stop"] = True
        case.ticked(run)
        case.person.polls = 0
        assert run.status is FAILURE and case.log.began == []


@claim()
def what_it_uses_is_waited_for(case: Case) -> None:
    case.options["uses"] = ["arm", *case.options.get("uses", ())]
    with case.run("work: hall") as run:
        held = run.parts.context.resources.take(("arm",), "somebody else's")
        case.ticked(run)
        assert case.log.began == []
        run.parts.context.resources.leave(held)
        assert started(case, run)
        case.log.go.set()
        assert run.spin(seconds=30) is SUCCESS


@claim(*STOPS)
def what_it_uses_is_kept_until_it_has_stopped(case: Case) -> None:
    case.options["uses"] = ["arm", *case.options.get("uses", ())]
    with case.run("reactive_fallback: [{sequence: {when: stop, children: [{other: {}}]}}, {work: hall}]") as run:
        assert started(case, run)
        run.blackboard["stop"] = True
        case.ticked(run)
        if case.form != "generator":  # that stops at once
            assert case.log.others == []
        case.log.still = False
        if case.form == "function":
            case.log.go.set()
        assert case.ticked(run, lambda: bool(case.log.others))
    assert {*case.log.others} == {"still"}


@claim("class", "async")
def a_run_ends_when_it_has_stopped(case: Case) -> None:
    with case.run("work: hall") as run:
        assert started(case, run)
        run.halt("enough")
        assert run.parts.context.resources.left()
        case.log.still = False
        run.close()
        assert run.parts.context.resources.left() == []


@claim(*FOLLOWS)
def what_it_follows_is_told(case: Case) -> None:
    case.options["follow"] = ["place"]
    root = "parallel: [{work: {place: '{spot}'}}, {sequence: [{wait: {until: stop}}, {set: {spot: kitchen}}]}]"
    with case.run(root) as run:
        assert started(case, run)
        run.blackboard["stop"] = True
        assert case.ticked(run, lambda: bool(case.log.told))
        case.ticked(run)
    assert (case.log.began, case.log.told) == (["hall"], ["kitchen"])


@claim(*FOLLOWS)
def what_it_follows_is_held_to_the_policy(case: Case) -> None:
    case.options["follow"], case.head = ["place"], HEAD + POLICY
    root = "parallel: [{work: {place: '{spot}'}}, {sequence: [{wait: {until: stop}}, {set: {spot: '{mail}'}}]}]"
    with case.run(root) as run:
        assert started(case, run)
        run.blackboard["stop"] = True
        assert case.ticked(run, lambda: run.blackboard["spot"] == "vault")
        case.ticked(run)
        assert case.log.told == [] and case.log.began == ["hall"]


@claim()
def the_policy_refuses_the_start(case: Case) -> None:
    case.head = HEAD + POLICY
    root = "sequence: [{sequence: {unless: stop, children: [{set: {spot: '{mail}'}}]}}, {work: {place: '{spot}'}}]"
    with case.run(root) as run:
        assert run.spin(seconds=30) is FAILURE
    assert case.log.began == []


@claim()
def a_gate_refuses_the_start(case: Case) -> None:
    with case.run("work: hall") as run:
        run.parts.context.gates.add(Refusing())
        assert run.spin(seconds=30) is FAILURE
    assert case.log.began == []


@claim()
def a_gate_that_comes_later_is_asked(case: Case) -> None:
    case.log.go.set()
    with case.run("repeat: {times: -1, child: {work: hall}}") as run:
        assert started(case, run)
        run.parts.context.gates.add(Refusing())
        assert run.spin(seconds=30) is FAILURE


@claim()
def a_breakpoint_holds_the_start(case: Case) -> None:
    with case.run("work: hall") as run:
        debugger_of(run).break_at("/t")
        debugger_of(run).pause()
        case.ticked(run)
        assert case.log.began == []
        debugger_of(run).clear()
        debugger_of(run).resume()
        assert started(case, run)


@claim()
def a_listener_hears_each_end_once(case: Case) -> None:
    case.log.go.set()
    heard: list[SkillEnded] = []
    with case.run("repeat: {times: 3, child: {work: hall}}") as run:
        assert started(case, run)
        run.listen(heard.append, SkillEnded)  # it comes while the first start runs, or after it
        assert run.spin(seconds=30) is SUCCESS
    assert len(heard) in (2, 3) and {ended.sentence for ended in heard} == {"work at hall"}


@claim()
def a_replay_starts_nothing(case: Case) -> None:
    case.more["journal"] = case.place / "runs"
    case.log.go.set()
    with case.run("work: hall") as run:
        assert run.spin(seconds=30) is SUCCESS
        assert run.parts.journal is not None
        path = run.parts.journal.path
    assert path is not None
    case.log.began.clear()
    assert replay(path).status == "SUCCESS" and case.log.began == []


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize(
    ("form", "what"), [(form, what) for what, (_, forms) in CLAIMS.items() for form in forms], ids=lambda each: each
)
def test_each_interlock_holds_beside_each_other(form: str, what: str, beside: str, tmp_path: Path) -> None:
    CLAIMS[what][0](Case(form, beside, tmp_path))


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lock", ["confirm", "at_most", "uses", "requires", "policy"])
def test_each_interlock_holds_for_what_an_agent_chooses(form: str, beside: str, lock: str, tmp_path: Path) -> None:
    case = Case(form, beside, tmp_path)
    case.options["sources"] = {"place": "spot"}
    case.log.go.set()
    if lock == "confirm":
        case.options["confirm"], case.person = True, Person("no")
    elif lock == "at_most":
        case.options["at_most"] = 1
    elif lock == "uses":
        case.options["uses"] = ["arm"]
    elif lock == "requires":
        case.options["requires"] = "stop"
    else:
        case.head = HEAD + POLICY.replace("mail: outside", "spot: outside")
    root = "agent: {goal: g, moves: [act], actions: [work]}"
    acts = ["Act: work at hall"] if lock not in ("policy", "requires") else ["Act: done"]
    with case.run(root, *acts) as run:
        held = run.parts.context.resources.take(("arm",), "somebody else's") if lock == "uses" else None
        assert lock != "at_most" or started(case, run)
        case.ticked(run)
        case.ticked(run)
        if lock == "at_most":
            assert case.log.began == ["hall"]
            assert sum(run.parts.context.services.starts.values()) == 1
            return
        assert case.log.began == []
        if held is not None:
            run.parts.context.resources.leave(held)
            assert started(case, run)


def test_whatever_stands_before_a_skill_passes_everything_on() -> None:
    """An activity has no defaults, and a wrapping passes all of it on: one that forgets something cannot be made."""
    everything = Activity.__abstractmethods__
    assert everything == {name for name in vars(Activity) if not name.startswith("_")} - {"STATE"}
    assert everything <= vars(Wrapping).keys()
    assert Wrapping.__abstractmethods__ == frozenset()


def test_a_wrapping_that_polls_in_its_own_way_is_not_passed_by() -> None:
    """`quiet` asks the skill itself; whoever looks at something else at each poll is asked by `poll`."""

    class Running(Done):
        def quiet(self) -> bool:
            return True

    class Passing(Wrapping):
        def __init__(self, inner: Activity) -> None:
            self.inner = inner

    class Looking(Passing):
        def poll(self) -> EndedAnswer | News | None:
            return super().poll()

    assert Passing(Running(None)).quiet()
    assert not Looking(Running(None)).quiet()
