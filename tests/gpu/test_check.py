"""The check of a GPU is itself known to work: it says why it cannot run, and runs on a processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="needs the llm extra")
pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")

SCRIPT = Path(__file__).parent / "check.py"


def said(**environment: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("MODEL", "ONLY", "GPU_LAYERS")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=300, env=env | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_without_a_gpu_it_says_so() -> None:
    """Nothing is claimed where nothing was run."""
    told = said(ONLY="nothing")
    assert "GPUs that llama.cpp can use: " in told
    if "can use: none" in told:
        assert "skipped everything: no GPU" in told


def test_on_a_processor_the_script_is_tried() -> None:
    """GPU_LAYERS=0: cancel and kill are checked on a small file, and no line says PROBLEM."""
    told = said(GPU_LAYERS="0", ONLY="stopping")
    assert "ok      a killed worker is replaced" in told
    assert "a prompt is cancelled" in told and "PROBLEM" not in told
