"""Registers of prompts: what each tells a model, in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.agents.register import STARTER, register_of
from bt_runtime.llm.local.header import ModelHeader

AGENTS = Path(__file__).parents[2] / "bt_runtime" / "agents"


@pytest.mark.parametrize(
    ("about", "told"),
    [({"distill.made": "1"}, False), ({"distill.made": "1", "distill.prompts": "instruct"}, True), ({}, True)],
)
def test_a_model_file_names_the_register_that_says_what_it_is_told(about: dict[str, str], told: bool) -> None:
    """One that was taught by its prompts is told nothing more; every other gets all of it."""
    register = register_of(ModelHeader(Path("x.gguf"), 0, {**about}, 0, 0).register)
    assert (register.manual, register.fitted, register.tried, not register.repeats) == (told,) * 4


def test_a_register_of_somebody_s_own_has_its_folder_and_tells_everything() -> None:
    mine = register_of("mine")
    assert mine.name == "mine" and mine.manual and mine.fitted and mine.tried and not mine.repeats
    assert register_of("starter") is STARTER


def test_no_node_compares_the_name_of_a_register() -> None:
    """What a register does otherwise is a field of it."""
    found = [file.name for file in AGENTS.rglob("*.py") if "STARTER" in file.read_text("utf-8")]
    assert found == ["register.py"]
