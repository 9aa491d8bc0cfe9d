"""What recorded runs teach, as chat JSONL: each decision as it was asked, pairs by a rule that is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.llm import Chat
from bt_runtime.plugins import open_suite

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>{% endfor %}<|assistant|>"


def recorded(folder: Path, script, seed: int = 7, template: str | None = None) -> ScriptedModel:
    """A run of `reactree` in the house, by a script."""
    task = open_suite("house").tasks(7, 1)[0]
    world = open_suite("house").open()
    world.reset(task)
    model = ScriptedModel(script)
    model.chat_template = Chat.of(template) if template else None
    with Run(
        load("reactree"), inputs={"goal": task.goal}, world=world, task=task, model=model, clock=Manual(),
        journal=folder, seed=seed,
    ) as run:  # fmt: skip
        run.spin(ticks=500)
    return model


def oracle() -> list[str]:
    suite = open_suite("house")
    task = suite.tasks(7, 1)[0]
    world = suite.open()
    world.reset(task)
    said = []
    for sentence in suite.oracle(world, task):
        said.append(f"Act: {sentence}")
        world.act(sentence)
    return [said[0], "Think: so far so good", *said[1:], "Act: done"]


def replanned():
    """Plans twice: the first is refused, since it is the goal over again."""
    plans = iter(["sequence:\n- look around\n- look around\n", "sequence:\n- look around\n- finish the rest\n"])
    acts = iter([line for line in oracle() if line.startswith("Act:")])

    def script(ask):
        goal = re.findall(r"Your task is to: (.*)\n", ask.prompt)[-1]
        if goal == "look around":
            return "Act: done"
        if goal == "finish the rest":
            return next(acts)
        return next(plans) if ask.kind == "write" else "Expand:"

    return script


def exported(tmp_path: Path, *words: str) -> list[dict]:
    out = tmp_path / "out.jsonl"
    assert main(["runs", "export", *words, "--runs", str(tmp_path / "runs"), "-o", str(out)]) == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_sft_says_every_decision_as_an_assistant(tmp_path, capsys):
    """What was decided stands in turns of the assistant, word for word, and nothing else does."""
    script = oracle()
    recorded(tmp_path / "runs", script)
    (row,) = exported(tmp_path, "--format", "sft")
    roles = [m["role"] for m in row["messages"]]
    assert roles[:2] == ["system", "user"] and roles[2:] == ["assistant", "user"] * (len(script) - 1) + ["assistant"]
    assert [m["content"] for m in row["messages"] if m["role"] == "assistant"] == script
    assert row["messages"][1]["content"].startswith("Your task is to: ")
    assert "1 rows of 1 runs; they hold prompts" in capsys.readouterr().err


def test_a_templates_text_is_what_the_model_would_be_asked(tmp_path, monkeypatch):
    """With a model, each span begins where a prompt of the run ended, and takes in the end of its turn."""
    script = oracle()
    model = recorded(tmp_path / "runs", script, template=TEMPLATE)
    chat = Chat.of(TEMPLATE, ("<|over|>", "<|assistant|>", "<|user|>", "<|system|>"))
    monkeypatch.setattr("bt_lab.cli.lessons._form", lambda given: (chat, True))
    (row,) = exported(tmp_path, "--format", "sft", "--model", "x.gguf")
    assert [row["text"][a:b] for a, b in row["spans"]] == [f"{line}<|over|>" for line in script]
    assert {row["text"][:start] for start, _ in row["spans"]} <= {ask.prompt for ask in model.asked}


def test_a_base_models_text_is_the_document(tmp_path, monkeypatch):
    """A file without a template is given the prompts as they are."""
    model = recorded(tmp_path / "runs", oracle())
    monkeypatch.setattr("bt_lab.cli.lessons._form", lambda given: (None, True))
    (row,) = exported(tmp_path, "--format", "sft", "--model", "x.gguf")
    assert {row["text"][:start] for start, _ in row["spans"]} <= {ask.prompt for ask in model.asked}


def test_only_runs_that_succeeded_unless_asked(tmp_path, capsys):
    """A run that did not meet its goal is left out, and there with --failed; --agent names nodes."""
    recorded(tmp_path / "runs", oracle())
    recorded(tmp_path / "runs", ["Act: done"], seed=8)
    assert len(exported(tmp_path, "--format", "sft")) == 1
    assert len(exported(tmp_path, "--format", "sft", "--failed")) == 2
    assert len(exported(tmp_path, "--format", "sft", "--agent", "agent")) == 1
    assert main(["runs", "export", "--format", "sft", "--agent", "nobody", "--runs", str(tmp_path / "runs")]) != 0
    assert "there is nothing for sft in 2 runs" in capsys.readouterr().err


def test_a_refused_plan_is_rejected_for_the_one_in_its_place(tmp_path):
    """The prompt is the one that the refused plan answered; in `sft` it is told, and never said by the assistant."""
    recorded(tmp_path / "runs", replanned())
    (pair,) = exported(tmp_path, "--format", "preference")
    assert pair["why"] == "refused"
    assert pair["chosen"][0]["content"] == "Expand:\nsequence:\n- look around\n- finish the rest"
    assert pair["rejected"][0]["content"] == "Expand:\nsequence:\n- look around\n- look around"
    assert [m["role"] for m in pair["prompt"]] == ["system", "user"]
    assert not pair["prompt"][1]["content"].endswith("Expand:")
    rows = exported(tmp_path, "--format", "sft")
    said = [m["content"] for row in rows for m in row["messages"] if m["role"] == "assistant"]
    assert not [text for text in said if text.count("look around") == 2]
    assert any("cannot be used" in m["content"] for row in rows for m in row["messages"] if m["role"] == "user")


def test_the_same_prompt_in_a_good_and_a_bad_run_is_a_pair(tmp_path):
    """Where runs part, what the good one said is chosen; what good ones said as well is not rejected."""
    good = oracle()
    recorded(tmp_path / "runs", good)
    recorded(tmp_path / "runs", [good[0], "Act: done"], seed=8)
    (pair,) = exported(tmp_path, "--format", "preference")
    assert pair["why"] == "outcome"
    assert (pair["chosen"][0]["content"], pair["rejected"][0]["content"]) == (good[1], "Act: done")
    assert [m["role"] for m in pair["prompt"]] == ["system", "user", "assistant", "user"]


def test_both_load_in_datasets(tmp_path):
    """The files are read by `datasets` as they are, all rows with the same columns."""
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    recorded(tmp_path / "runs", replanned())
    recorded(tmp_path / "runs", oracle(), seed=8)
    for what, columns in (("sft", {"messages"}), ("preference", {"prompt", "chosen", "rejected"})):
        rows = exported(tmp_path, "--format", what)
        file = tmp_path / f"{what}.jsonl"
        (tmp_path / "out.jsonl").rename(file)
        read = datasets.load_dataset(
            "json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"), keep_in_memory=True
        )
        assert len(read) == len(rows) and columns <= {*read.column_names}
        assert read[0] == rows[0]


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
INPUTS = {"triage": {"message": "I was charged twice"}, "helpdesk": {"message": "I was charged twice"}}
TREES = ["react", "lota", "reactree", "adapt", "plan_and_execute", "try_again", "reflexion", "triage", "helpdesk"]


def anyhow():
    """A script for any strategy: plans in their form, thoughts, the acts of the oracle, else the first option."""
    acts = iter([line for line in oracle() if line.startswith("Act:")])

    def script(ask):
        if ask.kind == "write":
            if ask.prompt.endswith("# Think:"):
                return " two steps.\nStep 1: look around\nStep 2: do the rest\nExecution Order: (Step 1 AND Step 2)\n"
            return "sequence:\n- look around\n- do the rest\n" if ask.prompt.endswith("Expand:\n") else " 3"
        if ask.kind == "choose" and "Act:" not in ask.prompt.rpartition("\n")[2]:
            return ask.options[0]
        return next(acts, "Act: done")

    return script


@pytest.mark.parametrize("tree", TREES)
def test_rows_teach_the_form_in_which_each_strategy_asks(tmp_path, monkeypatch, tree):
    """The text up to an answer is a prompt of the run; what the runtime began for the model is learnt as its words."""
    markers = ("<|im_start|>", "<|im_end|>")
    suite = open_suite("house")
    task, world = suite.tasks(7, 1)[0], suite.open()
    world.reset(task)
    model = ScriptedModel(anyhow())
    model.chat_template = chat = Chat.of(CHATML, markers)
    given = INPUTS.get(tree, {"goal": task.goal})
    loaded, runs = load(tree), tmp_path / "runs"
    with Run(loaded, inputs=given, world=world, task=task, model=model, clock=Manual(), journal=runs) as run:
        run.spin(ticks=500)
    monkeypatch.setattr("bt_lab.cli.lessons._form", lambda given: (chat, True))
    rows = exported(tmp_path, "--format", "sft", "--model", "x.gguf", "--failed")
    asked = {ask.prompt for ask in model.asked}
    spans = [(row["text"], *span) for row in rows for span in row["spans"]]
    assert spans
    for text, start, end in spans:
        assert text.startswith("<|im_start|>system\nYou ") and text[:start].endswith("<|im_start|>assistant\n")
        begun = [p[start:] for p in asked if p.startswith(text[:start]) and text.startswith(p) and len(p) < end]
        assert "" in begun or any(re.fullmatch(r"[^\n]+[:?]|Expand:\n|# Think:", words) for words in begun), text[:end]
        assert text[start:end].endswith("<|im_end|>")
