"""Training in slices: what travels is small, and a slice goes on where the one before it stopped."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("gguf", reason="needs the distill extra")

from bt_lab.distill import documents, pretrained  # noqa: E402
from bt_lab.distill.schedule import Schedule  # noqa: E402
from bt_runtime import BtError  # noqa: E402
from recipes.starter.drills import drills  # noqa: E402
from recipes.starter.gpu import CODE, LESSONS, WEIGHTS, main, pack, train, write  # noqa: E402

QUIET = Schedule(tokens=12_000, batch=1024, rate=3e-3, warm=2, compile=False, tell_every=1e9, look_every=1e9)
SHORT = replace(QUIET, slice=1e-6)  # over after one step


@pytest.fixture(scope="module")
def parcel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    documents.write(folder / "lessons" / "drills.jsonl", drills(3, 60))
    pack([folder / "lessons"], folder / "parcel")
    return folder / "parcel"


def test_a_parcel_holds_lessons_code_and_tokens_and_no_weights(parcel: Path) -> None:
    with tarfile.open(parcel / CODE) as code:
        names = code.getnames()
    assert {"packages/lab/bt_lab/distill/training.py", "recipes/starter/gpu.py"} <= set(names)
    assert not [name for name in names if name.endswith(".gguf")]
    assert (parcel / LESSONS).stat().st_size < 40_000
    assert sum(file.stat().st_size for file in parcel.iterdir() if file.is_file()) < 4_000_000


def test_slices_go_on_where_the_one_before_stopped_until_the_budget_is_spent(parcel: Path) -> None:
    """Also on another machine, where nothing but the parcel is."""
    first = train(parcel, SHORT, "toy", 1024)
    assert first.step == 1
    for left in (parcel / "work").rglob("*.pt"):
        left.unlink()
    second = train(parcel, SHORT, "toy", 1024)
    assert (second.step, second.tokens > first.tokens) == (2, True)
    whole = train(parcel, QUIET, "toy", 1024)
    assert whole.tokens >= QUIET.tokens
    assert train(parcel, QUIET, "toy", 1024).step == whole.step


def test_what_comes_back_is_half_of_the_weights_and_becomes_a_file(parcel: Path, tmp_path: Path) -> None:
    state = train(parcel, QUIET, "toy", 1024)
    write(parcel, tmp_path / "model.gguf", QUIET)
    made = pretrained.read(tmp_path / "model.gguf")
    assert made.size.context == 1024
    assert (parcel / WEIGHTS).stat().st_size < 2.3 * made.size.parameters
    assert state.documents


def test_without_lessons_there_is_nothing_to_pack_and_a_file_needs_a_name(parcel: Path, tmp_path: Path) -> None:
    with pytest.raises(BtError, match="no lessons to pack"):
        pack([tmp_path], tmp_path / "parcel")
    assert main(["file", "--parcel", str(parcel)]) == 2
