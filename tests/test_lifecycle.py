"""A run opens last and closes always: whatever is wrong, no model, journal, lock, thread or file is left behind."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError, Faults, Run, load
from bt_runtime.cli import main
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recording
from bt_runtime.journal.store import JournalStore
from bt_runtime.types import Model, Question

TREE = "version: 1\ntree: t\ninputs: {room: {type: string}}\nroot: {set: {done: true}}\n"
AGENT = "version: 1\ntree: t\nroot: {agent: find a cup}\n"


class Named(Model):
    """Stands for a model that was opened by its name."""

    def __init__(self, name: str, breaks: str = "") -> None:
        self.name, self.breaks, self.closes = name, breaks, 0

    def ask(self, question: Question) -> Any:
        raise BtError("nothing is asked here")

    def close(self) -> None:
        self.closes += 1
        if self.breaks:
            raise OSError(self.breaks)


@pytest.fixture
def models(monkeypatch):
    """Every model that was opened, by name; one called `none` cannot be, `bad` does not close."""
    opened: dict[str, Named] = {}

    def open_model(name: str) -> Named:
        if name == "none":
            raise BtError("there is no model none")
        opened[name] = Named(name, "the worker is gone" if name.startswith("bad") else "")
        return opened[name]

    monkeypatch.setattr("bt_runtime.llm.open_model", open_model)
    return opened


@pytest.fixture
def left(tmp_path):
    """What is there now and was not at the test's beginning: threads, open files, files in the folder."""
    threads, descriptors = set(threading.enumerate()), _descriptors()

    def found() -> list[str]:
        new = [t.name for t in threading.enumerate() if t not in threads]
        return [*new, *sorted(_descriptors() - descriptors), *(p.name for p in tmp_path.rglob("*") if p.is_file())]

    return found


def _descriptors() -> set[str]:
    links = set()
    for each in Path("/proc/self/fd").iterdir():
        try:
            links.add(str(each.readlink()))
        except OSError:
            continue  # that of the listing itself
    return {link for link in links if link.startswith("/") and not link.startswith("/dev")}


# Opening ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [{}, {"room": 3}, {"room": "a", "rom": "b"}])
def test_wrong_inputs_open_no_model_no_memory_and_no_journal(inputs, models, left, tmp_path):
    with pytest.raises(Faults):
        Run(load(TREE), inputs=inputs, model="a", memory=tmp_path / "m.db", journal=tmp_path / "runs")
    assert not models and left() == []


def test_an_unknown_policy_of_the_journal_opens_nothing(models, left, tmp_path):
    with pytest.raises(BtError, match="policy"):
        Run(load(AGENT), model="a", journal=tmp_path / "runs", journal_policy="often")  # type: ignore[arg-type]
    assert not models and left() == []


def test_nodes_that_cannot_be_made_open_nothing(models, left, tmp_path):
    text = "version: 1\ntree: t\nroot: {py: {class: 'py_trees.behaviours:Nothing'}}\n"
    with pytest.raises(BtError):
        Run(load(text), model="a", memory=tmp_path / "m.db", journal=tmp_path / "runs")
    assert not models and left() == []


def test_a_second_model_that_cannot_be_opened_closes_the_first_and_its_error_is_the_one_that_is_raised(models, left):
    with pytest.raises(BtError, match="there is no model none") as caught:
        Run(load(AGENT), model={"default": "bad", "planner": "none"})
    assert models["bad"].closes == 1 and left() == []
    assert "the worker is gone" in "".join(caught.value.__notes__)


def test_a_memory_that_cannot_be_opened_closes_the_models(models, left, tmp_path):
    pytest.importorskip("faiss")
    (tmp_path / "m.db").mkdir()
    with pytest.raises(Exception, match=r"m\.db"):
        Run(load(AGENT), model="a", memory=tmp_path / "m.db")
    assert models["a"].closes == 1 and left() == []


def test_a_folder_of_journals_that_cannot_be_made_closes_models_and_leaves_no_file(models, left, tmp_path):
    (tmp_path / "runs").write_text("a file stands here")
    with pytest.raises(BtError, match="runs"):
        Run(load(AGENT), model="a", journal=tmp_path / "runs" / "mine")
    assert models["a"].closes == 1 and left() == ["runs"]


