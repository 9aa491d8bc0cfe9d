"""docs/finetune.md, from recorded runs to a run with an adapter, as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the distill extra")
pytest.importorskip("tokenizers", reason="needs the distill extra")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

from bt_runtime.cli import main
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import Settings, starter
from tests.distill.recorded import oracle, recorded

PAGE = Path(__file__).parents[2] / "docs" / "finetune.md"
(PROGRAM,) = re.findall(r"```python program\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
WAIT = 60


def test_from_recorded_runs_to_a_run_with_an_adapter(tmp_path, capsys):
    """The rows of some runs lower the loss, and the adapter makes what was taught likelier in llama.cpp."""
    for seed in (7, 8, 9):
        recorded(tmp_path / "runs", oracle(seed), seed=seed)
    rows = tmp_path / "sft.jsonl"
    words = ["--format", "sft", "--model", "starter", "--runs", str(tmp_path / "runs"), "-o", str(rows)]
    assert main(["runs", "export", *words]) == 0
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(rows), str(tmp_path / "lora.gguf"), "8"],
        capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines()]
    assert sum(losses[-2:]) < 0.9 * sum(losses[:2])

    row = json.loads(rows.read_text().splitlines()[0])
    start, end = row["spans"][1]
    asked, said = row["text"][:start], row["text"][start:end].strip()
    likely = {}
    for name, lora in (("alone", []), ("adapted", [str(tmp_path / "lora.gguf")])):
        with LocalModel(Settings(str(starter()), lora=lora, threads=1, turns="one")) as model:
            likely[name] = model.choose(asked, [said], mode="scores").wait(WAIT).logprob
    assert likely["adapted"] > likely["alone"] + 0.05
