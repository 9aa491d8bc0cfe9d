"""`finish`: an end is judged after an act (`judge`), or an unlikely one gives way to an act (`likely`)."""

from __future__ import annotations

import pytest

from bt_lab.distill.journals import of_run
from bt_runtime import BtError, Run, load
from bt_runtime.agents.finish import OPENING
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from tests.support.room import Room, ending
from tests.support.scoring import ActScoring

AGENT = """\
version: 1
tree: t
root:
  agent: {goal: be at the left, moves: MOVES, recall: false, patience: 9, max_steps: 4, finish: judge, sure: 0.6}
"""
BEFORE, GAINED = -20.0, {1: -15.0, 2: -9.0, 3: -7.0, 4: -6.0}  # of the goal, by how many acts are told


def scored(question, option):
    if question.prompt.endswith(OPENING):
        return GAINED.get(question.prompt.count("- go left:"), BEFORE)
    return {" go left": -1.0, " done": -0.1, " failure": -0.2}.get(option, -3.0)


def played(moves="[act]", tells=True, **given):
    model = ActScoring(scored, tells)
    world = given.pop("world", None) or Room()
    run = Run(load(AGENT.replace("MOVES", moves)), world=world, model=model, clock=Manual(), **given)
    with run:
        run.spin(ticks=60)
    return run, model, world


@pytest.mark.parametrize("moves", ["[act]", "[think, act]"])
def test_it_acts_until_the_goal_follows_from_what_was_done(moves):
    """By 0.25, 0.55 and then 0.65 of its surprise, where 0.6 are wanted."""
    run, _, world = played(moves)
    assert world.acts == ["go left"] * 3
    assert ending(run) == "done: judged: 0.65"


@pytest.mark.parametrize("moves", ["[act]", "[think, act]"])
def test_done_and_failure_are_never_offered(moves):
    """However likely the model thinks them, they are no acts."""
    _, model, _ = played(moves)
    offered = [option for q in model.asked for option in (*q.options, *q.moves.get("Act:", ()))]
    assert " go left" in offered and not {" done", " failure"} & {*offered}


def test_the_model_is_not_told_of_acts_that_it_cannot_choose():
    """Its system text says nothing of `Act: done`."""
    _, model, _ = played()
    first = next(q.prompt for q in model.asked if " go left" in q.options)
    assert "Act:" in first and "Act: done once" not in first and "Act: failure" not in first


def test_what_the_goal_has_anyway_is_asked_for_once():
    """Behind an account of nothing; then once an act."""
    _, model, _ = played()
    judged = [q for q in model.asked if q.prompt.endswith(OPENING)]
    assert sorted(q.prompt.count("- go left:") for q in judged) == [0, 1, 2, 3]
    assert sum("Nothing was done." in q.prompt for q in judged) == 1


def test_without_anything_left_to_do_it_has_failed():
    """There is no sentence by which it could say so."""

    class Empty(Room):
        def skills(self):
            return []

    run, _, _ = played(world=Empty())
    assert ending(run) == "failure: nothing can be done"


def test_a_model_without_scores_is_told_what_to_leave_out():
    """A judgement is made of them."""
    run, _, _ = played(tells=False)
    assert "finish: judge" in ending(run)


def test_judgements_are_recorded_and_no_lesson(tmp_path):
    """A run's document goes on from act to act; what was scored aside is none."""
    played(journal=tmp_path)
    (path,) = tmp_path.glob("*.btr*")
    documents = list(of_run(Recording(path)))
    assert len(documents) == 1 and len(documents[0].learn) == 3
    assert OPENING not in documents[0].text


def likely(*scores: float) -> tuple[str, list[str]]:
    """The ending and the acts of an agent whose `done` has these scores, one a step."""
    left = list(scores)

    def told(question, option):
        if option == " done":
            return left[min(len(world.acts), len(left) - 1)]
        return {" go left": -4.0, " failure": -9.0}.get(option, -6.0)

    world = Room()
    tree = AGENT.replace("MOVES", "[act]").replace("finish: judge, sure: 0.6", "finish: likely")
    with Run(load(tree), world=world, model=ActScoring(told, True), clock=Manual()) as run:
        run.spin(ticks=60)
    return ending(run), world.acts


def test_an_unlikely_done_gives_way_to_the_likeliest_act():
    """`done` is the likeliest sentence three times, at 0.05, 0.3 and 0.6; only the last is above 0.4."""
    assert likely(-3.0, -1.2, -0.5) == ("done", ["go left", "go left"])


def test_an_agent_that_has_nothing_else_to_say_ends_however_unlikely_it_is():
    """Without any other sentence the end is taken."""

    class Empty(Room):
        def skills(self):
            return []

    tree = AGENT.replace("MOVES", "[act]").replace("finish: judge, sure: 0.6", "finish: likely")
    model = ActScoring(lambda question, option: {" done": -8.0}.get(option, -9.0), True)
    with Run(load(tree), world=Empty(), model=model, clock=Manual()) as run:
        run.spin(ticks=60)
    assert ending(run) == "done"


def test_a_score_that_is_no_likelihood_is_refused_with_it():
    """`finish: likely` with `score: prior` points at the score."""
    with pytest.raises(BtError, match="no likelihood"):
        load(AGENT.replace("MOVES", "[act]").replace("finish: judge, sure: 0.6", "finish: likely, score: prior"))
