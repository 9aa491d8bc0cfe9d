"""`btr(...)`: one command in this process, in a fresh folder, with what it printed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime.cli import call


class Said(NamedTuple):
    code: int
    out: str
    err: str


Btr = Callable[..., Said]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, without settings of the person who runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROJECT", "COLOR", "OUTPUT_FORMAT", "STRICT", "HZ", "SECONDS", "TICKS", "LOG", "ENV", "DEBUG"):
        monkeypatch.delenv(f"BTR_{name}", raising=False)
    return tmp_path


@pytest.fixture
def btr(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Btr:
    def run(*words: object, stdin: bytes = b"") -> Said:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = call([str(w) for w in words])
        except SystemExit as leave:  # argparse's way out
            code = int(leave.code or 0)
        return Said(code, *capsys.readouterr())

    return run


def tree(*lines: str, head: str = "") -> str:
    """A tree file with this root."""
    return "\n".join(["version: 1", "tree: t", *head.splitlines(), "root:", *(f"  {line}" for line in lines), ""])
