"""Skills as actions: what an agent is offered of its tree's skills, what it is told, what is asked first."""

from __future__ import annotations

from typing import Any

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.testing import SUCCESS

AGENT = """
version: 1
tree: t
blackboard:
  things: {type: list, default: [cup, plate]}
  places: {type: list, default: [table, shelf]}
  hand_empty: {type: boolean, default: true}
  holding: {type: string, default: ""}
root:
  agent: {goal: tidy up, moves: [think, act, expand], leaf: react}
"""


@skill("pick up {thing}", sources={"thing": "things"}, needs=["hand empty"], says="You hold the {thing}.")
def pick(thing: str) -> bool:
    """Takes a thing."""
    return thing != "plate"


@skill("put down {thing} on {place}", sources={"thing": "things", "place": "places"}, needs=["holding {thing}"])
def put(thing: str, place: str) -> dict[str, str]:
    return {"rests_on": place}


@skill("say {text}", on_resume="repeat")
def say(text: str) -> str:
    return f"said {text}"


@skill("turn {degrees} degrees to the {side}")
def turn(degrees: int, side: str) -> None:
    raise ValueError("stuck")


@pytest.fixture
def begin():
    """`begin(script, [skills])`: a run of the tree above with a scripted model."""
    runs: list[Run] = []

    def make(script: Any, skills: Any, text: str = AGENT, **named: Any) -> Run:
        model = ScriptedModel(script)
        services = {"model": model, **named.pop("services", {})}
        run = Run(load(text, skills=skills), services=services, clock=named.pop("clock", None), **named)
        run.model = model  # type: ignore[attr-defined]
        runs.append(run)
        return run

    yield make
    for run in runs:
        run.close()


def offered(run: Run, at: int = 0) -> list[str]:
    asked = [a for a in run.model.asked if "moves" in a or "options" in a]
    return [o[1:] for o in (asked[at].get("moves") or {"Act:": asked[at]["options"]})["Act:"]]


def test_an_agent_without_a_world_is_offered_the_skills_of_its_tree_with_what_their_sources_have(begin):
    run = begin(["Act: pick up cup", "Act: done"], [pick, put, say])
    assert run.spin(ticks=100) is SUCCESS
    assert offered(run) == ["pick up cup", "pick up plate", "say ", "done", "failure"]


def test_an_entry_prunes_what_cannot_be_done_now(begin):
    run = begin(["Act: put down cup on shelf", "Act: done"], [pick, put])
    run.blackboard["hand_empty"] = False
    run.blackboard["holding"] = "cup"
    assert run.spin(ticks=100) is SUCCESS
    assert offered(run) == ["put down cup on table", "put down cup on shelf", "done", "failure"]


def test_what_a_skill_answers_is_told_in_words(begin):
    script = [
        "Act: pick up cup",
        "Act: pick up plate",
        "Act: say hello",
        "Act: turn 90 degrees to the left",
        "Act: done",
    ]
    run = begin(script, [pick, put, say, turn])
    assert run.spin(ticks=200) is SUCCESS
    assert [step.observation for step in run.root.steps] == [
        "You hold the cup.", "It failed.", "said hello", "ValueError: stuck",
    ]  # fmt: skip


def test_actions_names_what_may_be_done_and_nothing_else_is_offered(begin):
    run = begin(["Act: done"], [pick, put, say], AGENT.replace("leaf: react", "leaf: react, actions: [say]"))
    assert run.spin(ticks=100) is SUCCESS
    assert offered(run) == ["say ", "done", "failure"]


def test_a_strategy_that_is_included_has_the_skills_of_the_tree_that_includes_it(begin, tmp_path):
    (tmp_path / "btr.yaml").write_text("{}")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "hands.yaml").write_text(
        "version: 1\nskills: hands\nkinds:\n  wave:\n    sentence: wave {times} times\n    on_resume: repeat\n"
        "    impl: hands.py:wave\n    params: {times: {type: integer, minimum: 1, maximum: 3}}\n"
    )
    (tmp_path / "skills" / "hands.py").write_text("def wave(times):\n    return f'waved {times} times'\n")
    text = "version: 1\ntree: t\nskills: [hands]\nroot:\n  tree: {file: react, with: {goal: greet}}\n"
    model = ScriptedModel(["Act: wave 2 times", "Act: done"])
    with Run(load(text, project=tmp_path), services={"model": model}) as run:
        assert run.spin(ticks=100) is SUCCESS
    assert model.asked[0]["moves"]["Act:"][:3] == (" wave 1 times", " wave 2 times", " wave 3 times")
    assert model.asked[1]["prompt"].endswith("Act: wave 2 times\nwaved 2 times\n")
