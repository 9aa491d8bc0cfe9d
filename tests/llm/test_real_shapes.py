"""Made-up weights in the shapes of models that people run, here in small: llama.cpp takes them, and they are sized."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.llm.local.header import ModelHeader, read_header
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from tests.llm.conftest import need_llama
from tests.support.real_shapes import SHAPES, header_of, make_shape, smaller

# bytes of one token's keys and values in 16 bits: layers that attend, heads with keys, twice the head, 2 bytes
PER_TOKEN = {
    "Qwen3-8B": 36 * 8 * 256 * 2, "Llama-3.1-8B": 32 * 8 * 256 * 2, "gpt-oss-20b": 24 * 8 * 128 * 2,
    "Qwen3.5-4B": 8 * 4 * 512 * 2, "Gemma-3-4B": 34 * 4 * 512 * 2,
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_token_s_share_of_the_cache_is_told_from_the_header(name: str) -> None:
    """Also of a hybrid, where one layer in four has any."""
    shape = SHAPES[name]
    about = {f"{shape.architecture}.{key}": value for key, value in header_of(shape).items()}
    header = ModelHeader(Path(name), 0, {"general.architecture": shape.architecture, **about}, 0, 0)
    assert header.bytes_per_token() == PER_TOKEN[name]


@pytest.mark.parametrize("name", SHAPES)
def test_llama_cpp_takes_a_small_file_of_the_shape_and_it_chooses(name: str, tmp_path: Path) -> None:
    """The names and sizes of all tensors are those that the architecture has."""
    need_llama()
    pytest.importorskip("gguf")
    file = make_shape(tmp_path / "small.gguf", smaller(SHAPES[name]))
    assert read_header(file).architecture == SHAPES[name].architecture
    with LocalModel(WorkerSettings(str(file), threads=1, context=512)) as model:
        choice = model.choose("The robot is", [" ready", " asleep"], mode="scores").wait(120)
    assert choice.scores is not None and len({*choice.scores}) == 2
