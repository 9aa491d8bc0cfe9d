"""The extension for VS Code: it starts what there is, and packs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from bt_runtime import __version__
from bt_runtime.cli import COMMANDS

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "editors" / "vscode"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the extension is not part of the source distribution")


def test_what_the_page_gives_other_editors_to_start_is_a_command_that_there_is() -> None:
    """`btr lsp` was on the page: it says its new name and ends, so that the editor has no server."""
    page = (ROOT / "docs/editor.md").read_text()
    started = [
        " ".join(re.findall(r"\w+", words)) for words in re.findall(r"""['"]btr['"],? ((?:['"]\w+['"],? ?)+)""", page)
    ]
    assert len(started) == 2 and set(started) <= COMMANDS.keys()


def test_it_starts_a_command_that_there_is_and_has_what_the_lenses_ask_for() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    script = (FOLDER / "extension.js").read_text()
    lenses = re.findall(r'"(btr\.\w+)"', (ROOT / "packages/author/bt_author/lsp/outline.py").read_text())
    commands = {each["command"] for each in package["contributes"]["commands"]}
    assert set(lenses) <= commands and all(f'"{name}"' in script for name in commands)
    assert '["serve", "lsp"]' in script and "serve lsp" in COMMANDS
    assert package["version"] == __version__


def test_its_script_is_javascript() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    subprocess.run([node, "--check", str(FOLDER / "extension.js")], check=True, timeout=900)


def test_it_packs() -> None:
    if not (ROOT / ".cache/vscode/node_modules/.bin/vsce").is_file():
        pytest.skip("`make extension` fetches vsce, once")
    subprocess.run(["make", "-s", "extension"], cwd=ROOT, check=True, timeout=900)
    names = zipfile.ZipFile(ROOT / "build/bt-runtime.vsix").namelist()
    assert {"extension/extension.js", "extension/package.json"} <= set(names)
    assert any(name.startswith("extension/node_modules/vscode-languageclient/") for name in names)
