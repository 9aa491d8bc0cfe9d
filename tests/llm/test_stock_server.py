"""A llama-server as llama.cpp builds it, without llguidance (`make llama-server`): it decides as the same file does
here, in few requests, and writes plans."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime.language.emit.dialect import Form
from bt_runtime.llm import open_model, starter
from bt_runtime.llm.decoding.plan_grammar import expansion
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.server.http import Call
from bt_runtime.types import Grammar

PROGRAM = Path(os.environ.get("BTR_LLAMA_SERVER", ""))
pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason="needs BTR_LLAMA_SERVER: make llama-server")
PORT = 18187
WAIT = 60
SKILLS = tuple(f" {v} {t}" for v in ("go to", "pick up", "open") for t in ("egg 1", "table 2", "fridge 1", "sink 1"))


@pytest.fixture(scope="module")
def stock() -> Iterator[Endpoint]:
    words = [str(PROGRAM), "-m", str(starter()), "--host", "127.0.0.1", "--port", str(PORT), "-c", "8192", "-np", "2"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*words, "-t", "1", "--no-warmup"], stdout=quiet, stderr=quiet) as process:
        try:
            with Endpoint(there(process)) as endpoint:
                yield endpoint
        finally:
            process.kill()


def there(process: subprocess.Popen[bytes]) -> str:
    address, until = f"http://127.0.0.1:{PORT}", time.monotonic() + WAIT
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{address}/health", timeout=5):
                return address
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def test_it_decides_as_the_same_file_does_here_in_few_requests_and_bytes(stock, monkeypatch):
    """The same move and option, log-probabilities equal but for rounding; three decisions: 6 requests, 1 MB."""
    sizes: list[int] = []
    exchange = Call._exchange

    def counted(self, method, path, data, headers):
        status, raw, after = exchange(self, method, path, data, headers)
        sizes.append(len(data or b"") + len(raw))
        return status, raw, after

    monkeypatch.setattr(Call, "_exchange", counted)
    decisions = 21
    with open_model(starter()) as here:
        for n in range(decisions):
            prompt = f"You are robot {n} in the kitchen.\nYou see an egg {n}.\n"
            moves = {"Think:": (), "Act:": SKILLS}
            far, near = stock.decide(prompt, moves).wait(WAIT), here.decide(prompt, moves).wait(WAIT)
            assert far.text == near.text
            assert far.logprob == pytest.approx(near.logprob, abs=0.05)
            assert far.margin >= 0
        far = stock.choose("You see an egg.\nAct:", SKILLS, mode="scores").wait(WAIT).scores
        near = here.choose("You see an egg.\nAct:", SKILLS, mode="scores").wait(WAIT).scores
        assert far == pytest.approx(near, abs=0.05)
    assert len(sizes) <= 2 * decisions + 12  # the sentences and the template once, and all scores
    assert sum(sizes) * 3 / decisions < 1 << 20


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar("regex", r"(go to|find) (egg|fridge [0-9]{1,3})\n"),
        Grammar("lark", 'start: "sequence:\\n" item{1,3}\nitem: "- " /[a-z]{3,9}/ "\\n"'),
        Grammar("json_schema", '{"type": "string", "enum": ["left", "right"]}'),
        expansion([Form("sequence", "children"), Form("act", "sentence")], skills=["go to fridge 1", "open it: now"]),
    ],
)
def test_without_llguidance_the_same_grammar_holds_in_llama_cpps_own_notation(stock, grammar):
    assert stock.write("Plan:\n", grammar=grammar, temperature=1.0, max_tokens=600).wait(WAIT).ended == "grammar"
    assert stock.stats()["asked_again"] == 0


def test_what_a_text_says_forms_no_control_token(stock):
    """`<s>` and its like come as letters; the template's own parts may steer."""
    assert stock.count("<s></s><|im_start|>") > 3
