"""`btr view prompt`: what a model would be asked, by its template and in its tokens, and what it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import StoryStep
from bt_runtime.cli.color import BLUE

pytest.importorskip("jinja2", reason="needs the llm extra")

from bt_runtime import Run, load
from bt_runtime.llm import Chat
from bt_runtime.llm.server.prompt_parts import spoken
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience
from bt_runtime.tree import context
from tests.cli.conftest import Btr
from tests.support.room import Room

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
HOUSE = ("view", "prompt", "react", "--env", "house")


def test_a_memory_is_waited_for_however_long_it_takes(btr: Btr, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers beside the ticks, of which a run without a model makes thousands a second: any number of them."""
    monkeypatch.setattr(context, "POLL", 0.0)
    with Episodes.open(here / "m.sqlite") as memory:
        memory.add([Experience("wash a cup", "The cup was washed.", "success", kind="x", verdict=True)])
    real = Episodes.ask

    class Slow:
        def __init__(self, job: object) -> None:
            self.job, self.left = job, 1000

        def poll(self) -> object:
            self.left -= 1
            return None if self.left > 0 else self.job.poll()  # type: ignore[attr-defined]

        def cancel(self, reason: str) -> None:
            self.job.cancel(reason)  # type: ignore[attr-defined]

    monkeypatch.setattr(Episodes, "ask", lambda self, *args, **how: Slow(real(self, *args, **how)))
    said = btr(*HOUSE, "--memory", here / "m.sqlite")
    assert said.code == 0, said.err
    assert "Example 1\nThe cup was washed." in said.out


def test_what_is_shown_goes_into_no_memory_and_no_journal(btr: Btr, here: Path) -> None:
    with Episodes.open(here / "m.sqlite") as memory:
        memory.add([Experience("wash a cup", "It was washed.", "success", kind="x", verdict=True)])
    (here / "btr.yaml").write_text("version: 1\n")
    assert btr(*HOUSE, "--memory", here / "m.sqlite").code == 0
    with Episodes.open(here / "m.sqlite") as memory:
        assert len(memory.retrieve("wash a cup", k=5).taken) == 1
    assert not [*here.glob("runs/*")]


def test_a_tree_that_asks_no_model_says_so(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text("version: 1\ntree: t\nroot: {succeed: {}}\n")
    said = btr("view", "prompt", "t.yaml")
    assert said.code != 0 and "no node of this tree asked a model" in said.err


def test_a_models_own_template_and_tokens(btr: Btr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file: who says what in colours, and each token by its number; no weights are needed for it."""
    pytest.importorskip("llama_cpp", reason="needs the llm extra")
    gguf = pytest.importorskip("gguf", reason="test models are made with gguf")
    from tests.support.random_models import make_gguf

    class Writer(gguf.GGUFWriter):  # type: ignore[misc, name-defined]
        def add_tokenizer_model(self, name: str) -> None:
            self.add_chat_template(TEMPLATE)
            super().add_tokenizer_model(name)

    with monkeypatch.context() as patch:
        patch.setattr(gguf, "GGUFWriter", Writer)
        file = make_gguf(tmp_path / "chat.gguf")
    said = btr(*HOUSE, "--model", file, "--color", "always")
    assert said.code == 0, said.err
    assert f"<|system|>\x1b[0m{BLUE}You reach a goal" in said.out and "<|assistant|>\x1b[0m" in said.out
    told = json.loads(btr(*HOUSE, "--model", file, "--json").out)
    assert [part["who"] for part in told["spoken"]] == ["template", "system", "template", "user", "template"]
    assert "".join(part["text"] for part in told["spoken"]) == told["prompt"]
    whole = "".join(token["text"] for token in told["tokens"])
    assert whole == told["prompt"] or whole.removeprefix(told["tokens"][0]["text"]) == told["prompt"]
    assert f"{len(told['tokens'])} tokens" in said.err
    plain = json.loads(btr(*HOUSE, "--model", f"{{file: {file}, chat: false}}", "--json").out)
    assert plain["prompt"].startswith("You reach") and "spoken" not in plain


def test_a_model_that_is_not_there_is_a_fault(btr: Btr, here: Path) -> None:
    said = btr(*HOUSE, "--model", "none.gguf")
    assert said.code != 0 and "there is no model file" in said.err


@pytest.fixture
def recorded(here: Path) -> Path:
    model = ScriptedModel(["Think: hm", "Act: jump", "Act: done"])
    model.chat_template = Chat.of(TEMPLATE)
    with Run(load("react"), inputs={"goal": "get out"}, world=Room(), model=model, journal=here / "runs") as run:
        run.spin()
    return here


def test_any_question_of_a_recorded_run_is_shown_as_it_was_asked(btr: Btr, recorded: Path) -> None:
    """Counted from its first, or back from its last; the run is not made again."""
    first, last = (
        btr("view", "prompt", "last", "--step", 1, "--runs", "runs"),
        btr("view", "prompt", "last", "--step", -1, "--runs", "runs"),
    )
    assert (first.code, last.code) == (0, 0), first.err + last.err
    assert "Act: jump" not in first.out.partition("<|assistant|>")[0]
    assert "<|assistant|>Act: jump<|end|><|user|>Nothing new.<|end|>" in last.out
    assert last.out.rstrip().endswith("done\n    failure")
    assert "question 1 of 4, tick 1, /react" in first.err
    told = json.loads(btr("view", "prompt", "last", "--step", 2, "--json", "--runs", "runs").out)
    assert told["kind"] == "write" and told["prompt"].endswith("Think:")


@pytest.mark.parametrize("step", [0, 5, -5])
def test_a_question_that_was_not_asked_is_a_fault_that_says_how_many_there_are(
    btr: Btr, recorded: Path, step: int
) -> None:
    said = btr("view", "prompt", "last", "--step", step, "--runs", "runs")
    assert said.code != 0 and "1 to 4" in said.err


def test_a_conversation_is_taken_apart_into_who_said_what() -> None:
    chat = Chat.of(TEMPLATE)
    prompt = agent_prompt("S", "leave", "A room.", [StoryStep("think", "hm"), StoryStep("act", "go", "A door.")]).text(
        chat
    )
    said = spoken(prompt + "Act:", chat)
    assert "".join(part.text for part in said) == prompt + "Act:"
    assert [(part.who, part.text) for part in said if part.who != "template"] == [
        ("system", "S"), ("user", "Your task is to: leave\nA room."), ("model", "Think: hm"), ("user", "OK."),
        ("model", "Act: go"), ("user", "A door."), ("model", "Act:"),
    ]  # fmt: skip
