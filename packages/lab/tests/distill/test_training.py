"""Training runs: killed, gone on with, prolonged, fed while they run."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")

import torch

from bt_lab.distill import checkpoint, tokenizer
from bt_lab.distill.checkpoint import LATEST, STEADY
from bt_lab.distill.documents import write
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.training import mixes
from bt_runtime import BtError
from packages.lab.tests.distill.errands import errands
from packages.lab.tests.distill.toy_training import SCHEDULE, same, training, weights

pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def words():
    return tokenizer.train((d.text for d in errands(100)), 400)


CHILD = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from bt_lab.distill import tokenizer
from packages.lab.tests.distill.toy_training import training
words = tokenizer.load(Path(sys.argv[3]))
training(Path(sys.argv[1]), Path(sys.argv[2]), words, tell=lambda text: print(text, flush=True)).go()
"""


def test_a_killed_run_goes_on_to_the_same_weights(words, documents, tmp_path):
    """Killed in the middle and started again, a run ends with bit for bit the weights of one that was left alone."""
    training(documents, tmp_path / "whole", words).go()
    words.save(tmp_path / "t.json")
    child = [sys.executable, "-c", CHILD, str(documents), str(tmp_path / "cut"), str(tmp_path / "t.json")]
    with subprocess.Popen(child, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4]) as process:
        for line in process.stdout:
            if line.startswith("step 8 "):
                break
        process.send_signal(signal.SIGKILL)
    state = checkpoint.load(tmp_path / "cut" / LATEST)[0]
    assert 6 <= state.step < 30
    training(documents, tmp_path / "cut", words).go()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "cut"))


def test_ctrl_c_is_heard_at_the_end_of_a_step(words, documents, tmp_path):
    """Interrupted when the weights have moved and nothing is noted yet, a run goes on to the same weights."""
    short = replace(SCHEDULE, tokens=6000)
    training(documents, tmp_path / "whole", words, short).go()
    cut = training(documents, tmp_path / "cut", words, short)
    move, before = cut.optimiser.step, signal.getsignal(signal.SIGINT)

    def interrupted(rate: float) -> None:
        move(rate)
        if cut.state.step == 2:
            signal.raise_signal(signal.SIGINT)

    cut.optimiser.step = interrupted
    with pytest.raises(KeyboardInterrupt):
        cut.go()
    assert signal.getsignal(signal.SIGINT) is before
    assert checkpoint.load(tmp_path / "cut" / LATEST)[0].step == 3
    training(documents, tmp_path / "cut", words, short).go()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "cut"))


def test_the_seed_decides(words, documents, tmp_path):
    """The same seed gives the same weights, another one others."""
    short = replace(SCHEDULE, tokens=4000)
    for name, schedule in (("a", short), ("b", short), ("c", replace(short, seed=1))):
        training(documents, tmp_path / name, words, schedule).go()
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "c"))


def test_a_prolonged_run_goes_on_from_before_its_rate_fell(words, documents, tmp_path):
    """With a larger budget a finished run is as if it had had that budget from the beginning."""
    training(documents, tmp_path / "a", words, replace(SCHEDULE, tokens=10_000)).go()
    steady = checkpoint.load(tmp_path / "a" / STEADY)[0]
    assert 0.7 * 10_000 < steady.tokens < 0.95 * 10_000
    assert not steady.fallen
    training(documents, tmp_path / "a", words, replace(SCHEDULE, tokens=20_000)).go()
    training(documents, tmp_path / "b", words, replace(SCHEDULE, tokens=20_000)).go()
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))


def test_shards_that_come_later_are_learnt_from_in_the_next_epoch(words, tmp_path):
    """A folder may grow while a run reads it; the epoch that has begun is not disturbed."""
    folder = tmp_path / "documents"
    write(folder / "0.jsonl", errands(40))
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        write(folder / "1.jsonl", errands(40, seed=9))

    training(folder, tmp_path / "a", words, replace(SCHEDULE, tokens=9000), tell).go()
    epochs = [text for text in told if text.startswith("epoch")]
    assert [("40 documents in 1 shards" in e, "80 documents in 2 shards" in e) for e in epochs] == [
        (True, False),
        (False, True),
    ]


