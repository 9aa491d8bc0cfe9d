"""Every process of ours is started through one door, and none of them finds its modules in the working directory."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime.language.project import child
from tests.support.shadows import SHADOWS
from tests.support.workspace import WHEELS, home_of

PACKAGE = Path(child.__file__).parents[2]
STARTS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
OF_OS = ("system", "popen", "exec", "spawn", "fork", "posix_spawn", "startfile")
OF_MULTIPROCESSING = {"get_context", "Process", "Pool", "Manager", "set_start_method"}
BECOMES = {
    "bt_runtime/language/project/guarded.py"
}  # a child already, which becomes the command that it was started for
PAYLOAD = "import pathlib, sys\npathlib.Path({folder!r}, 'EXECUTED-' + __name__).write_text(' '.join(sys.argv))\n"


def starts(path: Path) -> list[str]:
    """Where a file starts processes by itself."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            told = ast.unparse(node.func)
            owner, _, name = told.rpartition(".")
            if (
                (owner == "subprocess" and name in STARTS)
                or (owner == "os" and name.startswith(OF_OS))
                or (owner in ("asyncio", "") and name.startswith("create_subprocess"))
                or name in OF_MULTIPROCESSING & {"get_context", "set_start_method"}
                or (owner.startswith("multiprocessing") and name in OF_MULTIPROCESSING)
                or (name == "ProcessPoolExecutor" and not any(k.arg == "mp_context" for k in node.keywords))
                or (told == "ray.init" and "standing_at_home" not in path.read_text("utf-8"))
            ):
                found.append(f"{path.relative_to(home_of(path))}:{node.lineno}: {told}")
        elif isinstance(node, ast.ImportFrom) and node.module == "subprocess":
            found += [
                f"{path.relative_to(home_of(path))}:{node.lineno}: {a.name}" for a in node.names if a.name in STARTS
            ]
    return found


@pytest.mark.parametrize(
    "path",
    sorted(
        p for home in WHEELS.values() for p in home.rglob("*.py") if p != PACKAGE / "language" / "project" / "child.py"
    ),
    ids=lambda p: str(p.relative_to(home_of(p))),
)
def test_no_other_module_starts_a_process(path: Path) -> None:
    assert [found for found in starts(path) if found.partition(":")[0] not in BECOMES] == []


def test_the_sweep_sees_what_it_is_for() -> None:
    assert len(starts(PACKAGE / "language" / "project" / "child.py")) >= 3


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder in which every module that is looked for first would leave a trace."""
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(PAYLOAD.format(folder=str(tmp_path)))
    return tmp_path


def traces(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("EXECUTED*"))


def test_the_trap_springs_when_python_is_started_carelessly(trap: Path) -> None:
    subprocess.run([sys.executable, "-c", "import queue"], cwd=trap, timeout=900, capture_output=True)
    assert traces(trap)


def test_a_child_finds_the_package_and_nothing_of_the_folder_it_stands_in(
    trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap)
    monkeypatch.syspath_prepend(str(trap))
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setenv("PYTHONPATH", f":{trap}:")  # an empty part is the working directory
    told = child.output_of("import queue, contextlib, json, yaml, bt_runtime; print(bt_runtime.__file__)", 60)
    assert told.strip() == str(PACKAGE / "__init__.py")
    process = child.start(child.python("bt_runtime.cli", "--version"), stdout=subprocess.PIPE)
    assert process.communicate(timeout=900)[0].startswith(b"btr ")
    assert traces(trap) == []


def test_spawned_processes_take_the_same_care_and_ours_is_left_as_it_was(
    trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with child.spawning() as context:
        process = context.Process(target=os.getcwd)
        process.start()
        process.join(60)
    assert process.exitcode == 0
    assert traces(trap) == []
    assert "PYTHONSAFEPATH" not in os.environ
