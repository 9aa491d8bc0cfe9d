"""A plan is held against the properties before it is grafted: what may break one is refused in words."""

from __future__ import annotations

import os
import time
from random import Random

import pytest
import yaml

from bt_runtime import Faults, Run, load
from bt_runtime.agents import ModelNode, ScriptedModel
from bt_runtime.events import PlanRefused
from bt_runtime.run.monitoring.grafts import PropertyPast
from bt_runtime.run.monitoring.watch import Watch
from bt_runtime.testing import RUNNING, SUCCESS
from bt_runtime.tree.node import path_of
from bt_runtime.tree.request import Refused
from tests.support.random_trees import SKILLS, Maker

GRAFTS = int(os.environ.get("GRAFTS", "120"))
CHANGES = int(os.environ.get("CHANGES", "400"))
HEAD = """\
version: 1
tree: t
blackboard:
  holding: {type: boolean, default: false}
properties:
  soft: {never: holding and grab is running}
  few: {at_most: {times: 1, of: lift is running}}
root:
  reactive_sequence:
    - fallback:
        - agent: {goal: tidy, name: a}
        - sequence:
"""


def large(random: Random, nodes: int) -> str:
    """A tree of so many nodes, with an agent in it."""
    leaves = ("go: {}", "go: {}", "grab: {}", "lift: {}", "set: {done: 1}")
    rows = (f"            - sequence: [{', '.join(random.choices(leaves, k=9))}]\n" for _ in range(nodes // 10))
    return HEAD + "".join(rows)


def at_work(run: Run) -> ModelNode:
    """The agent, as it stands when it decides."""
    agent = next(node for node in run.nodes() if isinstance(node, ModelNode))
    above = agent
    while above is not None:
        above.status = RUNNING
        above = above.parent
    return agent


def graft(random: Random, breaks: bool) -> str:
    """Twenty nodes; in one place the hand is full, and what must not be done with a full hand comes then, or later."""
    steps = [{random.choice(("go", "go", "is_near")): {}} for _ in range(17)]
    full, empty, act = {"set": {"holding": True}}, {"set": {"holding": False}}, {"grab": {}}
    at = random.randrange(17)
    steps[at:at] = [full, act, empty] if breaks else [full, empty, act]
    return yaml.safe_dump({"sequence": steps})


def test_of_random_grafts_those_that_break_a_property_are_refused_and_no_others() -> None:
    random = Random(5)
    with Run(load(large(random, 500), skills=SKILLS)) as run:
        agent, watch = at_work(run), run.parts.extensions[Watch]
        past = watch.whole.past
        watch.grafts.seconds = 10.0  # of a machine that may be slow
        spent = []
        for number in range(GRAFTS):
            breaks = number % 2 == 1
            spec = run.parts.engine.growth.checked("/t/0/a", graft(random, breaks))
            began = time.thread_time()
            answers = watch.grafts.check(agent, spec, past)
            spent.append(time.thread_time() - began)
            assert [answer.property.name for answer in answers if answer.story] == (["soft"] if breaks else [])
        print(f"{GRAFTS} grafts, median {sorted(spent)[GRAFTS // 2]:.4f} s, most {max(spent):.4f} s")


def test_what_the_run_has_done_before_counts() -> None:
    """One more `lift` breaks `at_most` only when there was one already."""
    with Run(load(large(Random(1), 20), skills=SKILLS)) as run:
        agent, watch = at_work(run), run.parts.extensions[Watch]
        watch.grafts.seconds = 10.0
        spec = run.parts.engine.growth.checked("/t/0/a", "sequence: [lift: {}]")
        few = next(monitor for monitor in watch.monitors if monitor.property.name == "few")
        fresh = watch.whole.past
        assert [answer.story for answer in watch.grafts.check(agent, spec, fresh)] == ["", ""]
        left = few.left
        for bits in (1, 0):  # it ran, and ended
            left = frozenset(after for each in left for after, _ in few.automaton.after(each, bits))
        [story] = [a.story for a in watch.grafts.check(agent, spec, {**fresh, "few": PropertyPast(left)}) if a.story]
        assert "lift" in story


AGENT = """\
version: 1
tree: t
blackboard: {holding: {type: boolean, default: true}}
properties:
  soft: {about: A full hand grabs nothing., never: holding and grab is running%s}
root:
  agent: {goal: get out, moves: [expand], leaf: react}
"""


@pytest.fixture
def decide():
    """A run whose agent answers by a script; its skills succeed."""
    runs: list[Run] = []

    def begin(text: str, script: list[str]) -> Run:
        model = ScriptedModel(script)
        run = Run(load(text, skills=SKILLS), services={"model": model, "scripted_skills": Played()}, recall=False)
        run.parts.extensions[Watch].grafts.seconds = 10.0
        run.model = model
        runs.append(run)
        return run

    yield begin
    for run in runs:
        run.close()


class Played:
    """Skills that take a tick."""

    def get(self, name: str):
        from bt_runtime import Skill

        class One(Skill):
            def start(self, **params):
                self.left = 1

            def poll(self):
                self.left -= 1
                return RUNNING if self.left >= 0 else SUCCESS

        return One


def test_a_model_reads_why_its_plan_is_refused_and_another_plan_is_grafted(decide) -> None:
    plans = ["Expand:\nsequence: [{act: go}, {act: grab}]", "Expand:\nsequence: [{act: go}, {act: lift}]", "Act: done"]
    run = decide(AGENT % "", plans)
    refused: list[PlanRefused] = []
    run.listen(refused.append, PlanRefused)
    assert run.spin(ticks=200) is SUCCESS
    assert [each.codes for each in refused] == [["property"]]
    read = run.model.asked[-1].prompt if len(run.model.asked) > 2 else "".join(q.prompt for q in run.model.asked)
    assert "it may break soft: never `holding and grab is running`" in read and "grab (" in read
    assert run.parts.extensions[Watch].violations == {}


def test_a_plan_that_is_not_decided_in_its_time_is_refused_or_allowed_as_the_author_chose(decide) -> None:
    plans = ["Expand:\nsequence: [{act: go}, {act: lift}]", "Expand:\nsequence: [{act: go}]", "Act: done"]
    run = decide(AGENT % ", undecided: allow", plans)
    run.parts.extensions[Watch].grafts.seconds = -1.0
    told: list[str] = []
    run.listen(lambda line: told.append(line.text), type(run._unheard[0]) if run._unheard else _line())
    run.spin(ticks=200)
    assert any("is allowed" in text for text in told)


def _line() -> type:
    from bt_runtime.events import Line

    return Line


def test_the_present_of_a_run_is_what_a_graft_begins_from() -> None:
    """From the state of a run the exploration goes on as the engine does: with random trees, half way through."""
    from tests.support.beside_engine import Beside

    checked = 0
    for seed in range(400):
        random = Random(seed)
        try:
            tree = load(Maker(random, timed=False).text(), skills=SKILLS)
        except Exception:
            continue
        beside = Beside(tree, random)
        try:
            for _ in range(3):
                assert not beside.tick()
            if beside.trial.status is not RUNNING:
                continue
            beside.reload()
            for _ in range(4):
                differs = beside.tick()
                assert not differs, f"seed {seed}: {differs}"
                checked += 1
                if beside.trial.status is not RUNNING:
                    break
        finally:
            beside.close()
    assert checked > 10


def test_a_changed_tree_goes_on_as_the_model_of_the_change_says() -> None:
    """From the state before a node is replaced, or another put beside it, the model does what the engine does after."""
    from bt_runtime.tree.nodes.parent import Parent
    from tests.support.beside_engine import Beside

    checked = {"insert": 0, "replace": 0}
    for seed in range(CHANGES):
        random = Random(seed)
        maker = Maker(random, timed=False)
        try:
            beside = Beside(load(maker.text(), skills=SKILLS), random)
        except Faults:
            continue
        how = random.choice(("insert", "replace"))
        text = yaml.safe_dump(Maker(random, timed=False, size=3).node(2))
        try:
            if any(beside.tick() or beside.trial.status is not RUNNING for _ in range(3)):
                continue
            nodes = [n for n in beside.trial.run.nodes() if how == "replace" or (isinstance(n, Parent) and not n.fixed)]
            if not nodes:
                continue
            node = random.choice(nodes)
            beside.change(path_of(node), text, random.randrange(len(node.children) + 1), how == "insert")
            for tick in range(4):
                differs = beside.tick()
                assert not differs, f"seed {seed}, {how} at {path_of(node)}, tick {tick + 1}: {differs}\n{text}"
                checked[how] += 1
                if beside.trial.status is not RUNNING:
                    break
        except (Faults, Refused):
            continue  # what cannot stand there
        finally:
            beside.close()
    assert min(checked.values()) > CHANGES // 80, checked


def test_a_plan_below_a_plan_is_held_against_the_properties_as_well() -> None:
    """An agent that another agent's plan has brought expands in its turn: what breaks a property is refused."""
    text = """\
version: 1
tree: t
properties:
  none: {never: lift is running}
root: {agent: {goal: tidy, moves: [expand, act], leaf: reactree}}
"""
    outer = 'Expand:\nsequence:\n- "find the cup"\n- "wash the cup"\n'
    for act, ended in (("lift: {}", True), ("grab: {}", False)):
        model = ScriptedModel([outer, f"Expand:\nsequence:\n- go: {{}}\n- {act}\n", "Act: failure", "Act: failure"])
        refused: list[PlanRefused] = []
        with Run(load(text, skills=SKILLS), model=model) as run:
            run.listen(refused.append, PlanRefused)
            run.spin(ticks=60)
            crashes = run.parts.context.crashes
        assert (not crashes, any("property" in each.codes for each in refused), len(model.asked) > 2) == (
            True,
            ended,
            True,
        )
