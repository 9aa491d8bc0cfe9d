"""Documents as numbers: kept on disk, cut where they must be, and laid into batches without loss."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")

from bt_lab.distill import dataset, tokenizer
from bt_lab.distill.documents import Document, read, write
from bt_lab.distill.packing import packed, shuffled
from bt_runtime import BtError
from packages.lab.tests.distill.errands import errands


@pytest.fixture(scope="module")
def words():
    return tokenizer.train((d.text for d in errands(100)), 400)


def test_every_document_is_in_one_batch_and_no_batch_is_too_long():
    """Packing loses nothing, doubles nothing, and leaves little room unused."""
    rng = random.Random(3)
    lengths = [rng.randint(20, 2048) for _ in range(2000)]
    batches = packed(shuffled(2000, "x"), lengths, 8192)
    assert sorted(d for batch in batches for (d,) in batch) == list(range(2000))
    filled = [sum(lengths[d] for (d,) in batch) for batch in batches]
    assert max(filled) <= 8192
    assert sum(filled) > 0.98 * 8192 * len(batches)


def test_long_documents_come_early_too():
    """The order stays about the one that was drawn: not even those that fill a batch alone are kept for the end."""
    lengths = [4096 if i % 10 == 0 else 100 for i in range(3000)]
    batches = packed(shuffled(3000, "x"), lengths, 4096)
    where = [i / len(batches) for i, batch in enumerate(batches) for (d,) in batch if lengths[d] == 4096]
    assert min(where) < 0.05
    assert 0.4 < sum(where) / len(where) < 0.58


def test_rows_are_kept_by_what_they_hold(words, tmp_path):
    """The same bytes are not encoded twice; other bytes, or another tokenizer, are."""
    shard, cache = tmp_path / "a.jsonl", tmp_path / "rows"
    write(shard, errands(20))
    first = dataset.encode(shard, words, 256, cache)
    (kept,) = cache.iterdir()
    time = kept.stat().st_mtime_ns
    again = dataset.encode(shard, words, 256, cache)
    assert kept.stat().st_mtime_ns == time
    for name, value in first._asdict().items():
        assert list(value) == list(getattr(again, name)) if hasattr(value, "__len__") else value == getattr(again, name)
    write(shard, errands(21))
    dataset.encode(shard, words, 256, cache)
    dataset.encode(shard, words, 128, cache)
    assert len(list(cache.iterdir())) == 3


def test_a_long_document_is_cut_and_counted(words, tmp_path):
    """The beginning is learnt from; where nothing to learn is left of it, it is left out."""
    long = "You see a cup.\n" * 60 + "Act: done\n"
    write(
        tmp_path / "a.jsonl",
        [
            Document("late", long, ((len(long) - 10, len(long)),)),
            Document("early", "Act: go\n" + long, ((0, 8),)),
        ],
    )
    found = dataset.encode(tmp_path / "a.jsonl", words, 64, tmp_path / "rows")
    assert (found.cut, found.kinds, found.lengths.tolist()) == (2, ["early"], [64])


def test_what_is_held_back_does_not_depend_on_what_else_there_is(words, tmp_path):
    """A growing folder never moves a document from one side to the other."""
    write(tmp_path / "a.jsonl", errands(60, seed=1))
    write(tmp_path / "b.jsonl", [*errands(60, seed=2), *errands(60, seed=1)])
    one = dataset.gather([tmp_path / "a.jsonl"], words, 256, tmp_path / "rows", print)
    both = dataset.gather([tmp_path / "b.jsonl"], words, 256, tmp_path / "rows", print)
    assert one.held.tolist() == both.held.tolist()[60:]
    assert [dataset.is_held_out(d) for d in read(tmp_path / "a.jsonl")] == one.held.tolist()


def test_nothing_to_learn_is_a_fault(words, tmp_path):
    """Shards without documents end the run with a reason."""
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(BtError, match="nothing to learn"):
        dataset.gather([tmp_path / "a.jsonl"], words, 256, tmp_path / "rows", print)
