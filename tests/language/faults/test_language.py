"""Each file in `language/` says which faults it has, `# expect: CODE [file] line:column`: those and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bt_runtime.language.diagnostics import MOST
from bt_runtime.language.loader import Loader
from bt_runtime.language.spec import Caps

HERE = Path(__file__).parent
FILES = sorted((HERE / "language").glob("*.yaml"))
EXPECTED = re.compile(r"^# expect: (BT\d{3}) (?:(\S+) )?(\d+):(\d+)$", re.MULTILINE)
CAPS = re.compile(r"^# caps: (\d+) (\d+)$", re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_fault_is_found_where_it_is_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    text = path.read_text("utf-8")
    here = str(path.relative_to(HERE))
    expected = [(code, file or here, int(line), int(column)) for code, file, line, column in EXPECTED.findall(text)]
    caps = CAPS.search(text)
    loader = Loader(HERE, caps=Caps(int(caps[1]), int(caps[2])) if caps else Caps())
    found = loader.file(path).diagnostics
    assert [(d.code, d.file, *(d.span or (0, 0))[:2]) for d in found] == expected


def test_there_are_at_least_thirty_files_at_fault() -> None:
    assert sum("# expect:" in path.read_text("utf-8") for path in FILES) >= 30


def test_every_code_of_the_language_has_a_file_at_fault() -> None:
    """Those that are given by a run, or of a manifest alone, rather than by the loader have tests of their own."""
    root = HERE.parents[2] / "bt_runtime"
    sources = [
        *root.glob("language/*.py"),
        *root.glob("language/checks/*.py"),
        *root.glob("tree/**/*.py"),
        *root.glob("skills/*.py"),
    ]
    used = {code for path in sources for code in re.findall(r'"(BT0\d\d)"', path.read_text("utf-8"))}
    shown = {code for path in FILES for code, *_ in EXPECTED.findall(path.read_text("utf-8"))}
    assert used - shown == {"BT011", "BT046", "BT049", "BT050", "BT051", "BT052", "BT053", "BT054", "BT060",
                            "BT061"}  # fmt: skip  # BT011: tests/language/faults/source


@pytest.mark.parametrize("name", ["a" * 5_000, "a/" * 3_000, "nul\0", "", ".", "no/such/file.yaml"])
def test_a_path_that_is_no_file_is_a_fault(name: str) -> None:
    """Whatever was typed where a file is wanted."""
    assert [d.code for d in Loader(HERE).file(name).diagnostics] == ["BT001"]


def test_a_misspelt_tree_is_told_the_nearest() -> None:
    assert [d.label for d in Loader(HERE).file("bundled").diagnostics] == ["did you mean `bounded`?"]


@pytest.mark.parametrize(
    "line", ["chek{n}: 1", "log: {{txt{n}: a}}", "tree: nothing{n}", "log: '{{name{n}}}'", "set: {{n{n}: 1}}"]
)
def test_of_very_many_faults_the_first_are_shown(line: str) -> None:
    """So that a file of 100,000 faults takes no longer than a sound one, and can be read."""
    nodes = "".join(f"    - {line.format(n=n)}\n" for n in range(1_000))
    found = Loader(HERE).text(f"version: 1\ntree: t\nroot:\n  sequence:\n{nodes}").diagnostics
    assert len(found) == MOST + 1
    assert [d.span.line for d in found if d.span] == list(range(5, MOST + 6))
    assert "more like these" in found[-1].help