@pytest.mark.parametrize("where", [(JournalStore, "_create"), (JournalStore, "_open"), (sqlite3, "connect")])
def test_a_journal_that_cannot_be_begun_leaves_no_lock_no_thread_and_no_file(
    where, models, left, tmp_path, monkeypatch
):
    def full(*args, **kwargs):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(*where, full)
        with pytest.raises(BtError, match="database or disk is full"):
            Run(load(AGENT), model="a", journal=tmp_path / "runs")
    assert models["a"].closes == 1 and left() == []
    with Run(load(AGENT), model="b", journal=tmp_path / "runs"):  # and another run may have the folder
        pass


def test_a_lock_that_cannot_be_made_is_told_in_words(models, left, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bt_runtime.journal.lock._taken", full)
    with pytest.raises(BtError, match="cannot be locked: No space left on device"):
        Run(load(AGENT), model="a", journal=tmp_path / "runs")
    assert models["a"].closes == 1 and left() == []


def test_btr_run_opens_no_world_for_a_tree_with_wrong_inputs(tmp_path, monkeypatch, capsys):
    opened: list[str] = []
    monkeypatch.setattr("bt_envs.textcraft.suite.TextCraftSuite.open", lambda *a, **k: opened.append("world"))
    (tmp_path / "t.yaml").write_text(TREE)
    assert main(["run", str(tmp_path / "t.yaml"), "--env", "textcraft"]) != 0
    assert "BT020" in capsys.readouterr().err and not opened


def test_a_model_that_does_not_close_keeps_neither_the_journal_nor_another_model_open(models, left, tmp_path):
    run = Run(load(AGENT), model={"default": "a", "planner": "bad", "critic": "c"}, journal=tmp_path)
    path = run.parts.journal.path
    with pytest.raises(OSError, match="the worker is gone"):
        run.close()
    assert {name: model.closes for name, model in models.items()} == {"a": 1, "bad": 1, "c": 1}
    assert left() == [path.name]
    assert not Recording(path).damage
    run.close()
    assert models["bad"].closes == 1


def test_of_several_things_that_break_while_closing_the_first_is_raised_and_the_others_are_noted_on_it(
    models, tmp_path
):
    run = Run(load(AGENT), model={"default": "bad one", "planner": "bad two"}, journal=tmp_path)
    run.parts.engine.shutdown = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError) as caught:
        run.close()
    assert len(caught.value.__notes__) == 2
    assert {name: model.closes for name, model in models.items()} == {"bad one": 1, "bad two": 1}


def test_what_went_wrong_in_the_block_is_not_hidden_by_what_breaks_while_closing(models):
    with pytest.raises(KeyError, match="mine") as caught, Run(load(AGENT), model="bad"):
        raise KeyError("mine")
    assert models["bad"].closes == 1 and "the worker is gone" in caught.value.__notes__[0]


def test_a_journal_whose_first_lines_no_disk_takes_leaves_no_lock_no_thread_and_no_file(
    models, left, tmp_path, monkeypatch
):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(JournalStore, "sync", full)
    monkeypatch.setattr("bt_runtime.journal.record.SETTLED", 0.2)
    with pytest.raises(BtError, match="No space left on device"):
        Run(load(AGENT), model="a", journal=tmp_path / "runs")
    assert models["a"].closes == 1 and left() == []


def test_a_full_disk_at_the_end_leaves_no_lock_and_no_thread(models, left, tmp_path, monkeypatch):
    run = Run(load(AGENT), model="a", journal=tmp_path)
    run.listen(lambda line: None, Line, Notice)

    def full(*args, **kwargs):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(JournalStore, "commit", full)
    monkeypatch.setattr(JournalStore, "make_room", lambda store: None)
    run.halt("enough")
    run.close()
    assert models["a"].closes == 1
    assert not [name for name in left() if name.endswith(".lock") or name.startswith(("bt-", "/"))]
