"""Models that keep a state (Mamba, LFM2, Granite 4's hybrid): the same decisions as without any cache, for little more.

The files are random; what is held is the bookkeeping of states, which is the same at any size.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.llm.settings import WorkerSettings
from tests.llm.conftest import need_llama
from tests.support.hybrid_models import HYBRIDS, make_hybrid
from tests.support.random_models import MICRO

WAIT = 60
ROUNDING = 0.03  # nats: batches of another shape are summed in another order
WORDS = [
    "the",
    "cup",
    "is",
    "on",
    "a",
    "table",
    "and",
    "you",
    "see",
    "an",
    "apple",
    "in",
    "the",
    "sink",
    "then",
    "open",
    "a",
    "drawer",
]
SKILLS = [
    f" {verb} the {thing}" for verb in ("find", "pick up", "go to", "open") for thing in ("egg", "egg carton", "sink")
]
LONG = replace(MICRO, context=4096)


@pytest.fixture(scope="module", params=HYBRIDS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_llama()
    return make_hybrid(tmp_path_factory.mktemp("states") / f"{request.param}.gguf", request.param, LONG)


@pytest.fixture
def open_file(file: Path) -> Iterator[Callable[..., Any]]:
    from bt_runtime.llm.local.model import LocalModel

    opened: list[Any] = []

    def make(**settings: Any) -> Any:
        opened.append(LocalModel(WorkerSettings(str(file), threads=1, **settings)))
        return opened[-1].ready(20)

    yield make
    for one in opened:
        one.close()


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def shared(one: str, other: str) -> int:
    """Letters at the beginning of both."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def chosen(model: Any, prompt: str, mode: Any = "exact") -> Any:
    job = model.choose(prompt, SKILLS, mode=mode)
    return job.wait(WAIT), job


@pytest.mark.parametrize("seed", range(4))
def test_what_is_chosen_is_what_is_chosen_without_any_cache(open_file: Callable[..., Any], seed: int) -> None:
    """Prompts that share beginnings, that repeat, and that go on from an answer."""
    cached, bare = open_file(), open_file(repeatable=True)
    rng = random.Random(seed)
    beginning = text(rng, 60)
    prompts = [f"{beginning} {text(rng, rng.randint(1, 30))}\nAct:" for _ in range(3)]
    prompts += [prompts[0], f"{prompts[1]}{SKILLS[2]}\nYou see {text(rng, 8)}\nAct:", f"{beginning}\nAct:"]
    for prompt in prompts:
        (one, _), (other, _) = chosen(cached, prompt), chosen(bare, prompt)
        assert one.text == other.text or one.logprob == pytest.approx(other.logprob, abs=ROUNDING)
        assert one.logprob == pytest.approx(other.logprob, abs=ROUNDING)


def test_the_search_finds_what_scoring_everything_finds(open_file: Callable[..., Any]) -> None:
    model, rng = open_file(), random.Random(5)
    for _ in range(4):
        prompt = f"{text(rng, 40)}\nAct:"
        (best, _), (all_of_them, _) = chosen(model, prompt), chosen(model, prompt, "scores")
        assert best.logprob == pytest.approx(max(all_of_them.scores), abs=ROUNDING)


def test_what_is_written_is_what_is_written_without_any_cache(open_file: Callable[..., Any]) -> None:
    cached, bare = open_file(), open_file(repeatable=True)
    rng = random.Random(3)
    story = text(rng, 50)
    for _ in range(4):
        first, second = (m.write(f"{story}\nThink:", max_tokens=12).wait(WAIT) for m in (cached, bare))
        assert first.text == second.text
        story += f"\nThink:{first.text}\n{text(rng, 6)}"


def test_four_agents_of_thirty_steps_recompute_little(open_file: Callable[..., Any]) -> None:
    """At most 5 % of the tokens that are run were read before: without states it would be nearly all of them."""
    model, rng = open_file(context=4096), random.Random(1)
    fixed = text(rng, 300)
    stories = [f"{fixed} {text(rng, 12)}" for _ in range(4)]
    earlier: list[str] = []
    run = needed = asked = 0
    for _ in range(30):
        for number, story in enumerate(stories):
            prompt = f"{story}\nAct:"
            choice, job = chosen(model, prompt)
            known = max((shared(prompt, other) for other in earlier), default=0)
            run += job.spent.prompt - job.spent.reused
            needed += job.spent.prompt - model.count(prompt[:known])
            asked += job.spent.prompt
            earlier.append(f"{prompt}{choice.text}")
            stories[number] = f"{prompt}{choice.text}\nYou see {text(rng, 8)}"
    assert run - needed <= 0.05 * run, (run, needed, asked)


def test_jobs_that_are_asked_together_share_their_beginning(open_file: Callable[..., Any]) -> None:
    """One computes it; the others wait for the state where they part, and get the answers that they get alone."""
    model, bare, rng = open_file(), open_file(repeatable=True), random.Random(2)
    fixed = text(rng, 200)
    prompts = [f"{fixed} {text(rng, 10)}\nAct:" for _ in range(4)]
    jobs = [model.choose(prompt, SKILLS) for prompt in prompts]
    answers = [job.wait(WAIT) for job in jobs]
    for prompt, answer in zip(prompts, answers, strict=True):
        assert answer.logprob == pytest.approx(chosen(bare, prompt)[0].logprob, abs=ROUNDING)
    known = model.count(fixed) - 2  # the last words of a beginning may merge with what follows
    anew = [job for job in jobs if job.spent.reused < known]
    assert len(anew) <= 2  # two where the second came after the first had gone past the fork; the others wait


def test_cancelling_leaves_sound_states(open_file: Callable[..., Any]) -> None:
    model, bare, rng = open_file(), open_file(repeatable=True), random.Random(7)
    fixed = text(rng, 250)
    for number in range(6):
        job = model.choose(f"{fixed} {text(rng, 40)} {number}\nAct:", SKILLS)
        job.cancel("the tree moved on")
    prompt = f"{fixed} and then\nAct:"
    assert chosen(model, prompt)[0].logprob == pytest.approx(chosen(bare, prompt)[0].logprob, abs=ROUNDING)


def test_a_killed_worker_is_replaced_and_answers_the_same(open_file: Callable[..., Any]) -> None:
    model, rng = open_file(), random.Random(9)
    prompt = f"{text(rng, 60)}\nAct:"
    first, _ = chosen(model, prompt)
    os.kill(model.pid, signal.SIGKILL)
    assert chosen(model, prompt)[0].logprob == pytest.approx(first.logprob, abs=ROUNDING)


def test_the_memory_of_the_states_is_told_and_bounded(open_file: Callable[..., Any]) -> None:
    notes = open_file().stats()["notes"]
    assert any("keeps a state of" in note for note in notes), notes


def test_few_sequences_are_enough(file: Path) -> None:
    """A large state leaves room for few: answers stay the same, more is computed anew."""
    from bt_runtime.llm.local.states import FEWEST, sequences

    assert sequences(1 << 30, 64 << 20, 256) == FEWEST
    assert sequences(1 << 20, 64 << 20, 256) == 64
    assert sequences(100, 64 << 20, 256) == 256


def test_a_model_that_writes_no_text_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(BtError):
        from bt_runtime.llm.local.model import LocalModel

        (tmp_path / "x.gguf").write_bytes(b"GGUF")
        LocalModel(WorkerSettings(str(tmp_path / "x.gguf"))).ready(20)
