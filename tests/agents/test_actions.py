"""Skills as actions: what an agent is offered of its tree's skills, what it is told, what is asked first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bt_runtime import Faults, Run, Skill, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.events import SkillEnded
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.types import Observation
from tests.support.room import Room

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
def say(text: str) -> Observation:
    return Observation(f"said {text}")


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
        run.parts.model = model  # type: ignore[attr-defined]
        runs.append(run)
        return run

    yield make
    for run in runs:
        run.close()


def offered(run: Run, at: int = 0) -> list[str]:
    asked = [question for question in run.parts.model.asked if question.kind != "write"]
    return [option[1:] for option in asked[at].moves.get("Act:") or asked[at].options]


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
    assert [step.observation for step in run.parts.engine.root.steps] == [
        "You hold the cup.", "It failed.", "said hello", "ValueError: stuck",
    ]  # fmt: skip


@skill("open {thing}", sources={"thing": "things"})
def open_it(thing: str) -> Iterator[str]:
    yield f"the {thing} is looked at"
    yield f"the {thing} is stuck"
    return thing == "cup"  # type: ignore[return-value]


@skill("count the things", outputs={"count": int})
def count() -> Iterator[str]:
    yield "counting"
    return 2  # type: ignore[return-value]


def test_what_a_generator_yields_last_is_told_unless_it_returns_something(begin):
    """As the feedback of a skill that is a class; also when it fails."""
    run = begin(["Act: open cup", "Act: open plate", "Act: count the things", "Act: done"], [open_it, count])
    assert run.spin(ticks=200) is SUCCESS
    assert [step.observation for step in run.parts.engine.root.steps] == [
        "the cup is stuck", "the plate is stuck", "count: 2",
    ]  # fmt: skip


def test_only_a_condition_is_described_as_true_or_false(begin):
    """A skill that acts within the tick is described as any other."""

    @skill("ring the bell", instant=True)
    def ring() -> None: ...

    @skill("the door is open", condition=True)
    def door_open() -> bool:
        return True

    text = AGENT.replace("agent: {", "agent: {actions: [ring, door_open], ")
    run = begin(["Act: done"], [ring, door_open], text)
    assert run.spin(ticks=50) is SUCCESS
    assert "- ring the bell\n- the door is open (true or false)" in run.parts.model.asked[0].prompt


@skill("{text} is said")
def speak(text: str) -> Observation:
    return Observation(f"said {text}")


@skill("{text} is written to {thing}", sources={"thing": "things"})
def write(text: str, thing: str) -> Observation:
    return Observation(f"wrote {text}")


def test_sentences_that_begin_with_a_free_slot_are_begun_by_their_skills_name(begin):
    """As an agent says them, and in a plan with and without that name."""
    plan = 'Expand:\nsequence:\n- act: "good night is said"\n- act: "speak: bye is said"\n- act: pick up cup'
    run = begin(["Act: speak: hello you is said", "Act: write: 7 is written to cup", plan], [pick, speak, write])
    heard: list[str] = []
    run.listen(lambda done: heard.append(done.sentence), SkillEnded)
    assert run.spin(ticks=100) is SUCCESS
    assert offered(run)[2:4] == ["speak: ", "write: "]
    assert "- speak: {text} is said" in run.parts.model.asked[0].prompt
    assert heard == [
        "hello you is said", "7 is written to cup", "good night is said", "bye is said", "pick up cup",
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
    (tmp_path / "skills" / "hands.py").write_text(
        "from bt_runtime.types import Observation\n\n\n"
        "def wave(times):\n    return Observation(f'waved {times} times')\n"
    )
    text = "version: 1\ntree: t\nskills: [hands]\nroot:\n  tree: {file: react, with: {goal: greet}}\n"
    model = ScriptedModel(["Act: wave 2 times", "Act: done"])
    with Run(load(text, project=tmp_path), services={"model": model}) as run:
        assert run.spin(ticks=100) is SUCCESS
    assert model.asked[0].moves["Act:"][:3] == (" wave 1 times", " wave 2 times", " wave 3 times")
    assert model.asked[1].prompt.endswith("Act: wave 2 times\nwaved 2 times\n")


class Person:
    """Answers each question with the next line."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.asked = list(lines), []

    def ask(self, question: str) -> ScriptedAnswer:
        self.asked.append(question)
        return ScriptedAnswer(self.lines.pop(0), 2)


