"""Every page's programs run, its trees are sound and its commands exist, as they stand there: nothing is added.

What cannot run on this machine says so on the page, in a comment above its block, and is counted here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime.cli import COMMANDS, joined, parser
from bt_runtime.language import manifest
from bt_runtime.language.loader import Loader

ROOT = Path(__file__).parents[1]
# docs/faults.md and docs/nodes/ are generated, and what they show is tried in tests/language/faults and tests/language.
FILES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PAGES = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in FILES if path.name != "faults.md"}
BLOCK = re.compile(r"^(?:<!-- not run: ([^\n]+) -->\n)?```(\w*) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r'(?:title="([^"]+)"|([\w./-]+\.\w+|[\w-]+(?:/[\w.-]+)+))')
# Blocks that are marked on their page: what they need.
NOT_RUN = {
    "docs/finetune.md": ["needs the package datasets"],
    "docs/fleet.md": ["needs the fleet of the lines above"],
    "docs/journal.md": ["it has no end"],
    "docs/ros.md": ["needs a Zenoh router", "needs a ROS installation"],
    "docs/vda5050.md": ["needs the broker and the vehicle of the line above"],
}
# Pages whose trees stand in a project that other commands make; a test of their own does what they say, step by step.
OWN_PROJECT = {
    "docs/assistants.md": "a manifest that `btr import-tools` writes", "docs/extending.md": "an installed package",
    "docs/fleet-keys.md": "a project below robot/", "docs/policies.md": "drafts that are refused",
    "docs/proofs.md": "skills without Python", "docs/start-robot.md": "skills of the Python above",
    "docs/worlds.md": "files of a world's data",
}  # fmt: skip
SECONDS = 200  # of one page's programs, on a busy machine


class Block(NamedTuple):
    why: str  # it is not run, as the page says
    language: str
    note: str  # a file's name, or what sort of example it is
    text: str

    @property
    def file(self) -> str:
        found = FILE.fullmatch(self.note)
        return (found[1] or found[2]) if found else ""


BLOCKS = {
    page: [Block(*(part or "" for part in found)) for found in BLOCK.findall(text)] for page, text in PAGES.items()
}
PROGRAMS = {
    page: [each.text for each in blocks if each.language == "python" and not each.note and not each.why]
    for page, blocks in BLOCKS.items()
}


def shown(page: str, folder: Path) -> dict[str, str]:
    """Writes the files that the page shows, each in its last form: what a reader has then."""
    files = {each.file: each.text for each in BLOCKS[page] if each.file}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return files


@pytest.mark.parametrize("page", [page for page, programs in PROGRAMS.items() if programs])
def test_the_programs_of_a_page_run_one_after_another_as_they_stand(page: str, tmp_path: Path) -> None:
    if '"starter"' in "".join(PROGRAMS[page]):
        pytest.importorskip("llama_cpp")
    shown(page, tmp_path)
    parts = [
        f"exec(compile({text!r}, '{page} program {n}', 'exec'), globals())" for n, text in enumerate(PROGRAMS[page])
    ]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BTR_")}
    done = subprocess.run([sys.executable, "-c", "\n".join(parts)], cwd=tmp_path, capture_output=True, text=True,
                          timeout=SECONDS, check=False, env={**environment, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_is_not_run_says_so_on_its_page_and_is_counted() -> None:
    marked = {page: [each.why for each in blocks if each.why] for page, blocks in BLOCKS.items()}
    assert {page: whys for page, whys in marked.items() if whys} == NOT_RUN


@pytest.mark.parametrize(("page", "text"), [(p, b.text) for p, blocks in BLOCKS.items() for b in blocks
                                            if b.language == "python" and b.note])  # fmt: skip
def test_a_file_of_python_on_a_page_is_python(page: str, text: str) -> None:
    compile(text, page, "exec")


@pytest.mark.parametrize(
    "page", [p for p, blocks in BLOCKS.items() if any(b.language == "yaml" for b in blocks) and p not in OWN_PROJECT]
)
def test_the_trees_manifests_and_settings_of_a_page_are_sound(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = shown(page, tmp_path)
    (tmp_path / "btr.yaml").touch()
    broken = {text for name, text in files.items() if "broken" in name or f"{name}: error" in PAGES[page]}
    for each in BLOCKS[page]:
        if each.language != "yaml" or each.why or each.text in broken:
            continue
        if re.search(r"^root:", each.text, re.MULTILINE) and each.note not in ("part", "wrong", "draft"):
            found = list(Loader(tmp_path).text(each.text, folder=tmp_path / "trees").diagnostics)
        elif re.search(r"^kinds:", each.text, re.MULTILINE):
            found = list(manifest.parse(each.text, folder=tmp_path / "skills").diagnostics)
        else:
            continue
        assert [str(d) for d in found if d.severity == "error"] == [], each.text


LINES = [
    (page, line.removeprefix("$ ").partition("  #")[0].strip())
    for page, blocks in BLOCKS.items() for block in blocks if block.language in ("sh", "console") and not block.why
    for line in block.text.splitlines() if line.removeprefix("$ ").startswith("btr ")
]  # fmt: skip


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_of_a_page_is_one(page: str, line: str) -> None:
    plain = re.split(r" [|<>] ", re.sub(r"\$\([^)]*\)", "X", line))[0]  # X: what another command prints
    words = shlex.split(plain.removesuffix("&"), comments=True)[1:]
    assert words[0] in COMMANDS or words[0].startswith("-"), line
    parser(words).parse_args(joined(words))
