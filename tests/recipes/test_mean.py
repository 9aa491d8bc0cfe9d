"""The weights between where a training began and where it ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("gguf", reason="needs the distill extra")

from bt_lab.distill import checkpoint, gguf_file, pretrained, tokenizer  # noqa: E402
from bt_lab.distill.network import Network  # noqa: E402
from bt_lab.distill.size import SIZES  # noqa: E402
from bt_runtime import BtError  # noqa: E402
from recipes.starter.mean import main, mean  # noqa: E402


def test_each_weight_lies_between_and_other_tokens_are_refused(tmp_path: Path) -> None:
    words = tokenizer.train(["go to the sink and pick up the cup"] * 3, 280)
    size = replace(SIZES["toy"], vocab=words.size, context=64)
    old, new = Network(size, 1).state_dict(), Network(size, 2).state_dict()
    gguf_file.write(tmp_path / "old.gguf", old, size, words, "f32", {"command": "x"})
    about = {"size": {name: getattr(size, name) for name in size.__slots__}, "tokenizer": words.digest}
    checkpoint.save(tmp_path / "latest.pt", checkpoint.State(tokens=5), about, new, {})
    told = [str(tmp_path / "old.gguf"), str(tmp_path), "--share", "0.75", "--out", str(tmp_path / "out.gguf")]
    assert main(told) == 0
    found = pretrained.read(tmp_path / "out.gguf").weights
    for name, weight in found.items():
        assert torch.allclose(weight, 0.25 * old[name] + 0.75 * new[name], atol=2e-3)
    checkpoint.save(tmp_path / "latest.pt", checkpoint.State(), {**about, "tokenizer": "other"}, new, {})
    with pytest.raises(BtError, match="other tokens"):
        mean(tmp_path / "old.gguf", [tmp_path], 0.5, tmp_path / "out.gguf")


def test_trainings_side_by_side_count_alike(tmp_path: Path) -> None:
    """Two work folders have half of the share each."""
    words = tokenizer.train(["go to the sink and pick up the cup"] * 3, 280)
    size = replace(SIZES["toy"], vocab=words.size, context=64)
    old, *new = (Network(size, seed).state_dict() for seed in (1, 2, 3))
    gguf_file.write(tmp_path / "old.gguf", old, size, words, "f32", {"command": "x"})
    about = {"size": {name: getattr(size, name) for name in size.__slots__}, "tokenizer": words.digest}
    works = [tmp_path / name for name in "ab"]
    for work, weights in zip(works, new, strict=True):
        work.mkdir()
        checkpoint.save(work / "latest.pt", checkpoint.State(tokens=5), about, weights, {})
    mean(tmp_path / "old.gguf", works, 0.5, tmp_path / "out.gguf")
    for name, weight in pretrained.read(tmp_path / "out.gguf").weights.items():
        assert torch.allclose(weight, 0.5 * old[name] + 0.25 * new[0][name] + 0.25 * new[1][name], atol=2e-3)
