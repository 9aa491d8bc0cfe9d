"""The garbage collector does not walk over the standing tree in a tick, and nothing piles up for that."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bt_runtime import Run, Tree, load
from bt_runtime.language.source import pause

LARGE = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 0}}\nroot:\n  sequence:\n" + "".join(
    f"    - set: {{n: '{{n + {i}}}'}}\n" for i in range(1500)
)
SMALL = "version: 1\ntree: t\nroot: {sequence: [succeed: {}, log: hello]}\n"


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs that other tests have left open are not meant."""
    gc.collect()
    gc.unfreeze()
    monkeypatch.setattr(pause, "_ASIDE", pause._Aside())
    yield
    gc.unfreeze()


@contextmanager
def walks() -> Iterator[list[int]]:
    """The objects that the collector may look at, at each full collection."""
    found: list[int] = []

    def collected(phase: str, about: dict[str, int]) -> None:
        if phase == "start" and about["generation"] == 2:
            found.append(len(gc.get_objects()))

    gc.callbacks.append(collected)
    try:
        yield found
    finally:
        gc.callbacks.remove(collected)


def test_no_collection_is_left_behind_by_a_load() -> None:
    gc.collect()
    began: list[int] = []
    gc.callbacks.append(count := lambda phase, about: began.append(about["generation"]) if phase == "stop" else None)
    try:
        tree = load(LARGE)
        assert gc.get_count()[0] < gc.get_threshold()[0]  # the next object starts no walk
    finally:
        gc.callbacks.remove(count)
    assert began == []
    del tree


def test_a_full_collection_does_not_look_at_the_tree_of_an_open_run() -> None:
    with Run(load(LARGE)) as run:
        run.tick()
        standing = gc.get_freeze_count()
        assert standing > 10 * run.parts.engine.nodes
        with walks() as found:
            gc.collect()
            for _ in range(20):
                run.tick()
        assert all(walked < standing / 4 for walked in found)
    assert gc.get_freeze_count() == 0


def test_of_several_open_runs_the_last_one_gives_everything_back() -> None:
    first, second = Run(load(SMALL)), Run(load(SMALL))
    assert gc.get_freeze_count()
    first.close()
    assert gc.get_freeze_count()
    second.close()
    second.close()
    assert gc.get_freeze_count() == 0


def test_a_run_that_nobody_closes_gives_back_what_it_kept() -> None:
    run = Run(load(SMALL))
    gc.unfreeze()
    gone = weakref.ref(run)
    del run
    gc.collect()
    assert gone() is None
    assert (pause._ASIDE.runs, gc.get_freeze_count()) == (0, 0)


@pytest.mark.parametrize("again", [lambda tree: Run(tree), lambda tree: Run(load(SMALL))])
def test_runs_one_after_another_beside_one_that_stays_open_do_not_pile_up(
    again: Callable[[Tree], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pause, "MOST", 5_000)
    tree = load(SMALL)
    past: list[weakref.ref[Run]] = []
    with Run(tree):
        most = 0
        for _ in range(1000):
            pause._ASIDE.standing = 0  # as in a small program
            with again(tree) as run:
                run.tick()
            past.append(weakref.ref(run))
            del run
            most = max(most, sum(each() is not None for each in past[-400:]))
        assert most < 400


def test_loads_one_after_another_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pause, "MOST", 50_000)
    past: list[weakref.ref[Run]] = []
    for _ in range(30):
        pause._ASIDE.standing = 0  # as in a small program
        run = Run(load(LARGE))
        run.close()
        past.append(weakref.ref(run))
        del run
    assert sum(each() is not None for each in past) < 10


def test_a_program_that_has_switched_the_collector_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with Run(load(LARGE)):
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
