"""The source distribution is a checkout without its history: the two commands of the README work in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 120  # seconds for one command: a guard against hanging


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=LONGEST)
    with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
        archive.extractall(out, filter="data")
    return next(path for path in out.iterdir() if path.is_dir())


def test_every_tracked_file_is_in_the_source_distribution(unpacked: Path) -> None:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this is no checkout")
    tracked = [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert [name for name in tracked if not (unpacked / name).is_file()] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_knows_how_to_make_what_the_readme_names(unpacked: Path, target: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", target, f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=unpacked, env=env, capture_output=True, text=True, timeout=LONGEST)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().splitlines()[-1].split()[1:3] == [
        "-m",
        {"demo": "bt_runtime.cli", "test": "pytest"}[target],
    ]
