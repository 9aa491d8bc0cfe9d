from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bt_runtime.cli import COMMANDS, Exit
from tests.cli.conftest import Btr


def test_unknown_command_is_told_with_a_near_one(btr: Btr) -> None:
    said = btr("vlidate")
    assert said.code == Exit.USAGE
    assert said.err == "error: there is no command `vlidate`\n  help: did you mean `btr validate`?\n"


def test_nothing_at_all_shows_the_help_as_a_usage_error(btr: Btr) -> None:
    said = btr()
    assert said.code == Exit.USAGE
    assert said.out == ""
    assert "COMMAND" in said.err


def test_version_is_printed_alone(btr: Btr) -> None:
    assert btr("--version").out.startswith("btr 1.")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(btr: Btr, command: str) -> None:
    said = btr(command, "--help")
    assert said.code == 0
    assert f"btr {command}" in said.out


def test_an_unexpected_exception_is_one_line_and_exit_3(btr: Btr, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr("bt_runtime.cli.setup.doctor.checks", broken)
    said = btr("doctor")
    assert said.code == Exit.INTERNAL
    assert said.err.splitlines()[0] == "internal error: RuntimeError: no such luck"
    assert "Traceback" not in said.err
    monkeypatch.setenv("BTR_DEBUG", "1")
    assert "Traceback" in btr("doctor").err


def test_a_reader_that_has_left_is_no_traceback() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "bt_runtime.cli", "explain"]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, "")


LIGHT = ("py_trees", "jsonschema", "dataclasses", "inspect", "numpy", "llama_cpp", "faiss", "torch", "ray", "starlette")
HELP = (*LIGHT, "typing", "pathlib", "bt_runtime.types", "bt_runtime.language.project", "bt_runtime.language.source")
VALIDATE = (*LIGHT, "hashlib", "importlib.metadata", "bt_runtime.language.manifest",
            "bt_runtime.language.expression.parse")  # fmt: skip


@pytest.mark.parametrize(("words", "light"), [(["--help"], HELP), (["validate", "-"], VALIDATE)])
def test_help_and_validate_import_nothing_heavy(words: list[str], light: tuple[str, ...]) -> None:
    """Neither loads py_trees, an extra, what takes long to import of the standard library, or what it does not use."""
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom bt_runtime.cli import call\n"
        f"try: call({words!r})\nexcept SystemExit: pass\n"
        f"print([m for m in {light!r} if m in sys.modules and m not in before], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="version: 1\ntree: t\nroot: {log: hi}\n",
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"
