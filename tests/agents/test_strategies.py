"""Each strategy is a short tree, and reaches the goal in every world when its model says what an oracle would."""

from __future__ import annotations

from typing import Any

import pytest

from bt_runtime import Budget, Run, load
from bt_runtime.language import project, source
from bt_runtime.language.source import YamlList, YamlMap
from bt_runtime.llm import open_model, starter
from bt_runtime.plugins import open_suite
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Question
from tests.support.oracles import acting, expanding, judged, parts_of, planning, taught
from tests.support.room import Room

STRATEGIES = (
    "react",
    "reactree",
    "reactree_verified",
    "adapt",
    "plan_and_execute",
    "try_again",
    "reflexion",
    "lota",
    "lats",
    "adaplanner",
)

rule = pytest.mark.rule


def nodes_of(tree: str) -> int:
    """How many lines a strategy's nodes take."""
    path = project.find("trees", tree)
    assert path is not None
    text = path.read_text()
    return len(text[text.index("\nroot:") :].strip().splitlines()) - 1


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_a_file_of_at_most_25_lines_of_nodes_and_no_python_of_its_own(name):
    assert nodes_of(name) <= 25
    path = project.find("trees", name)
    assert path is not None
    todo, kinds = [source.read(path).root], set()
    while todo:
        node = todo.pop()
        if isinstance(node, YamlMap):
            kinds |= set(node.keys())
            todo += [v for _, v in node]
        elif isinstance(node, YamlList):
            todo += node.items
    assert "py" not in kinds


def spend_freely(run):
    """The oracles search for longer than the papers' budgets let an agent: what is shown here is the mechanics."""
    for node in run.nodes():
        if node.spec.kind.name == "agent":
            node.spec.values["max_steps"] = 1000
            node.spec.values["max_decisions"] = 2000


@pytest.mark.parametrize("name", ["react", "try_again", "reflexion", "lota"])
def test_strategies_without_a_plan_reach_the_goal(name, errand, start):
    script = acting(errand.sentences)
    if name == "lota":
        script(None)  # it does not think
    run = start(name, judged(script), world=errand.world, goal=errand.task.goal)
    spend_freely(run)
    assert run.spin(seconds=120) is SUCCESS
    verdict = errand.world.verdict()
    assert verdict.met == verdict.total > 0


@pytest.mark.parametrize("name", ["plan_and_execute", "adapt", "reactree"])
def test_strategies_that_plan_graft_the_parts_and_reach_the_goal(name, errand, start):
    _, task, world, sentences = errand
    script = expanding(sentences) if name == "reactree" else planning(sentences, task.goal)
    run = start(name, script, world=world, goal=task.goal)
    assert run.spin(seconds=120) is SUCCESS
    verdict = world.verdict()
    assert verdict.met == verdict.total > 0
    parts = len(parts_of(sentences))
    (graft,) = [what["grafted"] for event, what in run.told if event == "expand"]
    assert graft.startswith("sequence:") and graft.count("- tree:") == parts
    ended = [what["why"] for event, what in run.told if event == "end"]
    assert ended.count("done") == parts
    assert ended.count("failure") == (1 if name == "adapt" else 0)


@pytest.mark.parametrize("errand", ["textcraft", "house", "hotpotqa", "webshop", "alfworld"], indirect=True)
def test_adaplanner_asserts_each_part_and_mends_what_is_not_so(errand, start):
    """The first part is said to be done before it is: its assertion fails, and it is mended where it stands."""
    _, task, world, sentences = errand
    script, asserted = planning(sentences, ""), []

    def answer(ask):
        if ask.prompt.endswith("Is the goal met?"):
            asserted.append(ask)
            return "no" if len(asserted) == 1 else "yes"
        if not asserted and ask.kind != "write":
            return "Act: done"
        return script(ask)

    run = start("adaplanner", answer, world=world, goal=task.goal)
    assert run.spin(seconds=120) is SUCCESS
    verdict = world.verdict()
    assert verdict.met == verdict.total > 0
    assert len(asserted) == len(parts_of(sentences)) + 1
    assert sum(event == "expand" for event, _ in run.told) == 1  # nothing was planned anew


