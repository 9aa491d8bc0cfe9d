"""Rows of `sft --model` for shipped trees that an oracle can act in: what stands before an answer is the prompt that
the runtime asked, letter for letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_lab.distill import chats, journals
from bt_lab.run.oracle_model import OracleModel
from bt_runtime import Run, load
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.journal.folder import journals as journals_in
from bt_runtime.llm import Chat
from bt_runtime.plugins import open_suite

TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{{ '<|im_start|>assistant\n' }}"
)
EVERYWHERE = ("react", "reactree", "try_again", "reflexion")
SHORT = ("lota", "adapt", "asserted")  # the oracle's longer ways in the house leave their budgets, or their plans
RUNS = [(name, "textcraft") for name in (*EVERYWHERE, *SHORT)] + [(name, "house") for name in EVERYWHERE]
BEGUN = ("Act:", "Next time:")  # of an agent with one move, and of `reflect`: the beginning of the answer


@pytest.mark.parametrize(("name", "world"), RUNS)
def test_before_each_answer_stands_the_prompt_that_was_asked(tmp_path: Path, name: str, world: str) -> None:
    suite = open_suite(world)
    task, here = suite.tasks(3, 1)[0], suite.open()
    here.reset(task)
    chat = Chat.of(TEMPLATE, ("<|im_start|>", "<|im_end|>"))
    model = OracleModel(world, here, task, None)
    model.chat_template = chat
    tree = load(name)
    inputs = {"goal": task.goal}
    with Run(tree, inputs=inputs, world=here, task=task, model=model, clock=Manual(), journal=tmp_path) as run:
        run.spin(ticks=2_000)
    asked = {question.prompt for question in model.asked}
    lives = [life for path in journals_in(tmp_path) for life in journals.lives(Recording(path))]
    rows = list(chats.taught(lives, chat, as_text=True))
    assert rows, "nothing of it is taught"
    for row in rows:
        for start, end in row["spans"]:
            before, answer = row["text"][:start], row["text"][start:end]
            assert before in asked or any(f"{before}{begun}" in asked for begun in BEGUN)
            assert answer.endswith("<|im_end|>") and answer.startswith(BEGUN)
