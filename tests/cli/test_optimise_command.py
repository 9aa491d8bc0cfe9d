"""`btr lab optimise`: the loop with a real (tiny, random) model, its curve, and what a person does with the result."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from bt_lab.cli.optimise import command, configure, evaluating, line, set_up
from bt_lab.optimise import plan_versions
from bt_lab.optimise.plan_versions import Version
from bt_lab.optimise.setup import OptimiseSetup
from bt_runtime.language import guide
from bt_runtime.language.guide import Guide
from bt_runtime.language.settings import Settings
from tests.cli.conftest import Btr

SCORED = Guide("1. Go.", {"training": {"reached": 1, "of": 4}, "validation": {"reached": 3, "of": 8}})
FEW = ("--batch", 2, "--validation", 2, "--iterations", 1, "--decisions", 3)


@pytest.mark.llm
def test_with_a_real_model_every_version_is_kept_and_the_same_command_again_asks_nothing(
    btr: Btr, here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("llama_cpp", "llguidance", "gguf"):
        pytest.importorskip(package)
    from tests.support.random_models import Shape, make_gguf

    monkeypatch.delenv("BTR_DATA", raising=False)  # its book has no items of one level
    model = make_gguf(tmp_path_factory.mktemp("model") / "micro.gguf", Shape(context=4096))
    (here / "btr.yaml").write_text("version: 1\n")
    asked = ("lab", "optimise", "textcraft", "--kind", "depth 1", *FEW, "--model", model, "--seed", 5)
    said = btr(*asked)
    assert said.code == 0, said.err
    assert said.out.startswith("version  training  validation\n      0         -         0/2\n      1       0/2 ")
    assert "version 1: made from 2 tasks, 0 reached under the plan before" in said.err
    assert "btr run react --env textcraft --task 'depth 1' --set guide=textcraft-depth_1-5/0.md" in said.err
    kept = plan_versions.versions(here / "guides" / "textcraft-depth_1-5")
    assert [v.guide.header["model"] for v in kept] == ["micro.gguf"] * 2
    assert guide.parse(kept[1].guide.written()).diagnostics == ()
    assert btr("validate").code == 0
    runs = list((here / "runs").glob("*.btr"))
    again = btr(*asked, "--json")
    assert json.loads(again.out)["versions"][0] == {
        "iteration": 0, "file": str(kept[0].path.relative_to(here)), "training": None,
        "validation": {"reached": 0, "of": 2}, "test": None,
    }  # fmt: skip
    assert list((here / "runs").glob("*.btr")) == runs


def test_a_point_of_the_curve_shows_both_scores_and_a_bar() -> None:
    assert line(Version(2, Path("2.md"), SCORED)) == "      2       1/4         3/8  ########"
    assert line(Version(0, Path("0.md"), Guide(""))) == "      0         -           -"


def test_the_command_that_is_told_names_the_plan_as_a_run_takes_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "btr.yaml").write_text("version: 1\n")
    setup = OptimiseSetup("house", "heat")
    said = command(setup, Version(2, Path("guides/house-heat-0/2.md"), SCORED))
    assert said == "btr run react --env house --task heat --set guide=house-heat-0/2.md"
    assert command(setup, Version(2, Path("/elsewhere/2.md"), SCORED)).endswith("guide=/elsewhere/2.md")
    ruled = setup._replace(tasks={"rules": "eval 3"}, world={"feedback": "terse"})
    version = Version(2, Path("guides/house-heat-0/2.md"), SCORED)
    assert command(ruled, version) == (
        "btr run react --env house --task heat --option 'rules=eval 3' --set guide=house-heat-0/2.md"
    )
    assert evaluating(ruled, version) == (
        "btr lab eval house --kinds heat --option 'rules=eval 3' --world feedback=terse --strategy react "
        "--set guide=house-heat-0/2.md"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("housse",), "did you mean `house`?"),
        (("house", "--kind", "put_frige"), "did you mean `put_fridge`?"),
        (("house", "--world", "feedbak=terse"), "has no option `feedbak`"),
        (("house", "--batch", "0"), "must be at least 1"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    btr: Btr, here: Path, words: tuple[str, ...], hint: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = btr("lab", "optimise", *words, "--model", "http://127.0.0.1:9")
    assert said.code == 2 and hint in said.err


def test_a_plan_at_fault_is_found_by_validate_with_its_place_and_other_markdown_is_left_alone(
    btr: Btr, here: Path
) -> None:
    for name, text in {
        "btr.yaml": "version: 1\n", "guides/a/1.md": "---\nversion: 1\nbacth: 4\n---\n", "README.md": "# mine\n"
    }.items():  # fmt: skip
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    said = btr("validate")
    assert said.code == 1
    assert "error[BT061]: a plan has no `bacth`" in said.out and "guides/a/1.md:3:1" in said.out
    assert "did you mean `batch`?" in said.out
    assert "2 files checked: 1 error" in said.err


def test_the_homes_that_tasks_are_made_in_are_those_that_the_world_opens(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BTR_DATA", str(here))
    parser = argparse.ArgumentParser()
    configure(parser)
    told = set_up(parser.parse_args(["house", "--world", "feedback=terse"]), Settings({"model": "starter"}))
    assert told.tasks["data"] == told.world["data"] == str(here)
    assert told.world["feedback"] == "terse"
