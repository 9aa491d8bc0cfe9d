"""`ollama:NAME` is the file that Ollama has fetched; whatever else lies there is told in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.llm.local.ollama import names
from bt_runtime.llm.settings import find_model

DIGEST = "ab" * 32


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path))
    (tmp_path / "blobs").mkdir()
    (tmp_path / f"blobs/sha256-{DIGEST}").write_bytes(b"GGUF")
    for name in (
        "registry.ollama.ai/library/qwen3/latest",
        "registry.ollama.ai/library/qwen3/4b",
        "hf.co/me/tiny/Q4_0",
    ):
        manifest = tmp_path / "manifests" / name
        manifest.parent.mkdir(parents=True, exist_ok=True)
        layers = [{"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "0" * 64},
                  {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{DIGEST}"}]  # fmt: skip
        manifest.write_text(json.dumps({"layers": layers}))
    return tmp_path


@pytest.mark.parametrize("name", ["qwen3", "qwen3:latest", "qwen3:4b", "hf.co/me/tiny:Q4_0"])
def test_a_name_is_the_file_with_its_weights(models: Path, name: str) -> None:
    assert find_model(f"ollama:{name}") == str(models / f"blobs/sha256-{DIGEST}")


def test_what_is_there_is_listed_as_it_is_named(models: Path) -> None:
    assert sorted(names()) == ["hf.co/me/tiny:Q4_0", "qwen3", "qwen3:4b"]


def test_a_model_that_is_not_there_is_told_with_what_is(models: Path) -> None:
    with pytest.raises(BtError, match="no model `qwen2`") as caught:
        find_model("ollama:qwen2")
    assert "ollama:qwen3" in caught.value.hint


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b/c/d", "", "qwen3:", "..", "a b"])
def test_a_name_leads_nowhere_else(models: Path, name: str) -> None:
    with pytest.raises(BtError, match="no name of a model"):
        find_model(f"ollama:{name}")


ODD = '{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "../x"}]}'


@pytest.mark.parametrize("text", ["", "[]", '{"layers": 3}', '{"layers": []}', '{"layers": [{"mediaType": "x"}]}', ODD])
def test_a_manifest_that_is_damaged_is_told(models: Path, text: str) -> None:
    (models / "manifests/registry.ollama.ai/library/qwen3/latest").write_text(text)
    with pytest.raises(BtError, match="does not say where the weights"):
        find_model("ollama:qwen3")


def test_weights_that_are_gone_are_told(models: Path) -> None:
    (models / f"blobs/sha256-{DIGEST}").unlink()
    with pytest.raises(BtError, match="are not there"):
        find_model("ollama:qwen3")
