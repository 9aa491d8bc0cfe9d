from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bt_runtime.cli import COMMANDS
from tests.cli.conftest import Btr


def _bash(script: str, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    line = " ".join(f"'{w}'" for w in words)
    program = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _btr; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    return sorted(done.stdout.split())


def test_bash_completes_commands_options_words_and_files(btr: Btr, here: Path) -> None:
    script = btr("config", "completion", "bash").out
    (here / "patrol.yaml").write_text("")
    assert {name for name in COMMANDS if " " not in name} <= set(_bash(script, here, "btr", ""))
    assert "why" in _bash(script, here, "btr", "runs", "")
    assert _bash(script, here, "btr", "lab", "play", "--se") == ["--seed"]
    assert _bash(script, here, "btr", "val") == ["validate"]
    assert _bash(script, here, "btr", "run", "--se") == ["--seconds", "--seed", "--set"]
    assert _bash(script, here, "btr", "validate", "--output-format", "g") == ["github"]
    assert _bash(script, here, "btr", "run", "pat") == ["patrol.yaml"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_sound_for_its_shell(btr: Btr, here: Path, shell: str) -> None:
    """The shell itself parses it; it is read off the parsers, so every command is in it."""
    script = btr("config", "completion", shell).out
    assert all(word in script for name in COMMANDS for word in name.split())
    assert "--output-format" in script or "output-format" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (here / "script").write_text(script)
    subprocess.run([shell, "-n", "script"], check=True, cwd=here)


def test_no_shell_named_is_a_usage_error(btr: Btr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert btr("config", "completion").code == 2
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert btr("config", "completion").out.endswith("complete -o filenames -F _btr btr\n")
