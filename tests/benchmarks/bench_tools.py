"""`form: tools` beside sentences: tokens, and whether each call says a sentence: `make bench ONLY=tools`.

Real templates and vocabularies of llama.cpp's sources. The steps are the oracle's first twelve of a house.
FAMILIES=Qwen2.5,gpt-oss looks at these only.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import Row

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.agent import Agent
from bt_runtime.agents.story import StoryStep
from bt_runtime.llm import Chat
from bt_runtime.llm.chat.calls import CallForm
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.llama import Weights
from bt_runtime.llm.settings import NAMED_FILES, SMOLLM2
from bt_runtime.plugins import open_suite
from tests.llm.families.files import FAMILIES, MISSING, make, models

TREE = """version: 1
tree: t
inputs: {goal: string}
root:
  agent: {goal: "{goal}", form: FORM, moves: [think, act], examples: 0}
"""
STEPS = 12


class Shown(ScriptedModel):
    register = "instruct"


def rows() -> Iterator[Row]:
    yield from smollm2()
    if models() is None:
        yield Row("tools", MISSING, None, "")
        return
    named = os.environ.get("FAMILIES", "")
    with tempfile.TemporaryDirectory() as folder:
        for name in named.split(",") if named else FAMILIES:
            file = make(Path(folder) / "one.gguf", FAMILIES[name])
            header = read_header(file)
            chat = Chat.of(header.chat_template or "", header.markers, header.ends, "2026-01-31")
            if isinstance(chat.calls, CallForm):
                yield measured(name, chat, Weights(str(file), vocabulary_only=True))
            else:
                yield Row(f"{name}: refused", chat.calls, None, "")


def smollm2() -> Iterator[Row]:
    try:
        header = read_header(NAMED_FILES[SMOLLM2]())
    except Exception as missing:
        yield Row("SmolLM2", f"not here: {missing}", None, "")
        return
    chat = Chat.of(header.chat_template or "", header.markers, header.ends)
    yield Row("SmolLM2: form: tools", f"refused: {chat.calls}", None, "")


def measured(name: str, chat: Chat, weights: Any) -> Row:
    fixed, story = dict[str, int](), dict[str, int]()
    read = 0
    for form in ("sentences", "tools"):
        agent, steps = told(chat, form)
        empty = len(weights.tokens(agent.text(), begin=True, special=True))
        agent.steps = steps
        fixed[form], story[form] = empty, len(weights.tokens(agent.text(), begin=True, special=True)) - empty
        if agent.toolbox is not None:
            for step in steps:
                call, arguments, _ = agent.toolbox.told(step)
                read += agent.toolbox.sentence(call, json.loads(arguments)) == step.text
    figures = f"fixed part {fixed['sentences']} → {fixed['tools']} tokens, a step {story['sentences'] / STEPS:.1f} → "
    figures += f"{story['tools'] / STEPS:.1f}; read back {read}/{STEPS}"
    return Row(
        f"{name}: tokens of {STEPS} steps, tools", figures, story["tools"] / story["sentences"], "× of sentences"
    )


def told(chat: Chat, form: str) -> tuple[Agent, list[StoryStep]]:
    """An agent that has begun, and the oracle's first steps."""
    suite = open_suite("house")
    task = suite.tasks(seed=1, count=1, split="eval")[0]
    here = suite.open()
    here.reset(task)
    steps = list[StoryStep]()
    for act in suite.oracle(here, task):
        if len(steps) == STEPS or act == "done":
            break
        steps.append(StoryStep("act", act, here.act(act).text))
    here.reset(task)
    model = Shown(["Think: hm"] * 9)
    model.chat_template = chat
    run = bt.Run(bt.load(TREE.replace("FORM", form)), inputs={"goal": task.goal}, world=here, task=task, model=model)
    with run:
        agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
        run.tick()
        agent.text()
    return agent, steps
