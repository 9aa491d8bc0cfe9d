"""Small networks of one weight, tried on the same documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="needs the distill extra")

from bt_lab.distill.documents import Document, write
from recipes.starter import shapes


def test_they_weigh_the_same_beside_their_vocabulary():
    weights = [size.parameters - size.vocab * size.width for size in shapes.SHAPES.values()]
    assert max(weights) < 1.1 * min(weights)


def test_a_line_tells_what_one_shape_came_to_and_it_is_not_trained_twice(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(shapes.SHAPES, "usual", replace(shapes.SHAPES["usual"], width=64, layers=1, vocab=300))
    told = [f"Name {n * 7919 % 1000}.\nIt is {n * 7919 % 1000}.\n" for n in range(300)]
    write(tmp_path / "a.jsonl", [Document("copy", text, ((text.index("\n") + 7, len(text)),)) for text in told])
    words = ["usual", "--from", str(tmp_path / "a.jsonl"), "--rounds", "1", "--out", str(tmp_path / "out")]

    assert shapes.main(words) == 0
    first = capsys.readouterr().out
    assert first.startswith("usual: ") and "exact all" in first

    assert shapes.main(words) == 0
    again = capsys.readouterr()
    assert again.out == first
    assert "tokens/s" not in again.err
