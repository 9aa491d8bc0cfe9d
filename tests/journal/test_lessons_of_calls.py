"""Runs with `form: tools`: what they teach, and that they go on and fork as others do."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jinja2")

from bt_lab.distill import called, chats, journals
from bt_lab.run.oracle_model import OracleModel
from bt_runtime import BtError, Run, load
from bt_runtime.agents.agent import Agent
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, resume
from bt_runtime.llm import Chat
from bt_runtime.llm.chat.calls import CallForm, Tool
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay.fork import Edits, fork
from bt_runtime.testing import SUCCESS
from tests.agents.test_calling import TREE, Caller, chat_of, house
from tests.llm.families.files import MISSING, models
from tests.llm.tool_templates import FORMATS
from tests.support.abandoned import abandoned

THINKER = FORMATS["Hermes"].replace("{{ '<|assistant|>\\n' }}", "{{ '<|assistant|>\\n<think>\\n\\n</think>\\n\\n' }}")
FAMILIES = {**FORMATS, "a closed thought": THINKER}
PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"


def way() -> tuple[Any, Any, list[str]]:
    """A house before its task, the task, and the acts of the oracle."""
    here, task, _ = house("Hermes")
    acts = []
    for act in open_suite("house").oracle(here, task):
        acts.append(act)
        here.act(act)
    here.reset(task)
    return here, task, acts


def recorded(folder: Path, family: str, acts: int | None = None, *calls: Any) -> tuple[Path, Caller, Agent]:
    """A run by these calls and then an oracle's, or so many of them. Gives its journal, model and agent."""
    here, task, known = way()
    model = Caller(FAMILIES[family], [*calls])
    model.acts = iter(known[:acts])
    tree, inputs = load(TREE.replace("MOVES", "[think, act]")), {"goal": task.goal}
    with Run(tree, inputs=inputs, world=here, task=task, model=model, clock=Manual(), journal=folder) as run:
        model.agent = agent_of(run)
        run.spin(ticks=2000)
        assert run.parts.journal is not None and run.parts.journal.path is not None
        return run.parts.journal.path, model, model.agent


def agent_of(run: Run) -> Agent:
    return next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))


def taught(path: Path, chat: Chat | None, as_text: bool) -> list[dict[str, Any]]:
    return list(chats.taught(journals.lives(Recording(path)), chat, as_text))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_by_calls_teaches_each_call_behind_the_prompt_that_was_asked(tmp_path: Path, family: str) -> None:
    """As messages: tools, calls and results; as text of the same model: what it was asked, and whole calls."""
    path, model, agent = recorded(tmp_path, family, None, ("think", {"thought": "I look for it."}))
    assert agent.toolbox is not None and str(agent.ending) == "done"
    (row,) = taught(path, None, as_text=False)
    assert [tool["function"]["name"] for tool in row["tools"]] == [tool.name for tool in agent.toolbox.tools]
    assert [tool["function"]["description"] for tool in row["tools"]] == [tool.about for tool in agent.toolbox.tools]
    said = [m["tool_calls"][0]["function"] for m in row["messages"] if m["role"] == "assistant"]
    steps = [agent.toolbox.told(step) for step in agent.steps]
    assert [(call["name"], json.dumps(call["arguments"])) for call in said] == [*(s[:2] for s in steps), ("done", "{}")]
    assert [m["content"] for m in row["messages"] if m["role"] == "tool"] == [step[2] for step in steps]
    (text,) = taught(path, chat_of(FAMILIES[family]), as_text=True)
    spans = [text["text"][start:end] for start, end in text["spans"]]
    asked = {question.prompt for question in model.asked}
    assert text["text"][: text["spans"][-1][0]] in asked and len(spans) == len(said)
    assert family == "a closed thought" or all(text["text"][:start] in asked for start, _ in text["spans"])
    assert all(
        json.dumps(call["arguments"], ensure_ascii=False) in span for call, span in zip(said, spans, strict=True)
    )


def test_calls_of_one_family_teach_another_and_are_refused_for_a_model_without_tools(tmp_path: Path) -> None:
    path, _, _ = recorded(tmp_path, "gpt-oss")
    (row,) = taught(path, chat_of(FORMATS["Llama 3"]), as_text=True)
    assert all(row["text"][end - 7 : end] == "<|end|>" for _, end in row["spans"]) and '"parameters": {' in row["text"]
    for chat in (chat_of(PLAIN), None):
        with pytest.raises(BtError, match="`form: tools`"):
            taught(path, chat, as_text=True)
    assert list(journals.told([path])) == []  # documents are for models without tools