def test_every_epoch_has_an_order_of_its_own(words, documents, tmp_path):
    """The same documents, in batches that another epoch and another seed draw anew."""
    one = training(documents, tmp_path / "a", words)
    orders = [one.epoch()[1]]
    one.state.epoch = 1
    orders.append(one.epoch()[1])
    orders.append(training(documents, tmp_path / "b", words, replace(SCHEDULE, seed=1)).epoch()[1])
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert {tuple(sorted(d for batch in order for group in batch for d in group)) for order in orders} == {
        tuple(sorted(d for batch in orders[0] for group in batch for d in group))
    }


def test_other_weights_can_be_the_beginning(words, documents, tmp_path):
    """`init` takes the weights and nothing else: the schedule and the count begin anew."""
    short = replace(SCHEDULE, tokens=3000)
    training(documents, tmp_path / "a", words, short).go()
    begun = training(documents, tmp_path / "b", words, short, init=tmp_path / "a" / LATEST)
    assert same(weights(tmp_path / "a"), begun.network.state_dict())
    assert begun.state.step == 0


def test_a_slice_ends_before_the_budget_and_the_next_goes_on_to_the_weights_of_one_go(words, documents, tmp_path):
    training(documents, tmp_path / "whole", words).go()
    short = replace(SCHEDULE, slice=1e-9)  # over after a step
    first = training(documents, tmp_path / "parts", words, short).go()
    assert (first.step, training(documents, tmp_path / "parts", words, short).go().step) == (1, 2)
    training(documents, tmp_path / "parts", words).go()
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))


def test_what_cannot_be_gone_on_with_is_told(words, documents, tmp_path):
    """A checkpoint of other tokens or sizes, a damaged one, and a budget without end are faults."""
    short = replace(SCHEDULE, tokens=2000)
    training(documents, tmp_path, words, short).go()
    others = tokenizer.train((d.text for d in errands(100)), 390)
    with pytest.raises(BtError, match="another size"):
        training(documents, tmp_path, others, short)
    data = (tmp_path / LATEST).read_bytes()
    (tmp_path / LATEST).write_bytes(data[: len(data) // 2])
    with pytest.raises(BtError, match="not a checkpoint"):
        training(documents, tmp_path, words, short)
    with pytest.raises(BtError, match="no checkpoint"):
        training(documents, tmp_path / "new", words, short, init=tmp_path / "none.pt")
    with pytest.raises(BtError, match="needs an end"):
        Schedule()


def test_changed_documents_begin_a_new_epoch(words, tmp_path):
    """When the shards of the checkpoint are gone, the run goes on with those that are there."""
    write(tmp_path / "documents" / "0.jsonl", errands(200))
    training(tmp_path / "documents", tmp_path / "a", words, replace(SCHEDULE, tokens=5000)).go()
    shutil.rmtree(tmp_path / "documents")
    write(tmp_path / "documents" / "1.jsonl", errands(50, seed=5))
    told: list[str] = []
    training(tmp_path / "documents", tmp_path / "a", words, replace(SCHEDULE, tokens=8000), told.append).go()
    assert any("not the documents of the checkpoint" in text for text in told)


@pytest.mark.parametrize(("unit", "units"), [("amx_bf16", True), ("avx512_bf16", True), ("avx512_f", False)])
def test_products_are_of_half_precision_only_where_there_are_units_for_it(
    unit, units, words, documents, tmp_path, monkeypatch
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {unit: True})
    assert mixes("cuda") and mixes("cpu") is units
    begun = training(documents, tmp_path, words)
    begun.device, found = "cpu", []
    begun.network.register_forward_hook(lambda *heard: found.append(torch.is_autocast_enabled("cpu")))
    rows, batches = begun.epoch()
    begun._step(rows, batches[0])
    assert found == [units]
