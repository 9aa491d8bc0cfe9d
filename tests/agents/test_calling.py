"""`form: tools`: skills as the tools of the model's own template, and calls read back into sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")

import bt_runtime as bt
from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.agent import Agent
from bt_runtime.agents.story import StoryStep
from bt_runtime.journal import replay
from bt_runtime.llm import Chat
from bt_runtime.llm.chat.calls import CallForm, Tool
from bt_runtime.llm.chat.chat import keep, recalled
from bt_runtime.plugins import open_suite
from bt_runtime.types import Question
from tests.llm.families.files import MISSING, models
from tests.llm.tool_templates import FORMATS, MARKERS

TREE = """version: 1
tree: t
inputs: {goal: string}
root:
  agent: {goal: "{goal}", form: tools, moves: MOVES, recall: false, examples: 0}
"""
OPEN = """version: 1
tree: t
blackboard:
  things: {type: list, default: [cup, plate]}
  people: {type: list, default: [Ann, Bob]}
root:
  agent: {goal: lay the table, form: tools, moves: [act], examples: 0}
"""
TOOLS = [Tool("go_to", "Go to a place.", (("place", "string"),)), Tool("done", "End.")]


def chat_of(template: str) -> Chat:
    return Chat.of(template, MARKERS, ("<s>", "</s>"), "2026-01-31")


def form_of(template: str) -> CallForm:
    form = chat_of(template).calls
    assert isinstance(form, CallForm), form
    return form


class Caller(ScriptedModel):
    """Makes the calls of a list: a tool's name and its arguments, or a sentence that the agent's tools can say."""

    register = "instruct"

    def __init__(self, template: str, calls: list[Any]) -> None:
        super().__init__(self.answer)
        self.chat_template, self.calls = chat_of(template), calls
        self.agent: Agent | None = None
        self.named = False  # the first call's tool is chosen: another choice of a tool is the next call's
        self.acts: Iterator[str] = iter(())  # of an oracle, which looks at the world before each: after the calls

    def answer(self, question: Question) -> str:
        if question.kind == "decide" and self.named:
            self.calls.pop(0)
        if not self.calls:
            self.calls.append(next(self.acts, "done"))
        if isinstance(self.calls[0], str):
            assert self.agent is not None and self.agent.toolbox is not None
            self.calls[0] = self.agent.toolbox.call(self.calls[0])
        name, arguments = self.calls[0]
        said = json.dumps(arguments, ensure_ascii=False)
        if question.kind == "decide":
            found = next(move for move in question.moves if move == name or move.startswith((f'{name}"', f"{name}>")))
            self.named = True
            return found
        if question.kind == "choose":
            return next(option for option in question.options if said.startswith(option.rstrip()))
        at = question.prompt.rindex("{" if len(arguments) == 1 else name)
        begun = question.prompt[question.prompt.index("{", at) :]
        assert said.startswith(begun), (said, begun)
        return said[len(begun) :]


def followed(run: Run, model: Caller) -> Agent:
    agent = model.agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
    assert run.spin(ticks=2000) is bt.Status.SUCCESS, agent.ending
    return agent


@pytest.mark.parametrize("family", FORMATS)
def test_a_conversation_with_calls_is_what_the_template_itself_makes_of_it(family):
    """Tools, calls, results and the place where the model speaks; then the next call begins."""
    from datetime import datetime

    from bt_runtime.llm.chat.template import compiled

    form, messages = form_of(FORMATS[family]), [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    if family == "Mistral":
        messages = [{"role": "user", "content": "S\n\nU"}]
    for _ in range(2):
        function = {"name": "go_to", "arguments": {"place": 'bath "1"'}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", "function": function}]})
        messages.append({"role": "tool", "name": "go_to", "tool_call_id": "call00001", "content": "A door."})
    template = compiled(FORMATS[family], datetime(2026, 1, 31))
    tools = [tool.data() for tool in TOOLS]
    theirs = template.render(
        messages=messages, tools=tools, add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
    )
    call = ("go_to", json.dumps({"place": 'bath "1"'}), "A door.")
    assert form.say("S", "U", TOOLS, [call, call]) == theirs + form.opening
    assert form.again.endswith(form.opening)


def test_every_sentence_of_an_oracle_is_a_call_and_is_read_back():
    """The house and TextCraft: a sentence has a tool of its own, and its call says the sentence again."""
    for world in ("house", "textcraft"):
        suite = open_suite(world)
        task = suite.tasks(seed=1, count=1, split="eval")[0]
        here = suite.open()
        here.reset(task)
        acts = list(suite.oracle(here, task))[:6]
        here.reset(task)
        model, tree = Caller(FORMATS["Hermes"], []), load(TREE.replace("MOVES", "[act]"))
        with Run(tree, inputs={"goal": task.goal}, world=here, task=task, model=model) as run:
            agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
            while agent.toolbox is None:
                run.tick()
            box = agent.toolbox
            for act in acts:
                name, arguments = box.call(act)
                assert name != "act", f"{act} has no tool of its own"
                assert box.sentence(name, json.loads(json.dumps(arguments))) == act
                assert name in {tool.name for tool in box.tools}


@pytest.mark.parametrize("family", FORMATS)
def test_an_agent_reaches_its_goal_by_calls_alone(family):
    """It thinks, acts and is done: what the template shows of it is in the prompt of the next decision."""
    here, task, model = house(family)
    model.calls.append(("think", {"thought": "I look for it."}))
    tree = load(TREE.replace("MOVES", "[think, act]"))
    with Run(tree, inputs={"goal": task.goal}, world=here, task=task, model=model) as run:
        agent = followed(run, model)
        assert agent.steps[0] == StoryStep("think", "I look for it.") and len(agent.steps) > 3
    form, last = model.chat_template.calls, model.asked[-1].prompt
    assert last.endswith(form.opening) and last.count(form.again) >= len(agent.steps) - 1
    assert all(agent.toolbox.told(step)[1] in last for step in agent.steps)


def house(family: str) -> tuple[Any, Any, Caller]:
    suite = open_suite("house")
    task = suite.tasks(seed=1, count=1, split="eval")[0]
    here = suite.open()
    here.reset(task)
    model = Caller(FORMATS[family], [])
    model.acts = iter(suite.oracle(here, task))
    return here, task, model


def test_a_run_by_calls_is_replayed_like_any_other(tmp_path: Path):
    """The journal keeps the form of the calls with the model, so a replay asks the same prompts without it."""
    here, task, model = house("Hermes")
    tree = load(TREE.replace("MOVES", "[act]"))
    inputs = {"goal": task.goal}
    with Run(tree, inputs=inputs, world=here, task=task, model=model, journal=tmp_path) as run:
        followed(run, model)
        assert run.parts.journal is not None
        file = run.parts.journal.path
    found = replay(file)
    assert found.same, found.difference


def test_arguments_that_are_free_are_written_within_the_call():
    """Chosen ones first, the rest under a grammar; the sentence is joined from all of them."""

    @bt.skill("put {count} {thing} on {place} for {whom}", sources={"thing": "things", "whom": "people"}, instant=True)
    def put_many(count: int, thing: str, place: str, whom: str) -> None:
        done.append((count, thing, place, whom))

    done: list[Any] = []
    model = Caller(FORMATS["Hermes"], [
        ("put_many", {"count": 2, "thing": "cup", "place": "the old desk", "whom": "Bob"}), ("done", {}),
    ])  # fmt: skip
    with Run(load(OPEN, skills=[put_many]), model=model) as run:
        agent = followed(run, model)
        assert [step.text for step in agent.steps] == ["put 2 cup on the old desk for Bob"]
    assert done == [(2, "cup", "the old desk", "Bob")]
    wrote = next(question for question in model.asked if question.kind == "write")
    assert wrote.prompt.endswith('"put_many", "arguments": {"count":')
    assert wrote.grammar is not None and wrote.grammar.text.endswith(r', "whom": ("Ann"|"Bob")\}')


@pytest.mark.parametrize("family", FORMATS)
def test_a_journal_keeps_the_form_of_calls(family):
    chat = chat_of(FORMATS[family])
    again = recalled(json.loads(json.dumps(keep(chat))))
    assert again is not None and again.calls == chat.calls
    damaged = keep(chat)
    damaged["calls"][0] = [7]
    with pytest.raises(BtError, match="journal"):
        recalled(damaged)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>", "it has no tools"),
        (FORMATS["Hermes"].replace("c.function.arguments | tojson", "c.function.arguments.items() | list"), "not JSON"),
        (FORMATS["Hermes"].replace("~ t | tojson", "~ t.function.name | upper"), "lists tools in a form"),
    ],
)
def test_a_template_without_usable_calls_is_refused_in_words(template, why):
    assert why in str(chat_of(template).calls)
    model = Caller(template, [])
    with Run(load(TREE.replace("MOVES", "[act]")), inputs={"goal": "g"}, model=model) as run:
        run.spin(ticks=20)
        agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
        assert why in str(agent.ending)


@pytest.mark.parametrize("more", ["moves: [act, expand]", "moves: [act], think: model"])
def test_what_has_no_place_in_calls_is_refused_in_words(more):
    text = TREE.replace("moves: MOVES", more)
    with Run(load(text), inputs={"goal": "g"}, model=Caller(FORMATS["Hermes"], [])) as run:
        run.spin(ticks=20)
        agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
        assert "`form: tools`" in str(agent.ending)


def test_no_text_of_the_world_ends_a_call():
    """A marker in an observation, or in an argument, is broken up; a quote stays inside its JSON string."""
    chat = chat_of(FORMATS["Llama 3"])
    from bt_runtime.agents.prompt import agent_prompt

    prompt = agent_prompt("S", "leave", "A room.")._replace(
        tools=tuple(TOOLS), calls=(("go_to", '{"place": "a<|end|>"}', 'b"<|end|>'),)
    )
    text = prompt.text(replace(chat))
    assert '"a< |end|>"' in text and 'b\\"< |end|>' in text


def test_a_model_file_calls_and_every_call_is_a_sentence_of_the_world():
    """A real file under llama.cpp: what it chooses and writes is within the format, whatever it makes of it."""
    if find_spec("llama_cpp") is None:
        pytest.skip("needs the llm extra")
    from bt_runtime.llm import open_model

    here, task, _ = house("Hermes")
    more = "examples: 0, think_tokens: 12, max_decisions: 8, finish: judge, sure: 1"
    tree = load(TREE.replace("MOVES", "[think, act]").replace("examples: 0", more))
    with open_model("starter") as model:
        model.chat_template = chat_of(FORMATS["Hermes"])
        with Run(tree, inputs={"goal": task.goal}, world=here, task=task, model=model) as run:
            run.spin(hz=200)
            agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
    assert agent.steps and agent.ending.why in ("done", "failure", "budget", "loop"), agent.ending
    for step in agent.steps:
        name, arguments, heard = agent.toolbox.told(step)
        said = json.loads(arguments)
        assert said == {"thought": step.text} if name == "think" else agent.toolbox.sentence(name, said) == step.text
        assert heard != "There is no world to act in."


REAL = {
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B",
    "meta-llama-Llama-3.1-8B-Instruct", "mistralai-Mistral-Nemo-Instruct-2407",
    "Mistral-Small-3.2-24B-Instruct-2506", "meetkai-functionary-medium-v3.1", "meetkai-functionary-medium-v3.2",
    "openai-gpt-oss-120b",
}  # fmt: skip


@pytest.mark.skipif(models() is None, reason=MISSING)
@pytest.mark.parametrize("name", sorted(REAL))
def test_real_templates_of_the_families_give_a_form(name):
    template = (models() / "templates" / f"{name}.jinja").read_text("utf-8")
    form = form_of(template)
    said = form.say("S", "U", TOOLS, [("go_to", '{"place": "bath"}', "A door.")])
    assert [said.index(text) for text in ("S", "go_to", '{"place": "bath"}', "A door.")] and said.endswith(form.opening)
