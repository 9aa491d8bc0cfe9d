"""Lesson shards as they are, runs and rows, become the conversations that `btr lab finetune` teaches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")

from bt_lab.distill import chats
from bt_lab.distill.documents import Document
from bt_lab.distill.finetune import prompts
from bt_lab.distill.rows import rows_of
from bt_runtime import BtError
from bt_runtime.agents.growing import UNUSABLE
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import StoryStep
from bt_runtime.llm import Chat

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
STEPS = [
    StoryStep("act", "go to table 1", "Nothing is there."),
    StoryStep("think", "The cup may be in the sink."),
    StoryStep("act", "look", ""),
    StoryStep("expand", "sequence:\n- nonsense", f"{UNUSABLE}the part is empty"),
    StoryStep("act", "go to sink 1", "You see a cup.\nIt is red."),
]
SYSTEM, GOAL, FIRST = "You act.", "find the cup", "You see a sink."


def lesson(*taught: int) -> Document:
    """A story with a last answer, `Act: done`, of which these steps are learnt besides."""
    text = agent_prompt(SYSTEM, GOAL, FIRST).text()
    spans = []
    for number, step in enumerate(STEPS):
        said = f"{step._replace(observation='').written().removesuffix(chr(10) + 'OK.')}\n"
        if number in taught:
            spans.append((len(text), len(text) + len(said)))
        text += f"{step.written()}\n"
    spans.append((len(text), len(text) + len("Act: done\n")))
    return Document("house react", f"{text}Act: done\n", tuple(spans))


def chat() -> Chat:
    found = Chat.of(CHATML, ("<|im_start|>", "<|im_end|>"), ("", "<|im_end|>"))
    assert found is not None
    return found


@pytest.mark.parametrize("taught", [(), (0, 1, 2, 4), (1,), (2,), (4,), (0, 4)])
def test_a_lesson_reads_as_the_runtime_asks_whatever_of_it_is_learnt(tmp_path: Path, taught: tuple[int, ...]) -> None:
    """A step that is not to be learnt, a refused plan too, is a turn of the model as at run time, and has no loss."""
    file = tmp_path / "lessons" / "house-1.jsonl"
    file.parent.mkdir()
    document = lesson(*taught)
    file.write_text(json.dumps(document._asdict()) + "\n")
    (row,) = rows_of(file.parent)
    shown = chats.rendered(row["messages"], chat())
    asked = agent_prompt(SYSTEM, GOAL, FIRST, STEPS).text(chat())
    assert shown["text"] == f"{asked}Act: done<|im_end|>"
    learnt = [shown["text"][start:end].removesuffix("<|im_end|>") for start, end in shown["spans"]]
    said = [step.turn()[0] for step in STEPS]
    assert learnt == [*(said[number] for number in taught), "Act: done"]


def test_a_judged_story_stays_one_question(tmp_path: Path) -> None:
    """Without a task of its own, a text that tells of acts is no conversation."""
    text = "Judge.\n\nGoal: find the cup\nAct: go to sink 1\nYou see a cup.\nIs it reached?\n"
    file = tmp_path / "judged.jsonl"
    document = Document("house judged", f"{text}yes\n", ((len(text), len(text) + 4),))
    file.write_text(json.dumps(document._asdict()) + "\n")
    (row,) = rows_of(file)
    assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant"]


def test_the_register_is_what_most_were_asked_in(tmp_path: Path) -> None:
    """Lessons are asked in the starter's prompts, rows in those of instruct models unless they say so; a damaged line
    is told with its number."""
    shard, rows, bad = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    shard.write_text((json.dumps(lesson()._asdict()) + "\n") * 2)
    said = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    rows.write_text(json.dumps({"messages": said}) + "\n")
    bad.write_text(rows.read_text() + json.dumps({"text": "x", "learn": [[3, 9]]}) + "\n")
    assert prompts([*rows_of(shard), *rows_of(rows)]) == "starter"
    assert prompts([*rows_of(rows)]) == "instruct"
    with pytest.raises(BtError, match=r"c\.jsonl:2"):
        list(rows_of(bad))
