"""A model's server that means harm: whatever it sends, a job ends in time, with a sound value or with words."""

from __future__ import annotations

import math
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import BtError
from bt_runtime.llm.server.endpoint import TOKEN_BYTES, Endpoint
from bt_runtime.llm.server.request import WHOLE
from bt_runtime.types import Choice, Grammar, Writing

from .hostile import HEAVY, KEY, NAMED, NUMBERS, Hostile

TIME = 0.5  # seconds for one exchange
GUARD = 60  # a job that takes longer hangs
MEGABYTES = 256  # more than before, at most
OPTIONS = [" left", " right", " right away"]
MOST = 20  # tokens that are asked for
KINDS: dict[str, Callable[[Endpoint], Any]] = {
    "exact": lambda e: e.choose("Go:", OPTIONS),
    "greedy": lambda e: e.choose("Go:", OPTIONS, mode="greedy"),
    "scores": lambda e: e.choose("Go:", OPTIONS, mode="scores"),
    "decide": lambda e: e.decide("Now\n", {"Think:": (), "Act:": OPTIONS}),
    "write": lambda e: e.write("Think:", stop=["\n"], max_tokens=MOST),
    "grammar": lambda e: e.write("Plan:", grammar=Grammar("regex", "(left|right)"), max_tokens=MOST),
    "embed": lambda e: e.embed(["a", "b"]),
}
# `make test` tries those that once broke it, and a share of the others; BTR_HOSTILE=1 tries all
ALWAYS = (
    "endless_continue",
    "drips_headers",
    "echoes_in_401",
    "growing",
    "logprob_0",
    "sixty_megabytes",
    "long_thought",
)
CHOSEN = random.Random(5).sample([n for n in NAMED if n not in ALWAYS], 14)
CHOSEN += random.Random(6).sample([n for n in NUMBERS if n not in ALWAYS], 10)
TRIED = [*NAMED, *NUMBERS] if os.environ.get("BTR_HOSTILE") else [*ALWAYS, *CHOSEN]


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with Hostile() as server:
        yield server


@pytest.mark.parametrize("mode", TRIED)
def test_whatever_a_server_sends_every_job_ends_soundly_or_in_words_and_no_thread_stays(hostile, mode):
    before = peak()
    endpoint = Endpoint(hostile.address(mode), timeout=TIME, key=KEY)
    try:
        jobs: dict[str, Any] = {}
        for kind, ask in KINDS.items():
            jobs[kind] = ask(endpoint)
            if mode in HEAVY:
                ended(jobs[kind])
        for kind, job in jobs.items():
            check(kind, ended(job))
            assert 0 <= job.spent.seconds <= (WHOLE + 2) * TIME + GUARD / 2
            assert 0 <= job.spent.computed < 100_000
        with suppress(BtError):  # in words, for a server that cannot tell
            assert endpoint.count("four") in range(1, 100)
    finally:
        endpoint.close()
    assert endpoint._pool.join(GUARD), "a thread has outlived its endpoint"
    assert peak() - before <= MEGABYTES


def ended(job: Any) -> Any:
    try:
        return job.wait(GUARD)
    except BtError as fault:
        return fault


def check(kind: str, value: Any) -> None:
    if isinstance(value, BtError):
        said = str(value)
        assert value.hint
        assert all(c.isprintable() or c == "\n" for c in said), said
        assert "cannot be read" not in said and "internal error" not in said
        assert len(said) < 1000
    elif kind == "embed":
        assert all(math.isfinite(x) for vector in value for x in vector)
    elif isinstance(value, Writing):
        said = value.text
        assert len(said) <= MOST * TOKEN_BYTES and 1 <= value.tokens <= MOST
        said.encode()
    else:
        assert isinstance(value, Choice)
        said = value.text
        assert said in OPTIONS or said.startswith(("Think:", "Act:"))
        assert not value.logprob > 0
    if kind != "embed":
        assert KEY.lower() not in said.lower() and KEY.split("+")[0].lower() not in said.lower()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_there_are_forty_modes_and_more():
    assert len(NAMED) >= 40


LEAVES = """
import sys
from bt_runtime.llm.server.endpoint import Endpoint
jobs = [Endpoint(sys.argv[1]).write("x") for _ in range(3)]
print("asked", flush=True)
"""


@pytest.mark.parametrize("mode", ["silent", "drips_body", "endless_continue"])
def test_a_program_that_ends_does_not_wait_for_a_server(hostile, mode):
    """Nothing was closed or cancelled, and a whole answer would have had two minutes."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, hostile.address(mode)], capture_output=True, text=True, timeout=GUARD
    )
    assert (done.returncode, done.stdout) == (0, "asked\n"), done.stderr
