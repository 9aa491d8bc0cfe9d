"""What lies in examples/ and in the gallery runs as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GALLERY = re.findall(r"^```sh\n(btr run .*)\n```$", (ROOT / "docs" / "gallery.md").read_text("utf-8"), re.MULTILINE)


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )


def test_the_notebook_shows_what_its_cells_show(tmp_path: Path) -> None:
    """Each cell is run; `make generated` writes what it shows into the notebook."""
    before = (ROOT / "examples" / "first_steps.ipynb").read_text("utf-8")
    code = f"import sys; sys.path.insert(0, {str(ROOT / '.ci')!r}); import notebook, pathlib; "
    code += f"sys.stdout.write(notebook.played(pathlib.Path({str(ROOT / 'examples' / 'first_steps.ipynb')!r})))"
    done = run("-c", code, cwd=tmp_path)
    assert done.stdout == before, done.stderr


def test_the_typed_program_runs(tmp_path: Path) -> None:
    done = run(str(ROOT / "examples" / "typed.py"), cwd=tmp_path)
    assert done.returncode == 0 and "awaited: SUCCESS" in done.stdout, done.stderr


def test_the_gallery_has_twelve_trees() -> None:
    assert len(GALLERY) == 12


@pytest.mark.parametrize("line", GALLERY, ids=lambda line: line.split()[2])
def test_each_tree_of_the_gallery_runs_by_its_command(line: str, tmp_path: Path) -> None:
    if "--model" in line:
        pytest.importorskip("llama_cpp")
    done = run("-m", "bt_runtime.cli", *shlex.split(line)[1:], cwd=tmp_path)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout[-500:] + done.stderr[-500:]
