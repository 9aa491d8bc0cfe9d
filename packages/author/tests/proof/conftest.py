"""Long tests that go on after a stop: with PROOFS_KEPT=FOLDER each passed test is noted in a file for this state of the
code, and is skipped the next time."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
CODE = (
    *(f"bt_runtime/{room}" for room in ("run/monitoring", "language", "tree", "testing")),
    "packages/author/bt_author/proof",
    "packages/author/tests/proof",
    "tests/support",
)
KEPT = os.environ.get("PROOFS_KEPT", "")
SIZES = (
    "BESIDE_TREES", "BESIDE_PROJECTS", "SOUND_TREES", "BRUTE_TREES", "CHANCE_TREES", "CHANCE_RUNS", "GRAFTS",
    "MUTATIONS", "CHANGES",
)  # fmt: skip


@cache
def passed() -> Path:
    """Returns the file of the tests that have passed with this code and these sizes."""
    files = sorted(file for folder in CODE for file in (ROOT / folder).rglob("*.py"))
    sizes = " ".join(os.environ.get(name, "") for name in SIZES).encode()
    folder = ROOT / KEPT  # a test may stand in a folder of its own when it ends
    folder.mkdir(parents=True, exist_ok=True)
    return folder / hashlib.sha256(b"".join([sizes, *(file.read_bytes() for file in files)])).hexdigest()[:12]


if KEPT:

    def pytest_runtest_setup(item: pytest.Item) -> None:
        if passed().exists() and item.name in passed().read_text().splitlines():
            pytest.skip("it has passed with this code before")

    def pytest_runtest_logreport(report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            with passed().open("a") as out:
                print(report.nodeid.rpartition("::")[2], file=out)
