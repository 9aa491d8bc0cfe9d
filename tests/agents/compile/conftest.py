from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.agents.compile.compiling import Compiled, compiled
from tests.agents.compile.pantry import recorded


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with twelve recorded runs."""
    folder = tmp_path_factory.mktemp("pantry")
    recorded(folder, range(12))
    return folder


@pytest.fixture(scope="session")
def journals(project: Path) -> list[Path]:
    return sorted((project / "runs").glob("*.btr"))


@pytest.fixture(scope="session")
def tidy_up(journals: list[Path]) -> Compiled:
    return compiled(journals, "tidy_up")


@pytest.fixture
def tree(tmp_path: Path, tidy_up: Compiled) -> Path:
    """The compiled tree as a file."""
    file = tmp_path / "trees" / "tidy_up.yaml"
    file.parent.mkdir()
    file.write_text(tidy_up.text, "utf-8")
    return file