@pytest.mark.parametrize("remembers", [False, True])
def test_reactree_grows_the_teachers_tree_in_the_house_and_reaches_the_goal(remembers, start):
    suite = open_suite("house")
    for task in suite.tasks(11, 4):
        world = suite.open()
        world.reset(task)
        run = start("reactree", taught, world=world, goal=task.goal)
        if remembers:
            run.parts.resources.remember(run.parts.context)
        assert run.spin(ticks=5000) is SUCCESS
        verdict = world.verdict()
        assert verdict.met == verdict.total > 0
        assert any(event == "expand" for event, _ in run.told)


@pytest.mark.parametrize("told", [True, False])
def test_an_agent_keeps_house_rules_or_finds_them_out(told, start):
    """Heating, cooling and cleaning are skills like any other, also when they are refused at first."""
    suite = open_suite("house")
    for task in suite.tasks(4, 3, kinds=["heat", "cool", "clean"], rules=2):
        world = suite.open(feedback="detailed")
        world.reset(task)
        run = start("react", acting(suite.oracle(world, task, told=told)), world=world, goal=task.goal)
        assert run.spin(ticks=5000) is SUCCESS
        assert world.verdict() == (1, 1)


def test_adapt_stops_planning_at_its_depth_limit(start):
    def give_up(ask):
        if ask.kind == "write":
            number = ask.prompt.count("x") % 7
            part = f"{number}{len(run.told)}"
            return f" split.\nStep 1: first half of part {part}\nStep 2: second half of part {part}"
        return "Act: failure"

    run = start("adapt", give_up, goal="do the impossible", max_depth=3)
    assert run.spin(ticks=2000) is FAILURE
    ends = [what for event, what in run.told if event == "end"]
    assert [e["why"] for e in ends].count("failure") == 3  # the root, its first part, that part's first part
    assert len([1 for event, _ in run.told if event == "expand"]) == 2


def test_reflexion_shows_the_lessons_of_earlier_trials_and_puts_the_world_back(start):
    suite = open_suite("textcraft")
    task = suite.tasks(3, 1)[0]
    world = suite.open()
    world.reset(task)
    first = next(s for s in world.skills() if s.startswith("get "))
    prompts = []

    def script(ask):
        prompts.append(ask.prompt)
        if ask.kind == "write":
            return f"fetch the parts first, lesson {len(prompts)}"
        return "Act: failure" if world.last_fetch else "Act: " + first

    world.last_fetch = False
    act = world.act

    def watched(sentence):
        world.last_fetch = True
        return act(sentence)

    restore = world.restore

    def put_back(snapshot):
        world.last_fetch = False
        restore(snapshot)

    world.act, world.restore = watched, put_back
    run = start("reflexion", script, world=world, goal=task.goal, trials=3)
    assert run.spin(ticks=500) is FAILURE
    assert len(run.blackboard["lessons"]) == 2
    last = [p for p in prompts if "From earlier attempts" in p][-1]
    assert last.count("fetch the parts first") >= 2
    assert world.act("inventory").text.count(first.split()[-1]) == 1, "nobody tries again: what was reached stays"


def heard_by_the_starter(strategy: str, decisions: int) -> list[Question]:
    """What it is asked in a task of the house, and how."""
    suite, asked = open_suite("house"), []
    world = suite.open()
    world.reset(task := suite.tasks(3, 1, "eval")[0])
    with open_model(str(starter())) as model:
        ask = model.ask

        def noted(question: Question) -> Any:
            asked.append(question._replace(by="", wake=None))
            return ask(question)

        model.ask = noted  # type: ignore[method-assign]
        with Run(
            load(strategy), inputs={"goal": task.goal}, world=world, task=task, model=model, seed=5,
            budget=Budget(decisions=decisions),
        ) as run:  # fmt: skip
            run.spin(seconds=120)
    return asked


@pytest.mark.parametrize("strategy", ["try_again", "reflexion"])
def test_the_first_attempt_is_react_decision_for_decision_and_only_those_after_it_are_sampled(strategy, start):
    alone = heard_by_the_starter("react", 12)
    tried = heard_by_the_starter(strategy, 12)
    assert len(alone) >= 12
    assert tried[: len(alone)] == alone  # each prompt holds all answers before it
    asked = []

    def script(ask: Question) -> str:
        asked.append(ask)
        return (
            "look around"
            if ask.kind == "write"
            else ("Act: failure" if "look around" in ask.prompt[-25:] else "Think:")
        )

    run = start(strategy, script, goal="do the impossible", world=Room(), trials=3)
    assert run.spin(ticks=500) is FAILURE
    thoughts = [ask.temperature for ask in asked if ask.kind == "write" and ask.prompt.endswith("\nThink:")]
    assert thoughts == ([0, 0.7, 0.7] if strategy == "try_again" else [0, 0.35, 0.7])
    agents = [node.budget for node in run.nodes() if node.spec.kind.name == "agent"]
    assert {budget.steps for budget in agents} == {120}


