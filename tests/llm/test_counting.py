"""Tokens are counted exactly however busy the machine is: who needs a number waits for it, and no tick does."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.llm import Answer
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience

TEXT = "go to sink 1\nYou arrive at the sink (1).\n" * 12
WAIT = 60.0
pauses = pytest.mark.skipif(sys.platform == "win32", reason="a process is paused by a signal")


@contextmanager
def paused(model: Any) -> Iterator[None]:
    os.kill(model.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, model.pid, os.WSTOPPED)
    try:
        yield
    finally:
        os.kill(model.pid, signal.SIGCONT)


def started(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    return thread, found


@pauses
def test_a_count_waits_for_a_worker_that_does_not_answer(open_model: Callable[..., Any]) -> None:
    """As a process on a busy machine: no bound is told in the meantime, and the job is polled without waiting."""
    model = open_model()
    true = model.count(TEXT)
    with paused(model):
        job = model.counting([TEXT + "!", TEXT])
        thread, found = started(lambda: model.count(TEXT + "?"))
        thread.join(0.3)
        assert thread.is_alive() and job.poll() is None
    assert job.wait(WAIT)[1] == true
    thread.join(WAIT)
    assert 0 < found[0] < len(TEXT)


@pauses
def test_a_memory_keeps_and_uses_exact_counts_at_any_load(open_model: Callable[..., Any], tmp_path: Path) -> None:
    """What was added and asked while the worker stood still is what an idle one would have given."""
    model = open_model()
    true = model.count(TEXT)
    lived = [
        Experience(f"clean apple {at}", TEXT, "success", task=str(at), run="r", place="/", verdict=True)
        for at in range(4)
    ]
    budget = 2 * true

    def answered(memory: Episodes) -> tuple[list[int], int]:
        found = memory.retrieve("clean apple", budget, 4)
        return [each.tokens for each in found.taken], found.tokens

    with Episodes.open(tmp_path / "idle.sqlite", "hashing", model.count) as memory:
        memory.add(lived)
        idle = answered(memory)
    assert idle == ([true, true], budget)
    with Episodes.open(tmp_path / "busy.sqlite", "hashing", model.count) as memory:
        model._counts.clear()  # as in a new process
        with paused(model):
            adding, _ = started(lambda: memory.add(lived))
            adding.join(0.3)
            assert adding.is_alive()
        adding.join(WAIT)
        model._counts.clear()
        with paused(model):
            asking, busy = started(lambda: answered(memory))
            asking.join(0.3)
        asking.join(WAIT)
    assert busy == [idle]


def test_counts_survive_the_death_of_the_worker(open_model: Callable[..., Any]) -> None:
    """A new worker counts what the old one did not; a model that is closed says so."""
    model = open_model()
    true = model.count(TEXT)
    model._counts.clear()
    if sys.platform != "win32":
        os.kill(model.pid, signal.SIGSTOP)
    job = model.counting([TEXT])
    model._worker._process.kill()
    assert list(job.wait(WAIT)) == [true]
    model.close()
    with pytest.raises(BtError, match="closed"):
        model.count("another text")


class _Slow(ScriptedModel):
    """Counts when it is told to; `count` would wait for ever."""

    register = "instruct"

    def __init__(self) -> None:
        super().__init__(lambda question: "Act: done")
        self.jobs: list[tuple[Answer[Any], list[str]]] = []

    def count(self, text: str) -> int:
        raise AssertionError("a tick counted")

    def counting(self, texts: Any, wake: Any = None) -> Answer[Any]:
        job: Answer[Any] = Answer(wake=wake)
        self.jobs.append((job, [*texts]))
        return job


def test_no_tick_waits_for_a_count(tmp_path: Path) -> None:
    """Examples that are chosen by the kind of task are counted while the tree goes on ticking."""
    model = _Slow()
    lived = [
        Experience(f"tidy {at}", "Act: done\n", "success", task="t", run=str(at), place="/", verdict=True)
        for at in range(2)
    ]
    with Episodes.open(tmp_path / "m.sqlite", "hashing") as memory:
        memory.add(lived)
        agent = "agent: {goal: tidy up, moves: [think, act], select: random, example_tokens: 3}"
        with bt.Run(bt.load(f"version: 1\ntree: t\nroot:\n  {agent}\n"), model=model, memory=memory) as run:
            status = run.tick()
            while status.running:
                for job, texts in model.jobs:
                    if not job.done:
                        assert run.tick().running and not model.asked
                        job.finish([2] * len(texts))
                threading.Event().wait(0.002)  # the memory's thread
                status = run.tick()
    assert status.status is bt.Status.SUCCESS
    assert model.jobs and len(model.asked) == 1
