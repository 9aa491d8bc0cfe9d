"""A story that has become too long for its model: what is left out of it, when, and what that costs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bt_runtime import BtError, Budget, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.events import AgentEnded, Trimmed
from bt_runtime.journal import Recording, replay
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Question
from tests.support.narrow import Narrow, Refused
from tests.support.room import Room, ending

NOTE = " left out)\n"


def common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def walk(steps: int) -> list[str]:
    script = []
    for number in range(steps):
        script += [f"Think: this is thought number {number}", "Act: jump"]
    return [*script, "Act: done"]


def lived(start: Any, steps: int = 40, **how: Any) -> tuple[Run, Narrow]:
    model = Narrow(walk(steps), **how)
    run = start("react", [], goal="get out", world=Room(), services={"model": model})
    return run, model


@pytest.mark.parametrize("tells", [True, False], ids=["with numbers", "without"])
def test_a_story_that_is_too_long_loses_its_oldest_steps_and_never_its_task_or_its_newest(start, tells):
    """Forty thoughts and acts in a context that holds a few of them: all are made, and the run ends as it would."""
    run, model = lived(start, tells=tells)
    assert run.spin() is SUCCESS, ending(run)
    first = model.asked[0].prompt
    for question in model.asked[1:]:
        assert question.prompt.startswith(first), "system text, task and first observation stay as they were"
    decided = [q.prompt for q in model.asked if q.kind == "decide"]
    assert NOTE not in decided[1] and decided[-1].count(NOTE) == 1
    assert decided[-1].endswith("Think: this is thought number 39\nOK.\nAct: jump\nNothing new.\n")
    told = [what for name, what in run.told if name == "trimmed"]
    left = told[-1]["omitted"]
    assert f"({left} earlier steps left out)\n" in decided[-1] and "thought number 0\n" not in decided[-1]
    kept = decided[-1].partition(NOTE)[2].count("\nOK.\n") + decided[-1].partition(NOTE)[2].count("Nothing new.")
    assert left + kept == 80, "what is said to be left out is what is left out"
    assert len(told) == len(model.refused) < len(decided) / 4, "several at once"


def test_a_trimmed_story_keeps_most_of_what_was_computed_of_it(start):
    """Of all characters that were asked, those that follow a beginning which the question before had."""
    run, model = lived(start, 60, limit=4000)
    run.spin()
    pairs = [*pairwise([q.prompt for q in model.asked])]
    shared = sum(common(*pair) for pair in pairs) / sum(len(later) for _, later in pairs)
    assert model.refused and shared > 0.9, shared


def test_within_the_context_nothing_is_asked_otherwise(start):
    """Neither a question more nor a sign in a prompt."""
    wide, model = lived(start, 10, limit=10**6)
    free = start("react", walk(10), goal="get out", world=Room())
    assert wide.spin() is free.spin() is SUCCESS
    assert [q._replace(wake=None) for q in model.asked] == [q._replace(wake=None) for q in free.model.asked]


def test_what_does_not_fit_without_any_steps_is_the_models_own_fault(start):
    run, model = lived(start, limit=300)
    assert run.spin() is FAILURE
    assert "a prompt of" in ending(run) and len(model.refused) == 1


def test_one_observation_that_is_longer_than_the_context_is_the_models_own_fault(start):
    """The newest step is never left out: the model would decide on what it has not seen."""

    class Flood(Room):
        def act(self, sentence: str) -> Any:
            return super().act(sentence)._replace(text="water " * 400)

    model = Narrow(["Act: jump", "Act: done"])
    run = start("react", [], goal="get out", world=Flood(), services={"model": model})
    assert run.spin() is FAILURE and "a prompt of" in ending(run)


def test_a_trimmed_run_is_recorded_and_replayed_to_the_same(tmp_path):
    model = Narrow(walk(30))
    with Run(
        load("react"), inputs={"goal": "get out"}, world=Room(), model=model, journal=tmp_path, recall=False
    ) as run:
        assert run.spin() is SUCCESS
        path = run.parts.journal.path
    found = replay(path)
    assert found.same and found.status == "SUCCESS", found
    recording = Recording(path)
    kinds = [event.kind for event in recording.events]
    assert kinds.count("trimmed") == len(model.refused) > 0


def test_an_answer_that_the_contexts_end_cut_off_is_asked_for_again_behind_a_shorter_story(start):
    """A thought of 24 tokens that ended after 3 was not ended by its own bound."""

    class Ending(Narrow):
        def _written(self, question: Question, said: str) -> Any:
            wrote = super()._written(question, said)
            if "number 20" in said and not self.cut:
                self.cut, self.rest = True, said
                return wrote._replace(text="this", ended="length", tokens=1)
            return wrote

        cut = False

    model = Ending(walk(25), limit=10**6)
    run = start("react", [], goal="get out", world=Room(), services={"model": model})
    assert run.spin() is SUCCESS
    assert "Think: this is thought number 20\n" in model.asked[-1].prompt and NOTE in model.asked[-1].prompt


def test_an_attempt_that_is_too_long_is_reflected_on_without_its_middle(start):
    text = (
        "version: 1\ntree: t\nroot:\n  sequence:\n    - force: {status: success, child: {agent: {goal: get out}}}\n"
        "    - reflect: {goal: get out, into: lessons}\n"
    )
    model = Narrow([*walk(40)[:-1], "Act: failure", "look first"])
    run = start(text, [], world=Room(), services={"model": model})
    assert run.spin() is SUCCESS and run.blackboard["lessons"] == ["look first"]
    told = model.asked[-1].prompt
    assert "Your task is to: get out" in told and "thought number 39" in told and "thought number 5\n" not in told


def test_a_model_without_an_answer_is_no_reason_to_trim(start):
    """Any other fault ends the agent, as ever."""

    class Broken(ScriptedModel):
        def ask(self, question: Question) -> ScriptedAnswer:
            return Refused(BtError("it broke", "mend it"))

    run = start("react", [], goal="get out", world=Room(), services={"model": Broken([])})
    assert run.spin() is FAILURE and "it broke" in ending(run)
    assert "trimmed" not in [name for name, _ in run.told]


def test_a_local_model_says_by_how_much_and_its_agent_goes_on(tmp_path):
    """The starter with an eighth of its context: no agent ends by it, and no prompt is longer."""
    pytest.importorskip("llama_cpp", reason="needs the llm extra")
    from bt_runtime.llm import starter

    told: list[Any] = []
    model = {"file": str(starter()), "context": 400}
    with Run(load("react"), inputs={"goal": "get out"}, world=Room(), model=model, budget=Budget(decisions=60)) as run:
        run.listen(told.append, Trimmed, AgentEnded)
        run.spin(seconds=60)
    assert told and all(400 < event.tokens < 500 and event.limit == 400 for event in told[:-1]), told
    assert told[-1].why != "error", told[-1]
