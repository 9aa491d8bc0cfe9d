"""Nothing in a prompt contradicts what its node can do: every strategy, in every world, in both registers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Budget, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.prompt import system_text
from bt_runtime.agents.prompt_holes import tried
from bt_runtime.agents.story import ACT, EXPAND, OPENINGS
from bt_runtime.journal import replay
from bt_runtime.language.sentence import Sentence
from bt_runtime.llm.local.header import ModelHeader
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Introduced, Question

STRATEGIES = (
    "react", "reactree", "reactree_verified", "adapt", "plan_and_execute", "try_again", "reflexion", "lota", "lats",
    "adaplanner",
)  # fmt: skip
WORLDS = ("house", "textcraft", "hotpotqa", "webshop", "thor")
REGISTERS = ("starter", "instruct")
CONTROLS = ("sequence", "fallback", "parallel")
STEPS = " ok\nStep 1: a first thing\nStep 2: a second thing\nExecution Order: (Step 1 AND Step 2)"
TAUGHT = {("lota", "Think:"), ("lats", "Think:")}  # said by the starter's prompts, whose bytes stay, to who cannot
EXAMPLES = "Earlier tasks, and how they went:\n"


def opened(suite: str) -> Any:
    return open_world(suite, through="scene") if suite == "thor" else open_world(suite)


@cache
def asked(strategy: str, suite: str, register: str) -> tuple[Question, ...]:
    """What is asked first of each node: an agent expands where it may, and fails, so that it is planned."""

    def script(question: Question) -> str:
        if question.kind == "decide":
            return EXPAND if EXPAND in question.moves else f"{ACT} failure"
        if question.kind == "choose":
            return next((o for o in question.options if o.strip() in ("failure", "no")), question.options[0])
        return STEPS if question.prompt.endswith("# Think:") else "sequence:\n- a first thing\n- a second thing"

    task, world = open_suite(suite).tasks(7, 1)[0], opened(suite)
    world.reset(task)
    model = ScriptedModel(script)
    try:
        with Run(
            load(strategy), inputs={"goal": task.goal}, world=world, task=task, model=model,
            services={"prompts": register}, budget=Budget(decisions=6),
        ) as run:  # fmt: skip
            run.spin(seconds=120)
    finally:
        world.close()
    assert model.asked
    return tuple(model.asked)


def parts(prompt: str) -> tuple[str, str]:
    """The system text, and the examples."""
    system, _, rest = prompt.partition(EXAMPLES)
    if not rest:
        return re.split(r"^Your (?:task is|primary goal is) to:", system, maxsplit=1, flags=re.MULTILINE)[0], ""
    return system, rest.partition("Now the task at hand.")[0]


def forms(system: str) -> list[Sentence]:
    """What may be done, as the prompt lists it."""
    lines = re.findall(r"^- (.+\{.+\}.*|inventory)$", system, re.MULTILINE)
    return [Sentence(line.partition(" (needs: ")[0]) for line in lines]


every = pytest.mark.parametrize("suite", WORLDS), pytest.mark.parametrize("strategy", STRATEGIES)


@pytest.mark.parametrize("register", REGISTERS)
@every[0]
@every[1]
def test_the_moves_that_are_named_are_those_that_can_be_made(strategy, suite, register):
    for question in asked(strategy, suite, register):
        if question.kind == "write" or "failure" not in "".join(question.alternatives):
            continue
        system, examples = parts(question.prompt)
        can = set(question.moves) or {ACT}
        for opening in OPENINGS:
            said = re.search(rf"^{opening}", system, re.MULTILINE) is not None
            if (strategy, opening) not in TAUGHT or register != "starter":
                assert said == (opening in can), (opening, system)
            if register == "instruct":
                assert re.search(rf"^{opening}", examples, re.MULTILINE) is None or opening in can


@every[0]
@every[1]
def test_what_can_be_done_has_a_form_that_is_named_and_examples_do_nothing_else(strategy, suite):
    for question in asked(strategy, suite, "instruct"):
        system, examples = parts(question.prompt)
        if question.kind != "write" and "failure" in "".join(question.alternatives):
            known = forms(system)
            assert known
            recalls = f"{ACT} recall" in system
            for said in (o.strip() for o in question.moves.get(ACT, question.options) if not o.endswith(" ")):
                ends = said in ("done", "failure") or (recalls and said.startswith("recall location of "))
                assert ends or any(form.parse(said) is not None for form in known), said
            for said in re.findall(rf"^{ACT} (.+)$", examples, re.MULTILINE):
                ends = said in ("done", "failure") or (recalls and said.startswith("recall location of "))
                assert ends or any(form.parse(said) is not None for form in known), said


@every[0]
@every[1]
def test_plans_that_are_shown_are_accepted_and_every_form_of_them_is_named(strategy, suite):
    accepts = pytest.importorskip("bt_runtime.llm.decoding.grammar").accepts
    pytest.importorskip("llguidance")
    for question in asked(strategy, suite, "instruct"):
        if question.grammar is None or "start" not in question.grammar.text:
            continue
        system, examples = parts(question.prompt)
        numbered = question.prompt.endswith("# Think:")
        for text in (system, examples):
            pattern = r"^Step 1: .*\n(?:.+\n)*?Execution Order:.*$" if numbered else r"^sequence:\n(?:[ -].*\n)+"
            for plan in re.findall(pattern, text, re.MULTILINE):
                assert accepts(question.grammar, f" ok\n{plan}" if numbered else plan), plan
        assert re.search(r"^(?:Step 1: |sequence:)", system, re.MULTILINE)
        words = ("AND", "OR", "Brackets", "Step 1:") if numbered else CONTROLS
        assert all(word in system for word in words)
        assert ("`act: `" in system) == ("SENTENCE" in question.grammar.text)


@pytest.mark.parametrize("suite", WORLDS)
def test_every_world_introduces_itself_in_a_few_lines(suite):
    world = opened(suite)
    assert isinstance(world, Introduced)
    manual = world.manual()
    assert 2 <= len(manual["rules"]) <= 6 and manual["skills"]
    world.close()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("suite", ["house", "textcraft"])
def test_a_stranger_is_shown_a_whole_example_without_any_memory(strategy, suite):
    first = asked(strategy, suite, "instruct")[0]
    count = len(re.findall(r"^Example \d+$", first.prompt, re.MULTILINE))
    lota = strategy in ("lota", "lats")
    assert count == ({"house": 5, "textcraft": 4}[suite] if lota else 2 if strategy.startswith("reactree") else 1)
    assert "Earlier tasks" not in asked(strategy, suite, "starter")[0].prompt


@pytest.mark.parametrize("suite", ["house", "textcraft"])
@pytest.mark.parametrize("strategy", ["react", "reactree", "adapt", "plan_and_execute"])
def test_the_instruct_prompts_are_compact(strategy, suite):
    for question in asked(strategy, suite, "instruct"):
        assert len(parts(question.prompt)[0]) < 2600  # characters; about 600 tokens


def test_a_planner_is_told_what_was_tried_and_that_it_failed():
    planner = next(q for q in asked("adapt", "house", "instruct") if q.prompt.endswith("# Think:"))
    assert "\nIt was tried and failed.\nNothing was done.\n# Think:" in planner.prompt
    assert tried.__doc__ and "It was tried" not in asked("adapt", "house", "starter")[1].prompt


def test_an_executor_is_told_when_to_give_up():
    first = asked("adapt", "house", "instruct")[0].prompt
    assert "Act: failure when two different ways have led nowhere" in first


def test_a_projects_own_prompt_goes_before_both_registers(tmp_path, monkeypatch):
    folder = tmp_path / "trees" / "prompts"
    folder.mkdir(parents=True)
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (folder / "verify.md").write_text("Mine.\n")
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    assert system_text("verify", {}, "instruct") == system_text("verify", {}, "starter") == "Mine.\n"
    (folder / "instruct").mkdir()
    (folder / "instruct" / "verify.md").write_text("Mine, for strangers.\n")
    assert system_text("verify", {}, "instruct") == "Mine, for strangers.\n"
    assert system_text("verify", {}, "starter") == "Mine.\n"


def test_a_model_says_by_its_file_in_which_register_it_was_taught():
    about = {"general.architecture": "llama"}

    def register(**more: str) -> str:
        keys = {f"distill.{name}": said for name, said in more.items()}
        return ModelHeader(Path("x.gguf"), 0, {**about, **keys}, 0, 0).register

    assert register() == "instruct"
    assert register(seed="1") == register(prompts="../..") == "starter"
    assert register(seed="1", prompts="instruct") == "instruct"


class Free(ScriptedModel):
    constrains = False


def test_a_model_that_knows_no_grammars_is_asked_for_a_plan_without_and_read_as_it_writes():
    task, world = open_suite("house").tasks(7, 1)[0], open_world("house")
    world.reset(task)
    lines = ["I need both.\n\n**Step 1:** find a plate\n\n**Step 2:** put it down\n", "Act: done", "Act: done"]
    model = Free(lines)
    with Run(load("plan_and_execute"), inputs={"goal": task.goal}, world=world, task=task, model=model) as run:
        run.spin(seconds=120)
    assert model.asked[0].grammar is None and "\n\n" not in model.asked[0].stop
    parts = [re.findall(r"^Your task is to: (.+)$", question.prompt, re.MULTILINE)[-1] for question in model.asked[1:]]
    assert parts == ["find a plate", "put it down"]


@pytest.mark.parametrize("register", REGISTERS)
def test_a_recorded_run_is_played_again_in_the_register_that_it_had(register, tmp_path):
    task, world = open_suite("textcraft").tasks(7, 1)[0], open_world("textcraft")
    world.reset(task)
    model = ScriptedModel(["Act: failure", STEPS, "Act: done", "Act: done"])
    with Run(
        load("adapt"), inputs={"goal": task.goal}, world=world, task=task, model=model, journal=tmp_path,
        services={"prompts": register},
    ) as run:  # fmt: skip
        assert run.spin(seconds=120) is SUCCESS
    assert ("About this world:" in model.asked[0].prompt) == (register == "instruct")
    assert replay(next(tmp_path.glob("*.btr"))).same
