"""`python -m recipes.results` with a random model: it reaches nothing, and the page says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from bt_runtime.cli import Exit
from bt_runtime.cli import main as btr
from recipes.results.__main__ import main
from tests.cli.conftest import Said

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(
        not all(map(find_spec, ("gguf", "llama_cpp", "matplotlib"))), reason="needs the extras dev, llm and eval"
    ),
]


Measure = Callable[..., Said]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def measure(here: Path, capsys: pytest.CaptureFixture[str]) -> Measure:
    """The command in this process, with what it printed."""

    def run(*words: object) -> Said:
        try:
            code = main([str(word) for word in words])
        except SystemExit as leave:  # argparse's way out
            code = int(leave.code or 0)
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.random_models import Shape, make_gguf

    return make_gguf(tmp_path_factory.mktemp("model") / "random.gguf", Shape(context=2048))


def test_a_page_is_made_once_and_comes_back_to_its_own_figures(
    measure: Measure, here: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second run runs nothing, writes the same page, and every figure lies in the first one's interval.

    `btr lab eval claims` is the same command, and prints the figures with their intervals."""
    words = ("adapt", "--model", model, "--episodes", 2, "--out", "build", "--page", "docs/page.md")
    (here / "docs").mkdir()
    first = measure(*words)
    assert first.code == Exit.SUCCESS
    assert "4/4" in first.err
    text = (here / "docs/page.md").read_text("utf-8")
    assert "at least 85 %: **missed**" in text
    assert f"`python -m recipes.results adapt --model {model.name} --episodes 2 --seed 0`" in text
    assert "![ADaPT reaches more goals" in text
    assert (here / "docs/page/adapt.png").read_bytes().startswith(b"\x89PNG")
    shown = measure("adapt", "--show", "--page", "docs/page.md")
    assert shown.code == Exit.SUCCESS and "ADaPT, depth 2" in shown.out and "set-up" in shown.out
    assert str(here) not in text + (here / "docs/page/summary.json").read_text("utf-8")
    kept = (here / "docs/page/summary.json").read_text("utf-8")
    again = measure(*words, "--check", "docs/page/summary.json")
    assert again.code == Exit.SUCCESS
    assert "eval" not in again.err
    assert (here / "docs/page/summary.json").read_text("utf-8") == kept
    figures = len(json.loads(kept)["claims"]["adapt"]["findings"])
    assert f"{figures} of {figures} figures came back" in again.out
    assert btr(["lab", "eval", "claims", *map(str, words[:-2])]) == Exit.SUCCESS
    assert re.search(r"^  ADaPT, depth 2 +0.0 % +\(0.0 to \d.*\)", capsys.readouterr().out, re.MULTILINE)


def test_what_parts_have_measured_is_put_together(measure: Measure, here: Path, model: Path) -> None:
    """Each part runs its own evaluations and writes no page; afterwards nothing is left to run."""
    words = ("seven_textcraft", "--model", model, "--episodes", 1, "--out", "build")
    for part in ("1/2", "2/2"):
        said = measure(*words, "--part", part)
        assert said.code == Exit.SUCCESS and "textcraft-eval-0-0000" in said.err
    assert not (here / "build/results.md").exists()
    ended = measure(*words, "--finished")  # nothing is run: a row has what has ended of it
    assert ended.code == Exit.SUCCESS and "textcraft-eval-0-0000" not in ended.err
    whole = measure(*words)
    assert whole.code == Exit.SUCCESS and "textcraft-eval-0-0000" not in whole.err
    assert "</a>TextCraft | 1 | 0 (0–" in (here / "build/results.md").read_text("utf-8")
    assert measure(*words, "--part", "3/2").code == Exit.USAGE


def test_a_second_model_is_measured_row_by_row_beside_the_page(measure: Measure, here: Path, model: Path) -> None:
    """Each row is gone on with by itself; what has ended is put beside the first model's figures and
    nothing is run."""
    (here / "docs").mkdir()
    words = ("--model", model, "--out", "build", "--page", "docs/page.md", "--episodes", 1)
    assert measure("seven_textcraft", *words).code == Exit.SUCCESS
    rows = ("--beside", "second", "--rows", "craft/adapt:2", "craft/react:1")
    assert measure(*words, *rows, "--finished").code == Exit.NOTHING
    assert measure(*words, *rows, "--part", "1/2").code == Exit.SUCCESS
    said = measure(*words, *rows, "--finished")
    assert said.code == Exit.SUCCESS and "craft-react is left out" not in said.out
    text = (here / "docs/page.md").read_text("utf-8")
    assert "| TextCraft | ADaPT | 0.0 %" in text.split("Both models")[1]
    assert (here / "docs/page/second.json").is_file()
    assert measure(*words, *rows[2:]).code == Exit.USAGE


def test_figures_that_do_not_come_back_are_named(measure: Measure, here: Path, model: Path) -> None:
    words = ("adapt", "--model", model, "--episodes", 2, "--out", "build")
    assert measure(*words).code == Exit.SUCCESS
    kept = json.loads((here / "build/results/summary.json").read_text("utf-8"))
    told = kept["claims"]["adapt"]["findings"][0]
    told.update(value=1.0, low=0.9, high=1.0)
    (here / "other.json").write_text(json.dumps(kept), encoding="utf-8")
    said = measure(*words, "--check", "other.json")
    assert said.code == Exit.FAILURE
    assert f"adapt: {told['name']}: 100.0 % came back as 0.0 %, outside its interval" in said.out


def test_without_the_data_nothing_is_written(
    measure: Measure, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BTR_DATA", raising=False)
    said = measure("people", "--model", model)
    assert said.code == Exit.NOTHING
    assert "apartments is left out: the outside data is not here" in said.err
    assert not (here / "evals").exists()


def test_a_claim_that_is_not_known_is_told_before_a_model_is_opened(measure: Measure) -> None:
    said = measure("reactre", "--model", "none.gguf")
    assert said.code == Exit.USAGE
    assert "did you mean `reactree`?" in said.err
