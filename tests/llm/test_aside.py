"""Idle prompts outside the cache: they leave it before a long one is computed, and come back whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.llm.local.aside import Aside, Found
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Question
from tests.llm.conftest import need_llama

WORDS = ["cup", "apple", "sink", "table", "find", "the", "see", "in"]
OPTIONS = tuple(f" {verb} the {thing}" for verb in ("find", "open", "clean") for thing in ("cup", "apple", "sink"))
ROUNDING = 0.02  # nats: cells in another order are summed in another order


def test_the_state_that_holds_most_of_a_prompt_is_found_and_its_parts_are_dropped() -> None:
    """One that another one contains is of no more use."""
    aside = Aside(100)
    aside.put((1, 2, 3), b"a")
    aside.put((1, 2, 3, 4, 5), b"b")
    aside.put((9,), b"c")
    found = aside.best((1, 2, 3, 4, 7))
    assert found is not None and found[1:] == (4, 5) and aside.states[found.key] == b"b"
    assert sorted(aside.states.values()) == [b"b", b"c"]
    assert aside.best((7,)) is None


def test_it_keeps_no_more_bytes_than_it_may() -> None:
    """Those put aside longest ago go first; what is too large for all of it is not kept."""
    aside = Aside(10)
    for token in range(4):
        aside.put((token,), b"x" * 4)
    assert [aside.best((token,)) is not None for token in range(4)] == [False, False, True, True]
    aside.put((5,), b"x" * 11)
    assert not aside.states


class Bench:
    """A batch in this process; `asked` answers a question and tells what it took."""

    def __init__(self, file: Path, aside: int = 1 << 24) -> None:
        from bt_runtime.llm.local.context import SequenceCache
        from bt_runtime.llm.local.llama import Weights, begin
        from bt_runtime.llm.local.stored_batch import StoredBatch
        from bt_runtime.llm.local.task_factory import TaskFactory

        begin()
        self.found: Any = None
        self.weights = Weights(str(file), 0)
        cache = SequenceCache(self.weights, 2048, 256, 1, flash=False)
        self.batch = StoredBatch(cache, 2048, self.done, 256, store=None, aside=Aside(aside))
        self.tasks = TaskFactory(self.weights, 2048, WorkerSettings(str(file)), 1024)

    def done(self, _id: int, value: Any, error: BaseException | None, spent: Any) -> None:
        assert error is None
        self.found = value, spent

    def asked(self, prompt: str) -> Any:
        self.batch.ask(self.tasks.task(1, Question("choose", prompt, options=OPTIONS, mode="scores")))
        while self.batch.busy:
            self.batch.step()
        return self.found

    def size(self) -> int:
        """Bytes of all cells in use."""
        import llama_cpp

        return int(llama_cpp.llama_state_get_size(self.batch.cache.handle))  # type: ignore[attr-defined]

    def cached(self, prompt: str) -> int:
        return self.batch.tree.match(self.weights.tokens(prompt, begin=True)).length

    def held(self, prompt: str) -> Found | None:
        return self.batch.aside.best(self.weights.tokens(prompt, begin=True))


@pytest.fixture
def bench(micro: Path) -> Iterator[Bench]:
    need_llama()
    bench = Bench(micro)
    yield bench
    bench.batch.cache.close()  # type: ignore[attr-defined]


def story(seed: int, common: str = "", count: int = 150) -> str:
    return common + " ".join(random.Random(seed).choices(WORDS, k=count)) + "\nAct:"


def test_an_idle_prompt_leaves_the_cache_for_a_long_one_and_comes_back(bench: Bench) -> None:
    """No token of the other prompt is compared with it; going on, it is computed no more, and scores as before."""
    first, other = story(1), story(2)
    before, _ = bench.asked(first)
    bench.asked(other)
    held = bench.held(first)
    assert held is not None and held.length > 140
    assert bench.cached(first) < 20
    again, spent = bench.asked(first)
    assert spent.computed < 20 + len(OPTIONS) * 5 and spent.reused > spent.prompt - 3
    assert again.scores == pytest.approx(before.scores, abs=ROUNDING)


def test_what_a_short_step_brings_puts_nothing_aside(bench: Bench) -> None:
    """Two stories by turns: a copy would cost more than the few tokens of a step gain."""
    first = story(1)
    bench.asked(first)
    bench.asked("the cup\nAct:")
    assert bench.held(first) is None


def test_a_prompt_that_comes_back_shares_the_cells_of_its_beginning(bench: Bench) -> None:
    """Two stories behind one beginning, put aside and brought back one after the other: the beginning lies in the cache
    once, and both score as in an empty cache."""
    common = story(3).removesuffix("\nAct:") + "\n"
    first, second = story(4, common), story(5, common)
    told = [bench.asked(each)[0].scores for each in (first, second)]
    each_cell = bench.size() / bench.batch.tree.cells
    bench.asked(story(6, count=300))
    found = [bench.asked(each) for each in (first, second)]
    assert [each.scores for each, _ in found] == [pytest.approx(scores, abs=ROUNDING) for scores in told]
    assert all(spent.reused > spent.prompt - 5 for _, spent in found)
    assert bench.size() / bench.batch.tree.cells == pytest.approx(each_cell, rel=0.1)


def test_what_does_not_fit_the_cache_is_put_aside_rather_than_forgotten(micro: Path) -> None:
    """Five stories in a room for three: the first goes on where it was."""
    need_llama()
    bench = Bench(micro)
    stories = [story(seed, count=420) for seed in range(5)]
    for each in stories:
        bench.asked(each)
    _, spent = bench.asked(stories[0])
    bench.batch.cache.close()  # type: ignore[attr-defined]
    assert spent.reused > spent.prompt - 3
