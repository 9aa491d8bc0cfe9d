"""One running yaml-language-server for all tests of this folder, beside the shipped schemas."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_runtime.language.emit import generated
from packages.author.tests.editor.lsp import Server

ROOT = Path(__file__).parents[4]
PROGRAM = ROOT / ".cache/npm/node_modules/yaml-language-server/bin/yaml-language-server"
MANIFEST = """\
version: 1
skills: depot
kinds:
  go_to:
    sentence: go to {place}
    about: Walks to a place.
    params: {place: string, speed: {type: number, default: 1, minimum: 0, maximum: 2}}
  look:
    params: {side: {type: string, choices: [left, right]}}
    outputs: {seen: list}
"""


def installed() -> Path:
    """The server's program; skips with the reason when it cannot be had here."""
    missing = [name for name in ("node", "npm", "make") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    if not PROGRAM.is_file():
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        try:
            made = subprocess.run(
                ["make", "editor"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
            )
        except subprocess.TimeoutExpired:
            pytest.skip("`make editor` did not end: is there a network?")
        if made.returncode:
            pytest.skip(f"`make editor` failed: {(made.stderr or made.stdout).strip()[-200:]}")
    return PROGRAM


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = installed()
    folder = tmp_path_factory.mktemp("project")
    (folder / "skills").mkdir()
    (folder / "skills" / "depot.yaml").write_text(MANIFEST)
    generated.write({folder / name: generated.as_text(schema) for name, schema in generated.schemas(folder).items()})
    running = Server(["node", str(program), "--stdio"], folder)
    yield running
    running.close()
