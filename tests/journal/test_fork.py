"""A fork has the recorded run's past, bit for bit, and a future of its own."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Run, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.run.replay.fork import Edits, dry, fork
from bt_runtime.run.replay.refit import CannotResume
from bt_runtime.run.replay.strategy import instead
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.journal.forks import ENGINES, LAST, MORE, STRATEGIES, WORLDS, course, dice, recorded, state, step, told

FORKS = int(os.environ.get("FORKS", "2"))  # of each world and strategy; `make forks`: 28, and more worlds
FIRST = int(os.environ.get("FIRST", "0"))  # their first seed


@pytest.mark.parametrize("world", (*WORLDS, *MORE) if "FORKS" in os.environ else WORLDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_prefix_of_a_fork_is_equal_bit_for_bit_and_nothing_of_it_is_asked_again(world, strategy, runs) -> None:
    """Entries, statuses, working memory, clock, seeds and world; with the same model, the future is the same too."""
    if world in ENGINES:
        pytest.importorskip(ENGINES[world], reason=f"the engine of {world} is not installed")
    for seed in range(FIRST, FIRST + FORKS):
        journal, states = recorded(runs, world, strategy, seed)
        last = max(states)
        at = random.Random(seed).randrange(last)
        model = dice(seed, seed % 3)
        with fork(journal, str(at), Edits(model=model), clock=Manual()) as run:
            assert run.parts.engine.count == at
            if at:
                assert seen(state(run), journal, at) == seen(states[at], journal, at), f"{world} {strategy} {seed} {at}"
            assert len(model.asked) <= 1, "only a question that was open is asked again"
            while (run.status is RUNNING or not run.parts.engine.count) and run.parts.engine.count < 2 * last + 50:
                step(run)
            assert {**state(run), "clock": 0} == {**states[last], "clock": 0}
        assert told(run.parts.journal.path, at) == told(journal, at)
        assert course(run.parts.journal.path) == course(journal)
        again = replay(run.parts.journal.path)
        assert again.same, again


def seen(state: dict[str, Any], journal: Path, at: int) -> dict[str, Any]:
    """The state without the world while an action goes on in it, in another thread."""
    kinds = [kind for _, kind, _ in told(journal, at)]
    return {**state, "world": ""} if kinds.count("begin") > kinds.count("done") else state


def test_a_fork_stands_at_a_tick_in_which_nothing_was_recorded(runs) -> None:
    """An action goes on for ten ticks; the fork is at the sixth, begins the action anew, and ends as the run did."""
    begun, arrived = threading.Semaphore(0), threading.Semaphore(0)

    @skill("drive", name="drive", on_resume="repeat")
    def drive() -> None:
        begun.release()
        assert arrived.acquire(timeout=60)

    def ended(run: Run) -> None:
        assert begun.acquire(timeout=60)
        arrived.release()
        while run.status is RUNNING:
            step(run)
        assert run.status is SUCCESS

    with Run(load("version: 1\ntree: t\nroot:\n  drive:\n", skills=[drive]), clock=Manual(), journal=runs) as run:
        for _ in range(10):
            run.tick()
        ended(run)
    path = run.parts.journal.path
    assert Recording(path).last_tick > 9
    with fork(path, "6", skills=[drive], clock=Manual()) as run:
        assert run.parts.engine.count == 6 and run.status is RUNNING
        run.tick()
        ended(run)
    assert replay(run.parts.journal.path).same
    assert Recording(run.parts.journal.path).head["forked"] == {"of": Recording(path).name, "tick": 6, "decision": 0}


@pytest.mark.parametrize("world", WORLDS)
def test_at_a_decision_another_model_is_asked_first_for_that_one(world, runs) -> None:
    journal, _ = recorded(runs, world, "react", 1)
    asked = [body["prompt"] for _, kind, body in told(journal) if kind == "ask"]
    model = dice(99, 0)
    with fork(journal, "decision:3", Edits(model=model), clock=Manual()) as run:
        run.tick()
    assert model.asked[0].prompt == asked[2]
    assert [b["prompt"] for _, kind, b in told(run.parts.journal.path) if kind == "ask"][:3] == asked[:3]
    assert replay(run.parts.journal.path).same


TREE = """
version: 1
tree: errand
blackboard: {fuel: {type: integer, default: 1}, done: {type: integer, default: 0}}
root:
  sequence:
    - wait: 1
    - set: {done: "{done + 1}"}
    - wait: 1
    - sequence:
        name: leg
        children:
          - wait: 1
          - check: {expr: fuel > 2, name: ready}
    - wait: 1
