"""What happens to a worker that is killed, hangs, is cancelled in the middle, or gets garbage."""

from __future__ import annotations

import math
import os
import random
import signal
import struct
import time
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.llm.job import Cancelled

WAIT = 60


def until(what, seconds: float = WAIT) -> None:
    """Wait for a condition of another process; bounded, so that a failure is a failure and not a hang."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.002)


def test_a_killed_worker_is_replaced_and_its_jobs_are_answered(open_model):
    """kill -9 in the middle of ten jobs: all ten are answered by the next worker."""
    model = open_model()
    jobs = [model.write(f"the cup number {n}", max_tokens=200) for n in range(10)]
    first = model.pid
    os.kill(first, signal.SIGKILL)
    assert all(job.wait(WAIT).tokens == 200 for job in jobs)
    assert model.pid != first
    assert model.stats()["restarts"] == 1


def test_a_hung_worker_is_found_and_replaced(open_model):
    """A stopped process gives no sign of life: after `patience` it is killed, and the job asked again."""
    model = open_model(patience=1.0)
    first = model.pid
    os.kill(first, signal.SIGSTOP)
    job = model.write("the cup", max_tokens=3)
    assert job.wait(WAIT).tokens == 3
    assert model.pid != first


def test_a_job_that_kills_two_workers_is_an_error_and_the_others_are_answered(open_model):
    """After a death the jobs under way are asked one by one, so that only the guilty one fails."""
    model = open_model()
    bad = model.write("the cup", max_tokens=900)
    good = [model.write(f"the bowl {n}", max_tokens=30) for n in range(6)]
    until(lambda: model.stats()["asked"] == 7 and model.stats()["under_way"])
    os.kill(model.pid, signal.SIGSEGV)
    until(lambda: model.stats()["restarts"] == 1 and model.stats()["under_way"] == 1)  # the first that was asked
    os.kill(model.pid, signal.SIGABRT)
    with pytest.raises(BtError, match="SIGABRT") as fault:
        bad.wait(WAIT)
    assert model.settings.model in fault.value.message
    assert "worker.py" in fault.value.message, "its last words: where it was when it was struck"
    assert "btr doctor" in fault.value.hint
    assert all(job.wait(WAIT).tokens == 30 for job in good)


@pytest.mark.parametrize(
    "spoil", [lambda d: d[: len(d) // 2], lambda d: d[:24] + b"\xff" * 64 + d[88:], lambda d: b"x"]
)
def test_a_garbage_file_is_refused_at_opening(open_model, micro, tmp_path, spoil):
    """Cut off, corrupt, something else: a fault with the file's name, before any job."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(spoil(micro.read_bytes()))
    with pytest.raises(BtError, match=r"bad\.gguf"):
        open_model(bad)