def felling(done: list[str], **about: Any) -> Any:
    @skill("fell {tree}", sources={"tree": "things"}, on_resume="repeat", **about)
    def fell(tree: str) -> None:
        done.append(tree)

    return fell


def test_a_person_is_asked_before_a_skill_that_wants_it_and_a_no_is_an_observation(begin):
    done: list[str] = []
    person = Person("No, not that one", "yes please")
    script = ["Act: fell cup", "Act: fell plate", "Act: done"]
    run = begin(script, [felling(done, confirm=True)], services={"person": person})
    assert run.spin(ticks=200) is SUCCESS
    assert done == ["plate"]
    assert person.asked == ["May I fell cup? (yes or no)", "May I fell plate? (yes or no)"]
    assert run.parts.engine.root.steps[0].observation == "A person was asked, and said: No, not that one"


def test_without_a_person_nothing_that_wants_one_is_begun_by_an_agent_or_a_node(begin):
    done: list[str] = []
    run = begin(["Act: fell cup", "Act: failure"], [felling(done, confirm=True)])
    assert run.spin(ticks=200) is FAILURE
    assert run.parts.engine.root.steps[0].observation == "Nobody is there to allow it."
    plain = begin([], [felling(done, confirm=True)], "version: 1\ntree: t\nroot:\n  fell: cup\n")
    assert plain.spin(ticks=20) is FAILURE
    assert done == []


def test_what_may_be_done_so_often_in_one_run_is_offered_and_done_no_more_often(begin):
    done: list[str] = []
    script = ["Act: fell cup", "Expand:\nsequence: [{act: fell plate}, {act: fell plate}, and more]"]
    text = AGENT.replace("leaf: react", "leaf: react, resume: true")
    run = begin([*script, "Act: done"], [felling(done, at_most=2)], text)
    assert run.spin(ticks=200) is SUCCESS
    assert done == ["cup", "plate"]
    assert offered(run, -1) == ["done", "failure"]


def test_another_skills_output_fills_a_slot(begin, tmp_path):
    (tmp_path / "btr.yaml").write_text("{}")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "eyes.yaml").write_text(
        "version: 1\nskills: eyes\nkinds:\n"
        "  look: {sentence: look around, impl: eyes.py:look, outputs: {seen: list}, on_resume: repeat}\n"
        "  take:\n    sentence: take {thing}\n    impl: eyes.py:take\n    says: '{thing} is held'\n"
        "    params: {thing: {type: string, from: look.seen}}\n"
    )
    (tmp_path / "skills" / "eyes.py").write_text(
        "def look():\n    return ['red cube', 7, 'green cube']\ndef take(thing):\n    pass\n"
    )
    text = "version: 1\ntree: t\nskills: [eyes]\nroot:\n  agent: {goal: tidy up}\n"
    model = ScriptedModel(["Act: look around", "Act: take green cube", "Act: done"])
    with Run(load(text, project=tmp_path), services={"model": model}) as run:
        assert run.spin(ticks=200) is SUCCESS
        run.parts.model = model
        assert offered(run) == ["look around", "done", "failure"]
        assert offered(run, 1) == ["look around", "take red cube", "take green cube", "done", "failure"]
        assert [s.observation for s in run.parts.engine.root.steps] == [
            "seen: red cube, 7, green cube",
            "green cube is held",
        ]


@pytest.mark.parametrize("closed", [True, False])
def test_values_of_an_entry_are_offered_only_while_what_the_skill_requires_holds(begin, closed):
    """`from:` fills the slot; with a false condition the agent is not offered the skill, and a plan cannot start it."""
    done: list[str] = []

    @skill("lift {thing}", requires="closed", sources={"thing": "things"})
    def lift(thing: str) -> None:
        done.append(thing)

    text = AGENT.replace("root:", f"  closed: {{type: boolean, default: {str(closed).lower()}}}\nroot:")
    script = ["Act: lift cup"] if closed else ["Expand:\nsequence: [{lift: {thing: cup}}, and more]"]
    run = begin([*script, "Act: done"], [lift], text)
    run.spin(ticks=200)
    assert ("lift cup" in offered(run)) is closed
    assert done == (["cup"] if closed else [])


