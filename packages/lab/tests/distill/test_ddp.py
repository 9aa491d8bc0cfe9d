"""Training in several processes: one network, and nobody stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")

import torch

from bt_lab.distill import tokenizer
from bt_lab.distill.ddp import launched
from bt_lab.distill.schedule import Schedule
from bt_runtime import BtError
from packages.lab.tests.distill.errands import errands
from packages.lab.tests.distill.processes import dies, fails
from packages.lab.tests.distill.toy_training import SCHEDULE, TWO, same, training, weights

pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def words():
    return tokenizer.train((d.text for d in errands(100)), 400)


def test_a_stopped_run_of_three_goes_on_to_the_same_weights(words, documents, tmp_path):
    """Several processes learn; the same seed gives the same weights bit for bit, also with a stop in between."""
    told: list[str] = []
    learning = replace(SCHEDULE, processes=3, batch=1536, tokens=9000)
    training(documents, tmp_path / "whole", words, learning, told.append).go()
    training(documents, tmp_path / "cut", words, replace(learning, tokens=4000)).go()
    training(documents, tmp_path / "cut", words, learning).go()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "cut"))
    assert sum(text.startswith("epoch 1:") for text in told) == 1  # only one tells


def test_a_step_of_two_goes_by_the_mean_of_both(words, documents, tmp_path):
    """Two processes move the weights as one does that adds up the gradients of both batches and halves them."""
    run = training(documents, tmp_path / "two", words, replace(TWO, tokens=4000))
    run.go()
    alone = training(documents, tmp_path / "one", words, replace(TWO, tokens=4000))
    rows, batches = alone.epoch()
    for step in range(run.state.step):
        seen = sum(alone._gradients(rows, batch)[1] for batch in batches[2 * step : 2 * step + 2])
        for weight in alone.network.parameters():
            weight.grad /= 2
        torch.nn.utils.clip_grad_norm_(alone.network.parameters(), alone.schedule.clip)
        alone.optimiser.step(alone.schedule.rate_at(alone.state))
        alone.state.step, alone.state.tokens = step + 1, alone.state.tokens + seen
    assert run.state.step > 2
    assert same(run.network.state_dict(), alone.network.state_dict())


def test_all_tokens_are_counted(words, documents, tmp_path):
    """A step of two processes counts what both have read, and no batch is read by both."""
    run = training(documents, tmp_path, words, replace(TWO, tokens=2000))
    run.go()
    rows, batches = training(documents, tmp_path / "b", words, TWO).epoch()
    steps = run.state.step
    read = [d for batch in batches[: 2 * steps] for group in batch for d in group]
    assert run.state.tokens == sum(int(rows.lengths[d]) for d in read)
    assert len(set(read)) == len(read)


@pytest.mark.parametrize(("work", "given", "said"), [(fails, ("out of luck",), "out of luck"), (dies, (), "SIGKILL")])
def test_a_process_that_ends_early_ends_the_run(work, given, said):
    """The others do not wait for it, and the reason is told."""
    with pytest.raises(BtError, match=said), launched(2, work, *given) as group:
        group.broadcast(lambda: "anything")
        group.broadcast(lambda: "anything")


CHILD = """
import sys
from pathlib import Path
from dataclasses import replace
from bt_lab.distill import tokenizer
from packages.lab.tests.distill.toy_training import TWO
from packages.lab.tests.distill.toy_training import training
words = tokenizer.load(Path(sys.argv[3]))
schedule = replace(TWO, tokens=10**9)
training(Path(sys.argv[1]), Path(sys.argv[2]), words, schedule, tell=lambda text: print(text, flush=True)).go()
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nobody_stays_behind(deadly, words, documents, tmp_path):
    """However the first process is ended, the others end too."""
    words.save(tmp_path / "t.json")
    child = [sys.executable, "-c", CHILD, str(documents), str(tmp_path / "run"), str(tmp_path / "t.json")]
    with subprocess.Popen(
        child, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=Path(__file__).parents[4]
    ) as process:
        for line in process.stdout:
            if line.startswith("step 3 "):
                break
        others = _children(process.pid)
        assert others
        process.send_signal(deadly)
        process.communicate(timeout=900)
    until = time.monotonic() + 30
    while any(_lives(pid) for pid in others) and time.monotonic() < until:
        os.sched_yield()
    assert not any(_lives(pid) for pid in others)


def _children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_cannot_be_shared_is_told(words, documents, tmp_path):
    """A share that is shorter than a document, fewer batches than processes, and no process at all are faults."""
    with pytest.raises(BtError, match="longer than"):
        training(documents, tmp_path, words, replace(SCHEDULE, batch=64)).go()
    with pytest.raises(BtError, match="too few documents for so many"):
        training(documents, tmp_path, words, replace(SCHEDULE, batch=256_000, processes=2)).epoch()
    with pytest.raises(BtError, match="train nothing"):
        Schedule(tokens=1, processes=0)