def test_a_file_with_a_sound_header_and_a_foreign_architecture_is_refused(open_model, micro, tmp_path):
    """llama.cpp's own reason is passed on; jobs asked meanwhile learn it too."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(micro.read_bytes().replace(b"llama", b"lxxma"))
    model = open_model(bad, ready=False)
    job = model.write("x", max_tokens=1)
    with pytest.raises(BtError, match="lxxma"):
        model.ready(WAIT)
    with pytest.raises(BtError, match="lxxma"):
        job.wait(WAIT)
    with pytest.raises(BtError, match="lxxma"):
        model.choose("x", ["a", "b"]).wait(WAIT)


def test_more_room_than_there_is_memory_is_refused_with_the_number_that_works(open_model):
    """Worked out before anything is allocated, by the worker, which knows the memory of the GPUs too."""
    with pytest.raises(BtError, match="are free") as fault:
        open_model(room=10**12)
    assert "at most" in fault.value.hint


def test_jobs_asked_before_the_model_is_loaded_are_answered(open_model):
    model = open_model(ready=False)
    assert model.write("the cup", max_tokens=2).wait(WAIT).tokens == 2


def test_closing_ends_the_process_and_tells_every_job(open_model):
    """Nothing waits for ever, and no process stays behind. Closing twice is fine."""
    model = open_model()
    pid, job = model.pid, model.write("the cup", max_tokens=900)
    model.close()
    model.close()
    with pytest.raises(BtError, match="closed"):
        job.wait(WAIT)
    with pytest.raises(BtError, match="closed"):
        model.write("the cup", max_tokens=1).wait(WAIT)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("stopped", [False, pytest.param(True, marks=pytest.mark.skipif("sys.platform != 'linux'"))])
def test_a_worker_goes_when_its_tick_process_goes(micro, stopped):
    """Killed without a word, the tick process leaves no worker behind, not even a stopped one."""
    import subprocess
    import sys

    script = (
        "import os, signal\n"
        "from bt_runtime.llm.local.model import LocalModel\n"
        "from bt_runtime.llm.settings import WorkerSettings\n"
        f"m = LocalModel(WorkerSettings({str(micro)!r})).ready(30); m.write('x', max_tokens=900)\n"
        f"{'os.kill(m.pid, signal.SIGSTOP)' if stopped else ''}\n"
        "print(m.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900)
    pid = int(done.stdout)
    until(lambda: not _alive(pid), 60)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_cancel_lands_in_the_middle_of_a_prompt_and_of_an_answer(open_model):
    """The worker is free long before the job would have ended; the finished part of the prompt is kept."""
    model = open_model(chunk=64)
    for words, tokens in ((900, 1), (5, 900)):
        model.write("warm", max_tokens=1).wait(WAIT)
        job = model.write("cup " * words, max_tokens=tokens)
        until(lambda: model.stats()["under_way"])
        job.cancel("enough")
        after = model.write("the bowl", max_tokens=1)
        after.wait(WAIT)
        assert after.spent.waited + after.spent.seconds < 5
        with pytest.raises(Cancelled):
            job.poll()
    assert model.stats()["cancelled"] == 2


QUESTIONS = {
    "exact": lambda model: model.choose("the cup Act:", [" go to fridge", " open the door"]),
    "greedy": lambda model: model.choose("the cup Act:", [" go to fridge", " open the door"], mode="greedy"),
    "scores": lambda model: model.choose("the cup Act:", [" go to fridge", " open the door"], mode="scores"),
    "decide": lambda model: model.decide("the cup", {" Think:": (), " Act:": (" go", " take")}),
    "write": lambda model: model.write("the cup", max_tokens=5),
    "sampled": lambda model: model.write("the cup", max_tokens=5, temperature=1.0),
    "embed": lambda model: model.embed(["the cup"]),
}


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("lanes", [1, 0], ids=["batch", "lanes"])
def test_weights_that_are_no_numbers_are_a_fault_at_once_and_the_worker_goes_on(
    open_model, micro, tmp_path, value, lanes
):
    """Every kind of question, alone and all at once: told in words with a way out; nobody is waited out or replaced."""
    data, bad = bytearray(micro.read_bytes()), tmp_path / "spoilt.gguf"
    data[-400_000:] = struct.pack("<f", value) * 100_000
    bad.write_bytes(data)
    model = open_model(bad, lanes=lanes, patience=600.0)
    asked = [ask(model) for ask in QUESTIONS.values()] + [ask(model) for ask in QUESTIONS.values()]
    for job in asked:
        with pytest.raises(BtError, match="not a number") as fault:
            job.wait(WAIT)
        assert "weights" in fault.value.hint
    model.write("the cup", max_tokens=900).cancel("enough")
    assert model.count("the cup") > 0
    assert model.stats()["restarts"] == 0


def calm(model) -> bool:
    """No job under way has met a death before: a second one would be its error, as it should."""
    stats = model.stats()
    return stats["under_way"] > 0 and not stats["suspects"]


def settled(stats) -> bool:
    return stats["asked"] == stats["answered"] + stats["failed"] + stats["cancelled"]


def soak(model, jobs: int, seed: int, kills: int) -> None:
    """Mixed jobs, random cancels, workers killed now and then: every job ends, and ends once."""
    rng = random.Random(seed)
    deaths = set(rng.sample(range(jobs), kills))
    under_way, ended, cancelled = [], 0, 0
    for n in range(jobs):
        text = f"agent {rng.randrange(6)} sees " + "a cup and " * rng.randrange(30)
        kind = rng.random()
        if kind < 0.4:
            job = model.choose(text, [f" take cup {k}" for k in range(rng.randint(1, 12))])
        elif kind < 0.55:
            job = model.choose(text, [" go", " take"], mode="greedy")
        elif kind < 0.95:
            job = model.write(text, max_tokens=rng.randint(1, 12), temperature=rng.choice([0, 1]), seed=n)
        else:
            job = model.embed([text[:50]])
        under_way.append(job)
        if rng.random() < 0.15:
            under_way.pop(rng.randrange(len(under_way))).cancel("soak")
            cancelled += 1
        if n in deaths and calm(model):
            os.kill(model.pid, signal.SIGKILL)
        while len(under_way) > 40:
            under_way.pop(0).wait(WAIT)
            ended += 1
    for job in under_way:
        job.wait(WAIT)
        ended += 1
    assert ended + cancelled == jobs
    until(lambda: settled(model.stats()))
    assert model.stats()["failed"] == 0


def test_a_short_soak_loses_no_job(open_model):
    """Hundreds of mixed jobs with random cancels and three killed workers."""
    model = open_model(room=2048)
    soak(model, 400, seed=1, kills=3)
    assert 1 <= model.stats()["restarts"] <= 3


@pytest.mark.skipif(not os.environ.get("BTR_SOAK"), reason="long: make soak")
def test_a_long_soak_leaks_nothing(open_model):
    """Ten thousand jobs; neither side's memory nor its open files grow."""
    model = open_model(room=2048)
    soak(model, 2000, seed=2, kills=0)
    before, files, pid = _memory(model.pid), _open_files(), model.pid
    soak(model, 3000, seed=3, kills=0)
    assert model.pid == pid
    assert _memory(pid) < before * 1.15 + 20_000_000
    soak(model, 5000, seed=4, kills=20)
    assert _open_files() <= files + 2


def _memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
