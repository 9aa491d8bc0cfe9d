"""llama-cpp-python's own server, as it is installed, with the starter behind it: what the doubles say of OpenAI's
protocol, tried on a program that speaks it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_cpp", reason="needs the llm extra")
pytest.importorskip("fastapi", reason="needs llama-cpp-python[server]")
pytest.importorskip("uvicorn", reason="needs llama-cpp-python[server]")
pytest.importorskip("sse_starlette", reason="needs llama-cpp-python[server]")
pytest.importorskip("starlette_context", reason="needs llama-cpp-python[server]")
pytest.importorskip("pydantic_settings", reason="needs llama-cpp-python[server]")

from bt_runtime import BtError, Budget, Run, load
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import StoryStep
from bt_runtime.events import AgentEnded, Trimmed
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.language.project import child
from bt_runtime.llm import starter
from bt_runtime.llm.model_wrapper import WrappedModel
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.types import Grammar, Question
from tests.support.room import Room

WAIT = 60
CONTEXT = 768
OPTIONS = [" find the egg", " open the sink"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-P", "-m", "llama_cpp.server", "--model", str(starter()), "--port", str(port)]
    more = ["--n_ctx", str(CONTEXT), "--n_threads", "1", "--model_alias", "starter"]
    process = child.start([*words, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + WAIT
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until, "it does not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def endpoint(address: str) -> Iterator[Endpoint]:
    with Endpoint(address) as opened:
        yield opened


def asked(endpoint: Endpoint, tail: str) -> str:
    steps = [StoryStep("think", "An egg."), StoryStep("act", "look around", "You see an egg.")]
    return agent_prompt("You are a robot.", "find the egg", "A kitchen.", steps).text(endpoint.chat_template) + tail


def test_its_one_model_is_found_and_another_is_a_fault(address, endpoint):
    assert (endpoint.name, endpoint.flavour, endpoint.stats()["chat"]) == ("starter", "openai", True)
    with pytest.raises(BtError, match="it has starter"):
        Endpoint(address, name="another").ready()


def test_it_chooses_and_decides_by_a_structured_answer_in_the_form_that_it_takes(endpoint):
    """It refuses OpenAI's form with a 500: then its own is taken, and OpenAI's not tried again."""
    chosen = endpoint.choose(asked(endpoint, "Act:"), OPTIONS).wait(WAIT)
    assert chosen.text in OPTIONS and OPTIONS[chosen.index] == chosen.text
    moves = {"Think:": (), "Act:": tuple(OPTIONS)}
    assert endpoint.decide(asked(endpoint, ""), moves).wait(WAIT).text.startswith(("Think:", "Act:"))
    assert len(endpoint._dialect.forms) == 1 and endpoint.stats()["asked_again"] == 0


def test_it_writes_and_the_same_seed_writes_the_same(endpoint):
    how = {"max_tokens": 12, "temperature": 1.0, "top_p": 0.95}
    texts = [endpoint.write(asked(endpoint, "Think:"), seed=seed, **how).wait(WAIT).text for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1] and len({*texts}) > 1


def test_a_json_schema_holds_and_any_other_grammar_is_only_checked(endpoint):
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    grammar = Grammar("json_schema", json.dumps(schema))
    wrote = endpoint.write(asked(endpoint, ""), grammar=grammar, max_tokens=60).wait(WAIT)
    assert wrote.ended == "grammar" and [*json.loads(wrote.text)] == ["sure"]
    with pytest.raises(BtError, match="did not keep to the grammar"):
        endpoint.write(asked(endpoint, ""), grammar=Grammar("regex", " (q|z)xq"), stop=["\n"]).wait(WAIT)


def test_a_prompt_that_is_too_long_is_told_with_its_length(endpoint):
    with pytest.raises(TooLong) as fault:
        endpoint.write("table " * 900, max_tokens=5).wait(WAIT)
    assert fault.value.limit == CONTEXT < fault.value.tokens and fault.value.hint


class Stubborn(WrappedModel):
    """Neither done nor failed."""

    def ask(self, question: Question) -> Any:
        return self.model.ask(question._replace(options=question.options[:-2]))


def test_an_agent_lives_by_it_and_a_story_beyond_its_context_loses_its_oldest_steps(endpoint):
    """Three quarters of the context are taken by the task, so that a few steps suffice."""
    told: list[Any] = []
    goal = "get out of here, " + "and close the door " * 120
    tree = "version: 1\ntree: t\ninputs: {goal: string}\nroot:\n  agent: {goal: '{goal}', moves: [act], patience: 99}\n"
    with Run(
        load(tree), inputs={"goal": goal}, world=Room(), model=Stubborn(endpoint), budget=Budget(decisions=25)
    ) as run:
        run.listen(told.append, Trimmed, AgentEnded)
        run.spin(seconds=WAIT)
    assert told[-1].why == "budget" and len(told) > 1, told
