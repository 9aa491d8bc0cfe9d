"""`btr lab distill` from the command line: one command, that goes on, exports, and says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")
pytest.importorskip("gguf", reason="needs the distill extra")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

import torch

from bt_lab.distill.documents import write
from bt_runtime.cli import main
from bt_runtime.llm.local.header import read_header
from packages.lab.tests.distill.errands import errands

TOY = ["--size", "toy", "--vocab", "400", "--context", "256", "--batch", "1024"]


@pytest.fixture(autouse=True)
def uncompiled():
    """Compiling takes longer than all the rest."""
    with torch.compiler.set_stance("force_eager"):
        yield


@pytest.fixture
def places(tmp_path: Path) -> tuple[str, str]:
    write(tmp_path / "documents" / "0.jsonl", errands(120))
    return str(tmp_path / "documents"), str(tmp_path / "mine.gguf")


def test_one_command_makes_a_file_and_a_longer_one_prolongs_it(places, capsys):
    """It tells its progress on stderr, its summary on stdout, and goes on when it is asked for more."""
    documents, out = places
    assert main(["lab", "distill", "--from", documents, "--out", out, "--tokens", "8000", *TOY]) == 0
    said = capsys.readouterr()
    assert "answers exact" in said.out
    assert "against PyTorch: logits differ by" in said.out
    assert f"btr run TREE --model {out}" in said.out
    assert "120 documents in 1 shards" in said.err
    about = read_header(out).about
    assert about["distill.command"].startswith(
        f"btr lab distill --from {documents} --out mine.gguf --tokens 8000 --size toy"
    )
    assert main(["lab", "distill", "--from", documents, "--out", out, "--tokens", "12000", *TOY]) == 0
    assert "going on at step" in capsys.readouterr().err
    assert main(["lab", "distill", "--from", documents, "--out", out, "--tokens", "12000", *TOY]) == 0
    assert "trained already" in capsys.readouterr().err


def test_the_latest_checkpoint_becomes_a_file_without_training(places, tmp_path, capsys):
    """So a run can be tried while it goes on."""
    documents, out = places
    assert main(["lab", "distill", "--from", documents, "--out", out, "--tokens", "4000", *TOY]) == 0
    other = str(tmp_path / "now.gguf")
    work = str(tmp_path / "mine.work")
    asked = ["lab", "distill", "--from", documents, "--out", other, "--work", work, "--export", "--quantise", "f16"]
    assert main(asked) == 0
    assert "step" not in capsys.readouterr().err.partition("writing")[2]
    assert Path(other).stat().st_size > Path(out).stat().st_size


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--from", "nowhere", "--out", "x.gguf", "--minutes", "1"], "there is no nowhere"),
        (["--from", ".", "--out", "x.gguf"], "training needs an end"),
        (["--from", ".", "--out", "x.gguf", "--tokens", "-1"], "training needs an end"),
        (["--from", "empty", "--out", "x.gguf", "--tokens", "9"], "there is nothing to learn in empty"),
        (["--from", "bad.jsonl", "--out", "x.gguf", "--tokens", "9"], "bad.jsonl:1: this line is not JSON"),
        (["--from", "bad.jsonl", "--out", "x.gguf", "--export"], "there is no checkpoint"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path, monkeypatch, capsys, words, told):
    """A usage fault, with the reason first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.jsonl").write_text("{\n")
    assert main(["lab", "distill", *words]) == 2
    assert any(line.startswith(f"error: {told}") for line in capsys.readouterr().err.splitlines())
