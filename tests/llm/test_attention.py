"""Models with a sliding window or with latent keys and values: the same decisions as without any cache, and prompts
are shared as with others."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.llm.conftest import need_llama
from tests.llm.test_states import SKILLS, WAIT, text
from tests.llm.test_worker import until
from tests.support.attention_models import ATTENDING, WINDOW, make_attending
from tests.support.random_models import MICRO

ROUNDING = 0.03  # nats: batches of another shape are summed in another order


@pytest.fixture(scope="module", params=ATTENDING)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_llama()
    shape = replace(MICRO, context=2048)
    return make_attending(tmp_path_factory.mktemp("attending") / f"{request.param}.gguf", request.param, shape)


def test_choices_beyond_the_window_are_those_without_any_cache(file: Path, open_model: Any) -> None:
    """Prompts of several windows that share beginnings, part within and before the window, repeat, and go on."""
    cached, bare = open_model(file, lanes=1), open_model(file, repeatable=True)
    rng = random.Random(1)
    beginning = text(rng, 6 * WINDOW)
    prompts = [f"{beginning} {text(rng, words)}\nAct:" for words in (4, 3 * WINDOW, 20)]
    prompts += [prompts[0], f"{prompts[1]}{SKILLS[2]}\nYou see {text(rng, 8)}\nAct:", f"{beginning}\nAct:"]
    reused = 0
    for prompt in prompts:
        job = cached.choose(prompt, SKILLS, mode="scores")
        ours, theirs = job.wait(WAIT).scores, bare.choose(prompt, SKILLS, mode="scores").wait(WAIT).scores
        assert ours == pytest.approx(theirs, abs=ROUNDING)
        reused += job.spent.reused
    assert reused > 4 * 6 * WINDOW


def test_four_at_once_are_as_one_after_the_other(file: Path, open_model: Any) -> None:
    """One batch over one cache: what the others hold changes nothing but the order of sums."""
    model, bare = open_model(file, lanes=1), open_model(file, repeatable=True)
    rng = random.Random(2)
    fixed = text(rng, 3 * WINDOW)
    prompts = [f"{fixed} {text(rng, 2 * WINDOW)}\nAct:" for _ in range(4)]
    jobs = [model.choose(prompt, SKILLS, mode="scores") for prompt in prompts]
    for prompt, job in zip(prompts, jobs, strict=True):
        theirs = bare.choose(prompt, SKILLS, mode="scores").wait(WAIT).scores
        assert job.wait(WAIT).scores == pytest.approx(theirs, abs=ROUNDING)


def test_a_state_on_disk_is_used_only_where_it_can_be_cut(
    file: Path, open_model: Any, tmp_path: Path, monkeypatch
) -> None:
    """llama.cpp saves no more of a sliding layer than its window, so such a model keeps nothing; latent keys do."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fixed, slides = text(random.Random(3), 10 * WINDOW), file.stem == "gemma2"
    first = open_model(file, lanes=1, keep=16)
    for _ in range(2):  # between them it was idle
        first.choose(f"{fixed} one\nAct:", SKILLS).wait(WAIT)
    if not slides:
        until(lambda: [*tmp_path.rglob("*.state")])
    job = open_model(file, lanes=1, keep=16).choose(f"{fixed} two\nAct:", SKILLS, mode="scores")
    cold = open_model(file, lanes=1, keep=0).choose(f"{fixed} two\nAct:", SKILLS, mode="scores").wait(WAIT)
    assert job.wait(WAIT).scores == cold.scores
    assert job.spent.reused == 0 if slides else job.spent.reused >= 256


def test_a_small_file_with_a_window_gets_one_batch(file: Path, open_model: Any) -> None:
    """Lanes lend each other states, and cut them."""
    assert open_model(file).ready(WAIT).stats()["lanes"] == (1 if file.stem == "gemma2" else 16)
