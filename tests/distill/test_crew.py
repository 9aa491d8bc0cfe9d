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

from bt_runtime.distill import checkpoint, tokenizer
from bt_runtime.distill.checkpoint import LATEST
from bt_runtime.distill.crew import hired
from bt_runtime.distill.training import Plan
from bt_runtime.faults.diagnostic import BtError
from tests.distill.errands import errands
from tests.distill.mates import dies, fails
from tests.distill.test_training import PLAN, same, training, weights

pytestmark = pytest.mark.usefixtures("one_core")
TWO = replace(PLAN, processes=2)


@pytest.fixture(scope="module")
def words():
    return tokenizer.train((d.text for d in errands(100)), 400)


def test_a_stopped_run_of_two_goes_on_to_the_same_weights(words, documents, tmp_path):
    """Two processes learn; the same seed gives the same weights, also with a stop in between."""
    told: list[str] = []
    learning = replace(TWO, tokens=24_000, rate=6e-3)
    training(documents, tmp_path / "whole", words, learning, told.append).go()
    training(documents, tmp_path / "cut", words, replace(learning, tokens=8000)).go()
    training(documents, tmp_path / "cut", words, learning).go()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "cut"))
    curve = [point["loss"] for point in checkpoint.load(tmp_path / "whole" / LATEST)[0].curve if "loss" in point]
    assert curve[-1] < 0.6 * curve[0]
    assert sum(text.startswith("epoch 1:") for text in told) == 1  # only one tells


def test_all_tokens_are_counted(words, documents, tmp_path):
    """A step of two processes counts what both have read, and no batch is read by both."""
    run = training(documents, tmp_path, words, replace(TWO, tokens=2000))
    run.go()
    rows, batches = training(documents, tmp_path / "b", words, TWO).epoch()
    steps = run.state.step
    read = [d for batch in batches[: 2 * steps] for group in batch for d in group]
    assert run.state.tokens == sum(int(rows.lengths[d]) for d in read)
    assert len(set(read)) == len(read)


@pytest.mark.parametrize(("work", "given", "said"), [(fails, ("out of luck",), "out of luck"), (dies, (), "-9")])
def test_a_process_that_ends_early_ends_the_run(work, given, said):
    """The others do not wait for it, and the reason is told."""
    with pytest.raises(BtError, match=said), hired(2, work, *given) as crew:
        crew.heard(lambda: "anything")
        crew.heard(lambda: "anything")


CHILD = """
import sys
from pathlib import Path
from dataclasses import replace
from bt_runtime.distill import tokenizer
from tests.distill.test_crew import TWO
from tests.distill.test_training import training
words = tokenizer.load(Path(sys.argv[3]))
plan = replace(TWO, tokens=10**9)
training(Path(sys.argv[1]), Path(sys.argv[2]), words, plan, tell=lambda text: print(text, flush=True)).go()
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nobody_stays_behind(deadly, words, documents, tmp_path):
    """However the first process is ended, the others end too."""
    words.save(tmp_path / "t.json")
    child = [sys.executable, "-c", CHILD, str(documents), str(tmp_path / "run"), str(tmp_path / "t.json")]
    with subprocess.Popen(
        child, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        for line in process.stdout:
            if line.startswith("step 3 "):
                break
        others = _children(process.pid)
        assert others
        process.send_signal(deadly)
        process.communicate()
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
        training(documents, tmp_path, words, replace(PLAN, batch=64)).go()
    with pytest.raises(BtError, match="too few documents for so many"):
        training(documents, tmp_path, words, replace(PLAN, batch=256_000, processes=2)).epoch()
    with pytest.raises(BtError, match="train nothing"):
        Plan(tokens=1, processes=0)