"""


def failed(runs: Path) -> Path:
    with Run(load(TREE), clock=Manual(), journal=runs) as run:
        assert run.spin() is FAILURE
    assert run.parts.journal is not None and run.parts.journal.path is not None
    return run.parts.journal.path


def middle(path: Path) -> str:
    """A tick in which the second wait goes on."""
    return str(next(t for t, kind, body in told(path) if kind == "blackboard" and body["name"] == "done"))


@pytest.mark.parametrize(
    "edits",
    [Edits(entries={"fuel": 9}), Edits(forced=(("**/ready", "success"),)),
     Edits(replaced=(("/errand/leg", "wait: 1"),))],
    ids=["an entry", "a forced result", "the tree's text"],
)  # fmt: skip
def test_an_edit_saves_the_run_and_the_fork_replays(edits, runs) -> None:
    journal = failed(runs)
    before = journal.read_bytes()
    with fork(journal, middle(journal), edits, clock=Manual()) as run:
        assert run.blackboard["done"] == 1
        assert run.spin() is SUCCESS
    assert run.blackboard["done"] == 1
    assert journal.read_bytes() == before, "the recorded run stays as it is"
    again = replay(run.parts.journal.path)
    assert again.same and again.status == "SUCCESS", again


def questions(path: Path) -> list[str]:
    return [body["prompt"] for _, kind, body in told(path) if kind == "ask"]


def test_another_prompt_holds_from_the_next_turn_on_and_the_fork_replays(runs) -> None:
    """The steps so far stay in it. What was asked before the moment was asked in the old words."""
    journal, _ = recorded(runs, "textcraft", "react", 1)
    at = min(tick for tick, kind, _ in told(journal) if kind == "step")
    words = {"agent": "Be quick. {openings}\n"}
    with fork(journal, str(at), Edits(model=dice(1, 1), prompts=words), clock=Manual()) as run:
        while run.status is RUNNING and run.parts.engine.count < LAST:
            step(run)
    before, now = questions(journal), questions(run.parts.journal.path)
    first = next(i for i, prompt in enumerate(now) if prompt.startswith("Be quick. "))
    assert first > 0 and now[:first] == before[:first]
    assert all(prompt.startswith("Be quick. ") for prompt in now[first:]) and len(now) > first
    assert before[first].partition("Your task is")[2] == now[first].partition("Your task is")[2]
    assert replay(run.parts.journal.path).same


def test_another_strategy_takes_over_with_the_goal_and_the_world_as_it_is(runs) -> None:
    journal, states = recorded(runs, "textcraft", "react", 1)
    at = max(states) // 2
    edit = instead(load("react").spec, "plan_and_execute")
    with fork(journal, str(at), Edits(model=dice(1, 1), replaced=(edit,)), clock=Manual()) as run:
        assert state(run)["world"] == states[at]["world"]
        step(run)
        while run.status is RUNNING and run.parts.engine.count < LAST:
            step(run)
    goal = Recording(journal).head["inputs"]["goal"]
    kinds = [body for _, kind, body in told(run.parts.journal.path) if kind == "goal"]
    assert kinds[-1]["goal"] == goal and "plan_and_execute" in str(kinds[-1]["path"])
    assert replay(run.parts.journal.path).same


def test_without_an_edit_a_fork_ends_as_the_run_did_and_has_a_name_of_its_own(runs) -> None:
    journal = failed(runs)
    names = []
    for _ in range(2):
        with fork(journal, middle(journal), clock=Manual()) as run:
            assert run.spin() is FAILURE
        names.append(Recording(run.parts.journal.path).name)
    assert names == [f"{Recording(journal).name}-fork-{i}" for i in (1, 2)]


@pytest.mark.parametrize(
    ("at", "edits", "said"),
    [("soon", Edits(), "write a tick"), ("9999", Edits(), "it has ticks 0 to"), ("decision:1", Edits(), "name a tick"),
     ("last", Edits(), "write a tick")],
)  # fmt: skip
def test_a_moment_that_is_not_there_is_told_with_the_way_out(at, edits, said, runs) -> None:
    journal = failed(runs)
    with pytest.raises(BtError, match=said):
        fork(journal, at, edits)
    assert [*runs.glob("*fork*")] == []


def test_a_run_that_had_ended_then_names_an_earlier_tick(runs) -> None:
    journal = failed(runs)
    last = Recording(journal).last_tick
    with pytest.raises(BtError, match=f"--at {last - 1}"):
        fork(journal, str(last))


def test_what_was_done_outside_and_may_not_be_repeated_allows_only_a_dry_fork(runs) -> None:
    """The dry fork begins no action and keeps no journal; `anyway` takes the caller's word."""
    done: list[int] = []

    @skill("pour {n}", name="pour", on_resume="fail")
    def pour(n: int) -> None:
        done.append(n)

    text = "version: 1\ntree: t\nroot:\n  sequence: [pour: 1, wait: 1, pour: 2]\n"
    with Run(load(text, skills=[pour]), clock=Manual(), journal=runs) as run:
        assert run.spin() is SUCCESS
    path = run.parts.journal.path
    at = next(e.tick for e in Recording(path).events if e.kind == "done")
    with pytest.raises(CannotResume, match=r"pour 2.*may not be repeated"):
        fork(path, str(at), skills=[pour])
    with dry(path, str(at)) as (run, brake):
        run.spin(ticks=50, seconds=3)
    assert brake.wanted == "pour 2" and done == [1, 2]
    assert len([*runs.glob("*.btr")]) == 1
    with fork(path, str(at), skills=[pour], clock=Manual(), anyway=True) as run:
        assert run.spin() is SUCCESS
    assert done == [1, 2, 2]