def test_a_call_that_ended_well_is_preferred_to_one_that_did_not(tmp_path: Path, capsys: Any) -> None:
    recorded(tmp_path / "runs", "Mistral")
    recorded(tmp_path / "runs", "Mistral", 0, ("failure", {}))
    out = tmp_path / "pairs.jsonl"
    assert main(["runs", "export", "--format", "preference", "--runs", str(tmp_path / "runs"), "-o", str(out)]) == 0
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert row["rejected"][0]["tool_calls"][0]["function"] == {"name": "failure", "arguments": {}}
    assert row["chosen"][0]["tool_calls"][0]["function"]["name"] == "go_to" and row["tools"]


def test_a_run_by_calls_is_resumed_and_forked(tmp_path: Path) -> None:
    """Killed after two acts it goes on to its goal; a fork before a decision asks the recorded prompt again."""
    here, task, acts = way()
    model = Caller(FORMATS["Hermes"], [])
    model.acts = iter(acts)
    inputs, tree = {"goal": task.goal}, load(TREE.replace("MOVES", "[act]"))
    run = Run(tree, inputs=inputs, world=here, task=task, model=model, clock=Manual(), journal=tmp_path)
    agent = model.agent = agent_of(run)
    while len(getattr(agent, "steps", ())) < 2:
        run.tick()
    path, before = abandoned(run), len(model.asked)
    here.reset(task)
    later = Caller(FORMATS["Hermes"], [])
    later.acts = iter(acts[2:])
    with resume(path, world=here, model=later, changed=True, clock=Manual()) as going:
        later.agent = agent_of(going)
        assert going.spin(ticks=2000) is SUCCESS and later.agent.toolbox is not None
        assert [step.text for step in later.agent.steps] == acts
    here.reset(task)
    other = Caller(FORMATS["Hermes"], [])
    with fork(path, f"decision:{before + 1}", Edits(model=other), world=here, clock=Manual()) as forked:
        other.agent = agent_of(forked)
        forked.spin(ticks=500)
        assert other.asked[0].prompt == later.asked[0].prompt
        assert [step.text for step in other.agent.steps] == acts[: len(other.agent.steps)]


def test_an_oracle_in_the_place_of_a_model_that_calls_is_refused_in_words(tmp_path: Path) -> None:
    here, task, _ = house("Hermes")
    model = OracleModel("house", here, task, Caller(FORMATS["Hermes"], []))
    with Run(
        load(TREE.replace("MOVES", "[act]")), inputs={"goal": task.goal}, world=here, task=task, model=model
    ) as run:
        run.spin(ticks=50)
        assert "an oracle acts in sentences" in str(agent_of(run).ending)


TOOLS = (
    Tool("think", "Say it.", (("thought", "string"),)),
    Tool("go_to", "Go to a place.", (("place", "string"), ("times", "integer"))),
    Tool("done", "End."),
)
MADE = [("think", '{"thought": "a b"}', "OK."), ("go_to", '{"place": "x 1", "times": 2}', 'A "door".')]


@pytest.mark.skipif(models() is None, reason=MISSING)
def test_conversations_by_real_templates_are_read_back() -> None:
    read = 0
    for file in sorted((models() / "templates").glob("*.jinja")):
        try:
            form = chat_of(file.read_text("utf-8")).calls
        except BtError:
            continue
        for number in range(3) if isinstance(form, CallForm) else ():
            told = called.prompted(form, form.say("Sys.\nX", "Do it.\n\nNow.", TOOLS, MADE[:number]))
            found = called.read(form, f"{told}done{form.between('done')}\n")
            assert found is not None, file.name
            assert found[:2] == ("Sys.\nX", "Do it.\n\nNow.") and len(found.tools) == 3, file.name
            assert found.calls == (*MADE[:number], ("done", "{}", "")), file.name
            read += 1
    assert read > 30


def test_rows_of_calls_are_cut_between_calls_for_training(tmp_path: Path) -> None:
    """Every call is in one piece, and each piece lists the tools."""
    pytest.importorskip("torch", reason="needs the distill extra")
    from bt_lab.distill import finetune

    path, _, agent = recorded(tmp_path, "Hermes")
    chat, letters = chat_of(FORMATS["Hermes"]), SimpleNamespace(count=lambda texts: [len(text) for text in texts])
    rows = taught(path, None, as_text=False)
    pieces = list(finetune.rendered(rows, chat, letters, 4000))
    spans = [piece.text[start:end] for piece in pieces for start, end in piece.learn]
    assert len(pieces) > 1 and len(spans) == len(agent.steps) + 1
    assert all('"name": "go_to", "description"' in piece.text and len(piece.text) < 4400 for piece in pieces)