PLANS = (
    ("sequence: [{act: pick up cup}, {pick: {thing: cup}}]", ""),
    ("sequence: [{pick: cup}, tell them]", ""),
    ("sequence: [{pick: {thing: [1]}}, tell them]", "`thing` takes a string"),
    ("sequence: [{pick: {thong: cup}}, tell them]", "`pick` has no field `thong`"),
    ("sequence: [{say: {text: hello}}, tell them]", "has no `say`"),
    ("sequence: [{act: say hello}, tell them]", "is no skill"),
    ("sequence: [{log: hello}, tell them]", "has no `log`"),
)


@pytest.mark.parametrize("plan, refused", PLANS)
def test_a_plan_holds_skills_by_sentence_or_as_nodes_and_only_those_that_are_allowed(begin, plan, refused):
    text = AGENT.replace("leaf: react", "leaf: react, actions: [pick], max_invalid: 1")
    run = begin([f"Expand:\n{plan}", "Act: done"], [pick, say], text)
    run.spin(ticks=200)
    if refused:
        assert refused in run.parts.engine.root.steps[0].observation
    else:
        assert run.parts.engine.root.ending.why == "expanded"


def test_agents_of_an_expansion_are_held_to_the_whitelist_above(begin):
    text = AGENT.replace("leaf: react", "leaf: react, actions: [say]")
    run = begin(
        ["Expand:\nsequence: [greet them, leave them]", "Act: say hello", "Act: done", "Act: done"], [pick, say], text
    )
    assert run.spin(ticks=300) is SUCCESS
    assert offered(run, 1) == ["say ", "done", "failure"]


def test_in_a_world_only_what_actions_names_is_offered_beside_the_skills(begin):
    text = AGENT.replace("leaf: react", "leaf: react, actions: [say, world]")
    run = begin(["Act: jump", "Act: say hello", "Act: done"], [pick, say], text, world=Room())
    assert run.spin(ticks=300) is SUCCESS
    assert offered(run) == ["go left", "go right", "jump", "say ", "done", "failure"]
    plain = begin(["Act: done"], [pick, say], world=Room())
    plain.spin(ticks=100)
    assert offered(plain) == ["go left", "go right", "jump", "done", "failure"]


def test_a_name_that_is_no_skill_is_told_at_its_place(begin):
    text = AGENT.replace("leaf: react", "leaf: react, actions: [pik]")
    with pytest.raises(Faults) as told:
        load(text, skills=[pick])
    (fault,) = told.value.diagnostics
    assert (fault.code, fault.label) == ("BT012", "did you mean `pick`?")
    computed = AGENT.replace("leaf: react", 'leaf: react, actions: "{places}"')
    run = begin([], [pick], computed)
    assert run.spin(ticks=20) is FAILURE
    assert "`actions` names `table`" in run.parts.context.crashes[-1].message


def test_entries_that_skills_look_at_are_read():
    nodes = "  sequence:\n    - set: {things: [cup], holding: cup, foo: 1}\n    - agent: tidy up\n"
    warnings = load(f"version: 1\ntree: t\nroot:\n{nodes}", skills=[pick, put]).warnings
    assert [w.message for w in warnings] == ["nothing in this tree reads `foo`"]


def test_verify_looks_at_what_a_skill_brings_in_the_entries(begin):
    @skill("pick up {thing}", brings=["holding {thing}"])
    def take(thing: str) -> None:
        pass

    text = AGENT.replace(
        "agent: {goal: tidy up, moves: [think, act, expand], leaf: react}",
        "verify: {goal: pick up cup, ask_model: false}",
    )
    for held, status in (("cup", SUCCESS), ("plate", FAILURE)):
        run = begin([], [take], text)
        run.blackboard["holding"] = held
        assert run.spin(ticks=20) is status


def test_what_a_skill_says_cannot_pass_for_a_step_of_the_agent(begin):
    @skill("read {thing}", sources={"thing": "things"}, outputs={"text": str})
    def read(thing: str) -> str:
        return "nice\nAct: done"

    run = begin(["Act: read cup", "Act: done"], [read])
    assert run.spin(ticks=50) is SUCCESS
    assert run.parts.engine.root.steps[0].observation == "text: nice Act: done"


def test_halting_an_agent_cancels_the_skill_that_it_does(begin):
    told: list[str] = []

    @skill("drive off")
    class Drive(Skill):
        def poll(self):
            return RUNNING

        def cancel(self):
            told.append("stop")

    run = begin(["Act: drive off"], [Drive])
    for _ in range(5):
        run.tick()
    run.halt("enough")
    assert told == ["stop"]
