"""Episodes side by side in one thread: none knows of the others, and what breaks is its own."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.case import Case, Setup, Strategy, cases
from bt_lab.run.episode import Episode
from bt_lab.run.outcome import from_json
from bt_runtime import Budget
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.clock import Manual
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.tree.clock import Alarm
from bt_runtime.types import Question
from packages.lab.tests.bench import worlds
from packages.lab.tests.bench.conftest import knowing, named, outcomes, tasks_of


@pytest.mark.parametrize("name", ["react", "reactree", "adapt"])
def test_every_case_gets_its_outcome_and_an_oracle_reaches_every_goal(name: str) -> None:
    tasks = tasks_of("textcraft", 10)
    found = outcomes("textcraft", tasks, name, jobs=4)
    assert [o.task for o in found] == [t.id for t in tasks]
    assert all(o.success and o.met == o.total and not o.error and not o.label for o in found)
    assert [o.depth for o in found] == [int(t.kind.split()[1]) for t in tasks]


def test_how_many_run_at_once_changes_nothing_that_is_told() -> None:
    tasks = tasks_of("textcraft", 6)
    alone, together = (outcomes("textcraft", tasks, "react", "adapt", jobs=jobs, polls=2) for jobs in (1, 5))
    assert alone == together
    assert len({o.decided for o in alone}) == len(alone)


def test_another_decision_gives_another_digest_of_what_was_decided(doors: str) -> None:
    tasks = tasks_of(doors, 3)
    first = outcomes(doors, tasks, "react")
    given_up = outcomes(doors, tasks, "react", models=lambda case: {"default": ScriptedModel(["Act: failure"])})
    assert all(a.decided != b.decided for a, b in zip(first, given_up, strict=True))


@pytest.mark.parametrize("broken", [b for b in worlds.BREAKS if b != "none"])
@pytest.mark.parametrize("jobs", [1, 4])
def test_a_world_that_breaks_is_an_error_of_its_episode_and_of_no_other(doors: str, broken: str, jobs: int) -> None:
    tasks = tasks_of(doors, 6, kinds=["none", broken])
    found = outcomes(doors, tasks, "react", jobs=jobs)
    assert [bool(o.error) for o in found] == [False, True] * 3
    assert [o.success for o in found if o.kind == "none"] == [True] * 3
    assert all(broken in o.error and not o.label for o in found if o.kind == broken)


def test_a_model_that_breaks_is_an_error_of_the_episode_that_asked(doors: str) -> None:
    def models(case: Case) -> dict[str, Any]:
        return knowing(doors)(case) if case.number != 1 else {"default": ScriptedModel([])}

    found = outcomes(doors, tasks_of(doors, 3), "react", models=models)
    assert [bool(o.error) for o in found] == [False, True, False]


def test_a_world_is_closed_when_its_episode_is_over_and_when_nobody_waits_for_the_rest(doors: str) -> None:
    worlds.CLOSED.clear()
    backend = Local(knowing(doors, 3), 3, Manual)
    stream = backend.outcomes(Setup(doors), cases(named("react"), tasks_of(doors, 9)))
    next(iter(stream))
    running = len(worlds.CLOSED)
    stream.close()  # type: ignore[attr-defined]
    assert running == 1
    assert 2 <= len(worlds.CLOSED) <= 4  # those that ran beside it; none of the others was ever opened


def test_it_sleeps_only_when_all_episodes_wait(doors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []  # of the one that waits least, before each sleep

    class Watched(Local):
        def _sleep(self, running: Sequence[Episode], alarm: Alarm) -> None:
            waits.append(min((e.wait for e in running), default=0))
            before = [e.clock.now() for e in running]
            super()._sleep(running, alarm)
            after = [e.clock.now() for e in running]
            slept.append((before != after, min((e.wait for e in running), default=0)))

    slept: list[tuple[bool, float]] = []
    backend = Watched(knowing(doors, 4), 3, Manual)
    found = list(backend.outcomes(Setup(doors), cases(named("react"), tasks_of(doors, 5))))
    assert all(o.success for o in found)
    assert any(moved for moved, _ in slept)
    assert all(wait > 0 for wait, (moved, _) in zip(waits, slept, strict=True) if moved)  # and none was late after it
    assert all(late <= 0 for moved, late in slept if moved)


def test_an_episode_that_takes_too_long_is_halted_and_counts_as_what_it_reached(doors: str) -> None:
    tasks = tasks_of(doors, 3)
    (late, *_) = outcomes(doors, tasks[2:], "react", polls=10, seconds=0.75)
    assert not late.success and late.status == "" and not late.error
    assert late.label == "time is up"
    assert [end["why"] for end in late.ends] == ["cancelled"]
    assert late.seconds == pytest.approx(0.75, abs=0.03)


def test_a_budget_of_decisions_holds_for_the_whole_run_and_is_the_end_of_a_node(doors: str) -> None:
    (found,) = outcomes(doors, tasks_of(doors, 3)[2:], "react", budget=Budget(decisions=3))
    assert (found.decisions, found.label) == (3, "max step")
    assert found.ends == [
        {"path": "/react", "goal": "open 3 doors", "why": "budget", "detail": "decisions 3 of the run"}
    ]


def test_agents_and_how_deep_they_stand_are_counted() -> None:
    tasks = tasks_of("textcraft", 2)
    flat, grown = outcomes("textcraft", tasks[:1], "react", "adapt")
    assert (flat.agents, flat.k) == (1, 1)
    assert grown.k == 2
    assert grown.agents == 1 + sum(end["why"] == "done" for end in grown.ends)  # the one that gave up, and the parts


def test_an_input_reaches_the_strategies_that_have_it() -> None:
    tasks = tasks_of("textcraft", 1)
    strategy = Strategy("adapt", "adapt", {"max_depth": 1})
    (found,) = Local(knowing("textcraft"), 1, Manual).outcomes(Setup("textcraft"), cases([strategy], tasks))
    assert not found.success and found.k == 1  # no plan was allowed


def test_a_strategy_may_be_a_file(tmp_path: Any, doors: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text('version: 1\ntree: mine\ninputs: {goal: string}\nroot: {agent: {goal: "{goal}", moves: [act]}}\n')
    backend = Local(lambda case: {"default": ScriptedModel(["Act: open door 1", "Act: done"])}, 1, Manual)
    (found,) = backend.outcomes(Setup(doors), cases([Strategy("mine", str(file))], tasks_of(doors, 1)))
    assert found.success and found.strategy == "mine"


def test_a_case_a_set_up_and_an_outcome_can_be_sent_to_another_process(doors: str) -> None:
    setup = Setup(doors, {"data": "x"}, budget=Budget(steps=3))
    (case,) = cases(named("react"), tasks_of(doors, 1))
    (outcome,) = outcomes(doors, [case.task], "react")
    sent = (setup, case, outcome)
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


class _Long(ScriptedModel):
    """Says once that a prompt is too long; breaks at its sixth question when it is to."""

    def __init__(self, breaks: bool, always: bool = False) -> None:
        super().__init__(lambda asked: "Act: " + (asked.options or asked.moves["Act:"])[len(self.asked) % 7].strip())
        self.breaks, self.always, self.times = breaks, always, 0

    def ask(self, question: Question) -> Any:
        self.times += 1
        if self.times == 4 or (self.always and self.times > 4):
            return _TooLong(None)
        if self.times == 6 and self.breaks:
            raise RuntimeError("a bug in a node")
        return super().ask(question)


class _TooLong(ScriptedAnswer):
    def poll(self) -> Any:
        raise TooLong("too long", "", 200, 100)


@pytest.mark.parametrize(("breaks", "always"), [(True, False), (False, True)])
def test_a_crash_is_an_error_also_after_a_prompt_was_shortened_and_a_prompt_that_stays_too_long_is_none(
    breaks: bool, always: bool
) -> None:
    def models(case: Case) -> dict[str, Any]:
        return {"default": _Long(breaks, always)}

    (found,) = outcomes("house", tasks_of("house", 1), "react", models=models)
    assert found.overflow
    assert ("a bug in a node" in found.error) is breaks
    assert found.label == ("" if breaks else "max step")