@pytest.mark.parametrize("strategy", ["try_again", "reflexion"])
def test_what_the_last_attempt_has_reached_stays_though_it_is_denied(strategy, start):
    suite = open_suite("textcraft")
    world = suite.open()
    world.reset(task := suite.tasks(3, 1)[0])
    first, put_back = next(s for s in world.skills() if s.startswith("get ")), []
    restore = world.restore

    def script(ask: Question) -> str:
        if ask.kind == "choose":
            return " no"
        if ask.kind == "write":
            return " a stick is missing"
        return f"Act: {'done' if f'Act: {first}' in ask.prompt else first}"

    world.restore = lambda snapshot: (put_back.append(snapshot), restore(snapshot))
    run = start(strategy, script, world=world, goal=task.goal, trials=2)
    assert run.spin(ticks=500) is FAILURE
    assert len(put_back) == 1
    assert first.split()[-1] in world.act("inventory").text


@pytest.mark.parametrize(("allowed", "attempts"), [(12, 3), (8, 2), (7, 1)])
def test_nothing_is_put_back_for_an_attempt_that_could_not_come_to_its_end(allowed, attempts, start):
    """Each takes two decisions of the agent and two of the judge: as many must be left for the next one."""
    world, put_back = Room(), []
    world.snapshot, world.restore = lambda: b"before", put_back.append

    def script(ask: Question) -> str:
        if ask.kind == "choose":
            return " no"
        if ask.kind == "write":
            return " it is still inside"
        return f"Act: {'done' if 'Act: jump' in ask.prompt else 'jump'}"

    run = start("try_again", script, world=world, goal="get out", services={"budget": Budget(decisions=allowed)})
    assert run.spin(ticks=500) is FAILURE
    assert sum(what["why"] == "done" for event, what in run.told if event == "end") == attempts
    assert len(put_back) == attempts - 1


def test_the_next_attempt_of_try_again_is_told_what_the_judge_missed(start):
    """A denied `done` leaves what is missing for the next attempt; the first one is told nothing."""
    told = []

    def script(ask: Question) -> str:
        if ask.kind == "choose":
            return " no"
        if ask.kind == "write":
            return " door: none. Missing: open the door."
        told.append("Still to do: open the door." in ask.prompt)
        return f"Act: {'done' if ask.prompt.count('Act: jump') else 'jump'}"

    run = start("try_again", script, world=Room(), goal="get out", trials=2)
    assert run.spin(ticks=500) is FAILURE
    assert told == [False, False, True, True]


def test_reflexion_looks_at_what_is_said_to_be_done_and_reflects_on_what_the_judge_found_missing(start):
    """The paper's evaluator: `done` that is denied is an attempt that failed, and the world is put back."""
    suite = open_suite("textcraft")
    world = suite.open()
    world.reset(task := suite.tasks(3, 1)[0])
    first = next(s for s in world.skills() if s.startswith("get "))
    prompts, verdicts = [], ["no", "yes"]

    def script(ask):
        prompts.append(ask.prompt)
        if ask.kind == "choose":
            return f" {verdicts.pop(0)}"
        if ask.kind == "write":
            return " Missing: a stick." if ask.prompt.endswith("Think:") else " take a stick"
        return f"Act: {'done' if world.last_fetch else first}"

    world.last_fetch = False
    act, restore = world.act, world.restore

    def watched(sentence):
        world.last_fetch = True
        return act(sentence)

    def put_back(snapshot):
        world.last_fetch = False
        restore(snapshot)

    world.act, world.restore = watched, put_back
    run = start("reflexion", script, world=world, goal=task.goal)
    assert run.spin(ticks=500) is SUCCESS
    (reflects,) = [p for p in prompts if p.endswith("Next time:")]
    assert "This attempt ended: done; it is not met. Missing: a stick.\n" in reflects
    assert any("From earlier attempts at this task you know:\n- take a stick\n" in p for p in prompts)
    judges = [p for p in prompts if p.endswith("Is the goal met?")]
    assert [p.count(f"- {first}:") for p in judges] == [1, 1]  # what was rolled back is not judged again
