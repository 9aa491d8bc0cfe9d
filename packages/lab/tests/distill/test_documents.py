"""Shards of documents: written whole, read back as they were, and damage told with its line."""

from __future__ import annotations

import json

import pytest

from bt_lab.distill.documents import Document, read, shards, write
from bt_runtime import BtError
from packages.lab.tests.distill.errands import errands


def test_documents_come_back_as_they_were_written(tmp_path):
    """Letters of any kind and every span survive the file."""
    given = [*errands(5), Document("odd", "Ünï – \u2028 „x“ 🙂\nAct: done\n", ((14, 24),))]
    path = tmp_path / "a.jsonl"
    assert write(path, given) == 6
    assert list(read(path)) == given


GOOD = {"kind": "k", "text": "abc", "learn": [[0, 3]]}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[]", "an object"),
        (json.dumps({**GOOD, "text": ""}), "`text` must be a text"),
        (json.dumps({**GOOD, "kind": 3}), "`kind` must be a text"),
        (json.dumps({**GOOD, "learn": []}), "one at least"),
        (json.dumps({**GOOD, "learn": [[0, 1.5]]}), "not a span"),
        (json.dumps({**GOOD, "learn": [[0, True]]}), "not a span"),
        (json.dumps({**GOOD, "learn": [[0, 4]]}), "outside"),
        (json.dumps({**GOOD, "learn": [[1, 1]]}), "empty"),
        (json.dumps({**GOOD, "learn": [[1, 3], [0, 2]]}), "out of order"),
        ('{"kind": "k", "text": "\\', "not JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, told):
    """What is wrong is said with the file and the line, and the sound lines before it are there."""
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{line}\n", encoding="utf-8")
    found = read(path)
    assert next(found).text == "abc"
    with pytest.raises(BtError, match=told) as raised:
        next(found)
    assert f"{path}:3" in raised.value.message


def test_bytes_that_are_no_text_are_a_fault(tmp_path):
    """A shard that is not UTF-8 is told as damaged, not as a crash."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"kind": "k", "text": "\xff\xfe", "learn": [[0, 1]]}\n')
    with pytest.raises(BtError, match=":1"):
        list(read(path))


def test_a_shard_appears_only_when_it_is_whole(tmp_path):
    """When its writing breaks off, nothing stands under the shard's name."""

    def broken():
        yield from errands(3)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(tmp_path / "a.jsonl", broken())
    assert shards([tmp_path]) == []


def test_folders_give_their_shards_in_order_and_each_once(tmp_path):
    """A file that is named twice is read once; what is not a shard is not read."""
    for name in ("b.jsonl", "a.jsonl", "c.txt", "inner/d.jsonl"):
        write(tmp_path / name, errands(1))
    found = shards([tmp_path, tmp_path / "a.jsonl"])
    assert [str(p.relative_to(tmp_path)) for p in found] == ["a.jsonl", "b.jsonl", "inner/d.jsonl"]


def test_a_place_that_is_not_there_is_a_fault(tmp_path):
    """Nothing is trained on nothing."""
    with pytest.raises(BtError, match="no documents at"):
        shards([tmp_path / "none"])