def test_another_seed_holds_from_the_moment_on(runs) -> None:
    journal, _ = recorded(runs, "textcraft", "react", 1)
    with fork(journal, "decision:3", Edits(model=dice(1, 0), seed=77), clock=Manual()) as run:
        assert run.parts.context.services.seed == 77
    assert Recording(run.parts.journal.path).head["seed"] == 77


TIDY = """
version: 1
tree: tidy
root:
  sequence:
    - press: {}
    - agent: {goal: ring, moves: [act], max_steps: 6}
"""


@pytest.mark.parametrize("go_on", [lambda run: run.spin(seconds=5), lambda run: run.tick().status])
def test_a_fork_that_its_new_answer_has_ended_begins_nothing_anew(go_on, runs) -> None:
    pressed: list[str] = []

    @skill("press the bell", name="press", on_resume="repeat")
    def press() -> bool:
        pressed.append("bell")
        return True

    with Run(load(TIDY, skills=[press]), model=ScriptedModel(lambda q: "Act: press the bell", 0), journal=runs) as run:
        run.spin(seconds=10)
    assert len(pressed) > 3
    pressed.clear()
    done = ScriptedModel(lambda q: "Act: done", 0)
    with fork(run.parts.journal.path, "decision:2", Edits(model=done), skills=[press], changed=True) as made:
        assert made.status is SUCCESS
        assert [go_on(made) for _ in range(3)] == [SUCCESS] * 3
    assert pressed == []
    with resume(made.parts.journal.path, skills=[press], model=done) as again:
        assert [go_on(again) for _ in range(3)] == [SUCCESS] * 3
    assert pressed == []


def test_the_time_of_a_fork_passes_from_the_moment_it_is_handed_over(runs) -> None:
    """As in a run from scratch: what its clock moves on before the first tick counts, so a timeout ends in time."""
    text = "version: 1\ntree: t\nroot:\n  timeout: {seconds: 2, child: {wait: 50}}\n"
    clock = Manual()
    with Run(load(text), clock=clock, journal=runs) as run:
        for _ in range(3):
            run.tick()
            clock.advance(0.5)
    clock = Manual()
    with fork(run.parts.journal.path, "2", clock=clock) as made:
        clock.advance(1.5)
        assert made.tick().status is FAILURE
