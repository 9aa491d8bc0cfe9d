"""The states of prompts on disk: the next start begins with them, bit for bit, and nothing on disk can harm it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bt_runtime.llm.local.prompt_store import SUFFIX, PromptStore
from tests.llm.conftest import need_llama
from tests.llm.test_worker import until

FIXED = "go to the kitchen and find the apple, then open the fridge and look at the bread. " * 25
OPTIONS = (" open the fridge", " pick up the apple", " go to the table", " done")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The user's cache of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "bt_runtime" / "prompts"


def asked(open_model, prompt: str, **settings):
    need_llama()
    model = open_model(lanes=1, **{"keep": 16, **settings})
    job = model.choose(FIXED + prompt, OPTIONS, mode="scores")
    return job.wait(60), job.spent, model


def written(folder: Path, count: int = 1) -> list[Path]:
    """The files, once the idle worker has written them."""
    until(lambda: len([*folder.glob(f"*{SUFFIX}")]) >= count)
    return sorted(folder.glob(f"*{SUFFIX}"))


def test_the_next_start_computes_only_what_is_new_and_scores_alike(open_model, folder):
    """Another task behind the same beginning: the beginning is not evaluated again, and each score is the same bits
    as without the disk."""
    asked(open_model, "Your task is to clean the knife.\nAct:")
    written(folder)
    warm, spent, _ = asked(open_model, "Your task is to heat the egg.\nAct:")
    cold, whole, _ = asked(open_model, "Your task is to heat the egg.\nAct:", keep=0)
    assert warm.scores == cold.scores
    assert whole.reused == 0 and spent.reused >= 256
    assert whole.computed - spent.computed == spent.reused


def test_a_common_beginning_is_not_computed_again_to_its_last_token(open_model, folder):
    """Wherever two prompts part, in whatever pieces they were computed: each score is the same bits."""
    tasks = ("Your task is to clean the knife.\nAct:", "Heat the egg, then take the apple.\nAct:")
    asked(open_model, tasks[0], chunk=96)
    written(folder)
    warm, spent, model = asked(open_model, tasks[1], chunk=96)
    cold, whole, _ = asked(open_model, tasks[1], chunk=64, keep=0)
    assert warm.scores == cold.scores and whole.reused == 0
    fixed = model.count(FIXED)
    assert fixed % 96 > 8 and fixed - 2 <= spent.reused <= fixed + 1


def test_files_are_private_and_of_one_beginning_there_is_one(open_model, folder):
    """What prompts say is nobody else's: mode 0600 in a folder of mode 0700. A prompt that began with a kept one is
    not kept again."""
    asked(open_model, "one\nAct:")
    (path,) = written(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(folder.stat().st_mode) == 0o700
    _, _, model = asked(open_model, "two\nAct:")
    model.choose("something else", OPTIONS).wait(60)
    assert [*folder.glob("*")] == [path]


@pytest.mark.parametrize("harm", ["cut", "flipped", "header", "empty", "state"])
def test_a_damaged_file_is_told_and_removed(open_model, folder, harm):
    """It is as if it had never been there: the same answer, and a note in `stats()`."""
    asked(open_model, "one\nAct:")
    (path,) = written(folder)
    data = bytearray(path.read_bytes())
    if harm == "state":  # a sound file around something that is no state of llama.cpp's
        store = PromptStore(path.name.partition("-")[0], 16 << 20, print, folder)
        (entry,) = store.entries
        store.keep(entry.tokens, b"\0" * 4096)
    else:
        at = {"flipped": len(data) - 100, "header": 20}.get(harm, 0)
        data[at] ^= 1
        path.write_bytes({"cut": data[: len(data) // 2], "empty": b""}.get(harm, data))
    harmed = path.stat()
    found, spent, model = asked(open_model, "one\nAct:")
    assert spent.reused == 0
    assert found.scores == asked(open_model, "one\nAct:", keep=0)[0].scores
    assert any(path.name in note and "ignored" in note for note in model.stats()["notes"])
    until(lambda: path.exists() and path.stat().st_mtime_ns != harmed.st_mtime_ns)  # written anew


def test_what_others_may_write_to_is_not_used(open_model, folder):
    """A state goes into llama.cpp as it is, so it has to be the user's own."""
    asked(open_model, "one\nAct:")
    (path,) = written(folder)
    path.chmod(0o666)
    assert asked(open_model, "one\nAct:")[1].reused == 0


def test_another_adapter_or_cache_is_another_key(open_model, folder):
    """The states of a 16-bit cache say nothing to one of 8 bits."""
    asked(open_model, "one\nAct:")
    written(folder)
    assert asked(open_model, "one\nAct:", cache_type="f32")[1].reused == 0


def test_the_folder_stays_within_its_bound(tmp_path):
    """The files that were used longest ago go first, those of other models too; what is too large is not kept."""
    store = PromptStore("k" * 16, 10_000, print, tmp_path)
    other = tmp_path / f"other-1{SUFFIX}"
    other.write_bytes(b"x" * 3_000)
    os.utime(other, (1, 1))
    for first in range(4):
        store.keep((first, *range(300)), b"s" * 3_000)
    sizes = [path.stat().st_size for path in tmp_path.glob(f"*{SUFFIX}")]
    assert sum(sizes) <= 10_000 and len(sizes) == len(store.entries) == 2
    assert not other.exists()
    store.keep(range(400), b"s" * 20_000)
    assert len(store.entries) == 2


def test_a_folder_that_cannot_be_made_is_told(open_model, tmp_path, monkeypatch):
    """Without a place to write to the model works as before."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    _, spent, model = asked(open_model, "one\nAct:")
    assert spent.reused == 0 and any("not kept on disk" in note for note in model.stats()["notes"])
