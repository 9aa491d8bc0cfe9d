"""Several batches over the same weights, computed at the same time: the same answers, and nothing computed twice."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Question
from tests.llm.conftest import need_llama

WAIT = 60
WORDS = ["cup", "apple", "sink", "table", "find", "the", "see", "in"]
OPTIONS = tuple(f" {verb} the {thing}" for verb in ("find", "open", "clean") for thing in ("cup", "apple", "sink"))
WORTH = 40  # tokens that may be computed again rather than copied
ROUNDING = 0.05  # nats: batches of another shape are summed in another order


def words(seed: int, count: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def test_four_agents_decide_as_one_after_the_other(open_model: Callable[..., Any]) -> None:
    """Four stories behind one beginning, three steps each, all at once: every score is that of a model that takes one
    question at a time, and the beginning is computed once for all."""
    model, bare = open_model(lanes=1, batches=2), open_model(repeatable=True)
    system = words(1, 300)
    stories, held = [f"{system} {words(2 + n, 40)}\nAct:" for n in range(4)], [0, *[model.count(system)] * 3]
    for _ in range(3):
        jobs = [model.choose(story, OPTIONS, mode="scores") for story in stories]
        for n, job in enumerate(jobs):
            found, told = job.wait(WAIT), bare.choose(stories[n], OPTIONS, mode="scores").wait(WAIT)
            assert found.scores == pytest.approx(told.scores, abs=ROUNDING)
            assert job.spent.reused >= held[n] - WORTH
            stories[n] += f"{OPTIONS[n]}\nYou see {words(n, 6)}\nAct:"
        held = [job.spent.prompt for job in jobs]
    assert model.stats()["batches"] == 2


def test_jobs_are_cancelled_while_both_batches_run(open_model: Callable[..., Any]) -> None:
    """Those that were cancelled never answer, the others do, and what comes after them is right."""
    model, bare = open_model(lanes=1, batches=2), open_model(repeatable=True)
    for round in range(3):
        jobs = [model.write(words(10 * round + n, 60), max_tokens=20) for n in range(6)]
        for job in jobs[round % 2 :: 2]:
            job.cancel("not needed")
        assert [job.wait(WAIT).tokens for job in jobs[1 - round % 2 :: 2]] == [20, 20, 20]
    text = f"{words(3, 60)}\nAct:"
    told = bare.choose(text, OPTIONS, mode="scores").wait(WAIT)
    assert model.choose(text, OPTIONS, mode="scores").wait(WAIT).scores == pytest.approx(told.scores, abs=ROUNDING)


class Bench:
    """Two real batches in this process; each waits, before it computes, until the other one is computing as well."""

    def __init__(self, file: Path) -> None:
        from bt_runtime.llm.local.batch import Batch
        from bt_runtime.llm.local.context import SequenceCache
        from bt_runtime.llm.local.cores import Cores
        from bt_runtime.llm.local.llama import Weights, begin
        from bt_runtime.llm.local.task_factory import TaskFactory

        begin()
        self.meeting: threading.Barrier | None = None
        self.answers: dict[int, Any] = {}
        self.news: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.weights = Weights(str(file), 0)
        bench = self

        class Meeting(Batch):
            def decoded(self, plan: Any) -> Any:
                if bench.meeting is not None:
                    bench.meeting.wait(WAIT)
                return super().decoded(plan)

        def opened() -> Batch:
            return Meeting(SequenceCache(self.weights, 2048, 256, 1), 2048, self.done)

        self.cores = Cores(opened(), opened, 2, self.news.put)
        self.tasks = TaskFactory(self.weights, 2048, WorkerSettings(str(file)), 512)

    def done(self, id: int, value: Any, error: BaseException | None, spent: Any) -> None:
        self.answers[id] = error or (value, spent)

    def ask(self, id: int, prompt: str) -> None:
        self.cores.ask(self.tasks.task(id, Question("write", prompt, max_tokens=1)))

    def run(self) -> None:
        while self.cores.busy:
            if self.cores.ready:
                self.cores.step()
            self.cores.computed(self.news.get(timeout=WAIT))


@pytest.fixture
def bench(micro: Path) -> Iterator[Bench]:
    need_llama()
    bench = Bench(micro)
    yield bench
    for batch in bench.cores.batches:
        batch.cache.close()  # type: ignore[attr-defined]


def test_two_jobs_are_computed_at_the_same_time(bench: Bench) -> None:
    """Neither batch ends before the other has begun."""
    bench.meeting = threading.Barrier(2)
    for id in range(2):
        bench.ask(id, words(id, 30))
    bench.run()
    assert sorted(bench.answers) == [0, 1]


def test_one_job_after_another_opens_no_second_cache(bench: Bench) -> None:
    """A single agent takes the memory of one batch."""
    for id in range(4):
        bench.ask(id, words(id, 30))
        bench.run()
    assert len(bench.cores.batches) == 1 and len(bench.answers) == 4


def test_a_beginning_is_copied_to_the_other_batch(bench: Bench) -> None:
    """Three jobs behind one long beginning: one computes it, in whichever batch, and the others begin after it."""
    common = words(7, 200)
    for id in range(3):
        bench.ask(id, f"{common} {words(20 + id, 10)}")
    bench.run()
    spent = [bench.answers[id][1] for id in range(3)]
    assert len(bench.cores.batches) == 2
    assert sorted(each.reused > 190 for each in spent) == [False, True, True]
    assert sum(each.computed for each in spent) < max(each.prompt for each in spent) + 100


def test_a_fault_of_llama_cpp_reaches_the_worker(bench: Bench) -> None:
    """What a thread raises is raised where the worker computes, so that it is replaced as with one batch."""
    bench.meeting = threading.Barrier(2)
    bench.meeting.abort()
    bench.ask(1, "the cup")
    with pytest.raises(threading.BrokenBarrierError):
        bench.run()
