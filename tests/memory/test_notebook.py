"""A run's experiences, and the choice of examples for planners with one prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.memory import Notebook
from bt_runtime.memory.selection import select
from bt_runtime.types import Verdict

Make = Callable[..., Any]


def noted(memory: Any, verdict: Any, run: str = "r1") -> Any:
    book = Notebook(memory, run=run, task="t", kind="k", now=lambda: 5.0)
    book.note("/1", "find apple", "Act: done", "success")
    book.note("/", "put apple in fridge", "Expand:", "expand")
    book.note("/1", "find apple", "Act: failure", "failure")
    return book.close(verdict)


def test_the_world_has_the_last_word(remember: Make) -> None:
    """Nothing is written before the end; then all of it, with the world's verdict and not the agent's `done`."""
    memory = remember()
    assert noted(memory, Verdict(1, 2)) == (3, 0)
    kept = list(memory.store.each())
    assert [e.verdict for e in kept] == [False] * 3
    assert [(e.place, e.end) for e in kept] == [("/1", "success"), ("/", "expand"), ("/1#2", "failure")]
    assert memory.retrieve("find apple").taken == ()
    assert len(memory.retrieve("find apple", failed=True).taken) == 3


def test_a_retried_close_writes_nothing_twice(remember: Make) -> None:
    """A run that is written again after a crash is the same run; a met task is retrieved."""
    memory = remember()
    assert noted(memory, Verdict(2, 2)) == (3, 0)
    assert noted(memory, True) == (0, 3)
    assert noted(memory, None, run="r2") == (3, 0)
    assert [e.run for e in memory.retrieve("find apple").taken] == ["r1"] * 3


def test_a_failed_write_may_be_repeated() -> None:
    """When the disk refuses, the pages are still there; once written, the book is closed."""

    class Full:
        tries = 0

        def add(self, experiences: Any) -> Any:
            self.tries += 1
            if self.tries == 1:
                raise BtError("no room left")
            return (len(list(experiences)), 0)

    shelf: Any = Full()
    book = Notebook(shelf, run="r")
    book.note("/", "find apple", "Act: done", "success")
    with pytest.raises(BtError, match="no room"):
        book.close(True)
    assert book.close(True) == (1, 0)
    with pytest.raises(BtError, match="written already"):
        book.note("/", "find cup", "", "success")


def test_examples_are_selected_three_ways(remember: Make, lived: Make) -> None:
    """Random gives some of each kind, task-specific some of one kind, similar the nearest; roots of met tasks only."""
    roots = [
        lived(f"{verb} {thing}", kind=verb, task=f"{verb}{i}", run="r", place="/", text=f"{verb} {i}")
        for verb in ("find", "wash", "put")
        for i, thing in enumerate(("apple", "cup", "fridge", "sink"))
    ]
    part = lived("find apple", kind="find", task="find0", run="r", place="/1", text="a part")
    failed = lived("find table", kind="find", task="f", run="r", place="/", verdict=False)
    memory = remember(*roots, part, failed)
    chosen = select(memory, "random", 2, seed=1)
    assert sorted(e.kind for e in chosen) == ["find", "find", "put", "put", "wash", "wash"]
    assert chosen == select(memory, "random", 2, seed=1) != select(memory, "random", 2, seed=2)
    specific = select(memory, "task_specific", 9, kind="find", exclude_task="find1")
    assert sorted(e.text for e in specific) == ["find 0", "find 2", "find 3"]
    assert [e.text for e in select(memory, "similar", 1, goal="wash the cup")] == ["wash 1"]
    assert [e.text for e in select(memory, "similar", 1, goal="find apple")] == ["find 0"]
    for bad in ({"strategy": "best"}, {"strategy": "task_specific"}):
        with pytest.raises(BtError):
            select(memory, count=1, **bad)
