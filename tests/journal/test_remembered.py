"""What an agent lived through is in the memory once, wherever between its end and the disk the process died."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, resume
from bt_runtime.memory import Notebook
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Store
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay.resume import finished
from tests.support.abandoned import abandoned


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it is done."""


def ended(folder: Path, until: Any) -> Path:
    """A run whose root has ended; `until` is called before its memory is told."""
    suite = open_suite("textcraft")
    task = suite.tasks(3, 1)[0]
    world = suite.open()
    world.reset(task)
    model = ScriptedModel([f"Act: {sentence}" for sentence in suite.oracle(world, task)] + ["Act: done"] * 9)
    world.reset(task)
    run = Run(
        load("react"), inputs={"goal": task.goal}, world=world, task=task, model=model, clock=Manual(),
        memory=folder / "memory.sqlite", journal=folder / "runs",
    )  # fmt: skip
    close = run.parts.resources.notebook.close
    run.parts.resources.notebook.close = lambda verdict: until(close, verdict)
    with pytest.raises(Killed):
        run.spin()
    path = abandoned(run)
    run.parts.resources.close()
    return path


def before(close: Any, verdict: Any) -> None:
    raise Killed


def after(close: Any, verdict: Any) -> None:
    close(verdict)
    raise Killed


def told(folder: Path) -> list[tuple[Any, ...]]:
    with closing(Store(folder / "memory.sqlite", readonly=True)) as memory:
        return [(e.run, e.task, e.place, e.end, e.verdict) for e in memory.each()]


@pytest.mark.parametrize("until, there", [(before, 0), (after, 1)])
def test_a_run_killed_between_its_end_and_its_memory_tells_it_once(tmp_path, until, there, capsys):
    """`btr runs resume` alone, although the model was a script: nothing is asked any more; again changes nothing."""
    path = ended(tmp_path, until)
    assert len(told(tmp_path)) == there and not finished(Recording(path))
    for _ in range(3):
        assert main(["runs", "resume", str(path)]) == 0
        assert "it had ended" in capsys.readouterr().out
        (found,) = told(tmp_path)
        assert found[0] == path.stem and found[1] and found[4] is True
    assert finished(Recording(path))


def test_what_a_run_tells_anew_stands_in_place_of_what_it_told(tmp_path):
    """A verdict that has changed, or an agent whose story goes on, doubles nothing; other runs are left alone."""
    from bt_runtime.memory import Episodes

    with Episodes.open(tmp_path / "memory.sqlite") as memory:
        for run, verdict, again in (("r", False, False), ("other", False, False), ("r", True, True), ("r", True, True)):
            book = Notebook(memory, run=run, task="t", again=again)
            book.note("/a", "find apple", "Act: done" if verdict else "Act:", "success")
            book.close(verdict)
        kept = [(e.run, e.text, e.verdict) for e in memory.store.each()]
    assert sorted(kept) == [("other", "Act:", False), ("r", "Act: done", True)]


def test_a_memory_knows_itself_however_it_grows_and_wherever_it_lies(tmp_path):
    from bt_runtime.memory import Episodes

    with Episodes.open(tmp_path / "a.sqlite") as memory:
        first = memory.identity()
        memory.add([Experience("find apple", "Act: done", "success")])
        assert memory.identity() == first != ""
    moved = (tmp_path / "a.sqlite").rename(tmp_path / "b.sqlite")
    with closing(Store(moved, readonly=True)) as store, closing(Store(tmp_path / "c.sqlite")) as other:
        assert store.identity() == first != other.identity()


def test_an_ended_run_whose_memory_is_gone_says_so_and_makes_none(tmp_path, capsys):
    path = ended(tmp_path, before)
    (tmp_path / "memory.sqlite").unlink()
    assert main(["runs", "resume", str(path)]) == 2
    assert "is not there any more" in capsys.readouterr().err
    assert not (tmp_path / "memory.sqlite").exists()
    with pytest.raises(Exception, match="is not there any more"):
        resume(path)
