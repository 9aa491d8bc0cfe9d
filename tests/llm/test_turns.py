"""Conversations as a model's family holds them, and how it is kept from thinking, or let."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("jinja2")

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import SILENT, StoryStep
from bt_runtime.llm import Chat
from bt_runtime.llm.chat.chat import keep, recalled
from bt_runtime.llm.chat.turns import Turns, quiet
from bt_runtime.types import Question

ROLES = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
PLAIN = ROLES + "{% if add_generation_prompt %}<|assistant|>{% endif %}"
SWITCH = PLAIN + "{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}"
OPEN = PLAIN + "<think>\n"
CHANNEL = (
    "{% for m in messages %}<|start|>{{ m.role }}{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>"
    "{{ m.content }}<|end|>{% endfor %}<|start|>assistant"
)
STEPS = [StoryStep("think", "hm"), StoryStep("act", "go", "A door."), StoryStep("act", "wait")]


def test_a_decision_is_the_models_turn_and_what_it_observes_is_said_to_it():
    """Also what is kept from it: a turn has an answer."""
    shown = agent_prompt("S", "leave", "A room.", STEPS).text(Chat.of(PLAIN))
    assert shown == (
        "<|system|>S<|end|><|user|>Your task is to: leave\nA room.<|end|>"
        "<|assistant|>Think: hm<|end|><|user|>OK.<|end|><|assistant|>Act: go<|end|><|user|>A door.<|end|>"
        f"<|assistant|>Act: wait<|end|><|user|>{SILENT}<|end|><|assistant|>"
    )


TOLD = "Your task is to: sit\nA chair.\nThink: hm\nOK.\nAct: sit down\nYou sit.\nAct: done"


def test_examples_as_turns_are_a_conversation_before_the_task():
    """Each is told as it went; after its last turn comes the next task, and after the last one the task at hand. A
    template without turns gets them in one text."""
    model = ScriptedModel(["Act: done"])
    model.chat_template = Chat.of(PLAIN)
    text = "version: 1\ntree: t\nroot:\n  agent: {goal: leave, moves: [think, act], example_form: turns}\n"
    with Run(load(text), model=model, recall=False) as run:
        agent = run.parts.engine.root
        run.tick()
        agent.examples, agent.steps = (TOLD, TOLD), [StoryStep("act", "go", "A door.")]
        example = (
            "Your task is to: sit\nA chair.<|end|><|assistant|>Think: hm<|end|><|user|>OK.<|end|>"
            "<|assistant|>Act: sit down<|end|><|user|>You sit.<|end|><|assistant|>Act: done<|end|><|user|>"
        )
        rest = "Your task is to: leave<|end|><|assistant|>Act: go<|end|><|user|>A door.<|end|><|assistant|>"
        assert agent.text().endswith(f"<|user|>{example}{example}{rest}")
        model.chat_template = Chat.of(PLAIN).in_one_turn()
        assert "Example 2" in agent.text() and agent.text().endswith("Act: go\nA door.\n")


def test_one_turn_is_what_was_before_and_what_templates_without_signs_get():
    chat = Chat.of(PLAIN).in_one_turn()
    shown = agent_prompt("S", "leave", "A room.", STEPS).text(chat)
    assert shown.endswith("<|assistant|>Think: hm\nOK.\nAct: go\nA door.\nAct: wait\n")
    assert Chat.of("{% for m in messages %}{{ m.content + '\n' }}{% endfor %}").turns is None


def test_a_template_that_forgets_what_was_said_is_asked_in_one_turn():
    """One that tells only the latest message of each side, and one that moves the system's text about."""
    latest = "<|system|>{{ messages[0].content }}<|user|>{{ messages[-1].content }}<|assistant|>"
    assert Chat.of(latest).turns is None
    shown = agent_prompt("S", "leave", "A room.", STEPS).text(Chat.of(latest))
    assert shown.endswith("<|assistant|>Think: hm\nOK.\nAct: go\nA door.\nAct: wait\n")


@pytest.mark.parametrize(
    ("template", "tail", "thinks"),
    [
        (PLAIN, "<|assistant|>", False),
        (SWITCH, "<|assistant|>", True),
        (OPEN, "<|assistant|><think>\n\n</think>\n\n", True),
        (CHANNEL, "<|start|>assistant<|channel|>final<|message|>", True),
    ],
)
def test_no_decision_stands_in_an_open_thought(template, tail, thinks):
    """Neither the first one nor a later one; a template's own switch is used where it has one."""
    chat = Chat.of(template)
    for steps in ([], STEPS):
        shown = agent_prompt("S", "leave", "A room.", steps).text(chat)
        assert shown.endswith("<|end|>" + tail)
        assert shown.count("<think>") == tail.count("<think>"), "what was thought is in no later turn"
    assert chat.thinks is thinks


def test_templates_find_what_they_would_find_in_transformers():
    said = "{{ bos_token }}{{ strftime_now('%d %b %Y') }}{{ {'ü': 1} | tojson }}{% for m in messages %}{% generation %}"
    said += "[{{ m.content }}]{{ eos_token }}{% endgeneration %}{% if loop.index > 9 %}{% break %}{% endif %}"
    said += "{% endfor %}{% if tools is not none %}{{ raise_exception('tools') }}{% endif %}"
    shown = Chat.of(said, (), ("<s>", "</s>"), "2026-01-31").say("S", "U")
    assert shown == '<s>31 Jan 2026{"ü": 1}[S]</s>[U]</s>'


def test_a_journal_keeps_how_a_conversation_is_held():
    chat = Chat.of(SWITCH, ["<|end|>"])
    again = recalled(json.loads(json.dumps(keep(chat))))
    assert again == replace(chat, shapes=again.shapes)
    prompt = agent_prompt("S", "leave", "A room.", STEPS)
    assert prompt.text(again) == prompt.text(chat)
    assert prompt.text(again, aloud=True) == prompt.text(chat, aloud=True)


TREE = "version: 1\ntree: t\nroot:\n  agent: {{goal: leave, moves: [think, act], think: {think}, think_tokens: 50}}\n"


class Reasoner(ScriptedModel):
    def __init__(self, template: str) -> None:
        self.decisions = ["Think: hm", "Act: done"]
        super().__init__(self.answer)
        self.chat_template = Chat.of(template, ["<|end|>", "</think>"])

    def answer(self, question: Question) -> str:
        thought = question.kind == "write" and question.prompt.endswith("<think>\n")
        return "I go.<|end|>" if thought else self.decisions.pop(0)


def asked(template: str, think: str) -> list[Question]:
    model = Reasoner(template)
    with Run(load(TREE.format(think=think)), model=model, recall=False) as run:
        run.spin(ticks=20)
    return model.asked


def test_a_model_that_is_let_reason_does_so_before_each_decision_and_forgets_it():
    """Within its tokens; what it reasoned forms no token that steers; whoever cannot reason decides as ever."""
    thought, decision, line, again, last = asked(SWITCH, "model")
    assert (thought.kind, thought.stop, thought.max_tokens) == ("write", ("</think>",), 50)
    assert decision.prompt == f"{thought.prompt}I go.< |end|></think>\n\n"
    assert line.prompt == f"{decision.prompt}Think:"
    assert again.prompt.endswith("<|assistant|>Think: hm<|end|><|user|>OK.<|end|><|assistant|><think>\n")
    assert last.kind == "decide"
    assert [q.kind for q in asked(SWITCH, "move")] == ["decide", "write", "decide"]
    assert [q.prompt for q in asked(PLAIN, "model")] == [q.prompt for q in asked(PLAIN, "move")]


def test_an_option_may_end_by_whatever_ends_a_turn():
    """The probabilities of the line break and of all ends together; other tokens keep theirs."""
    np = pytest.importorskip("numpy")
    pytest.importorskip("llama_cpp")
    from bt_runtime.llm.local.branches import logprobs

    row = np.log(np.array([0.1, 0.2, 0.3, 0.4], np.float32))
    assert np.exp(logprobs(row, [1, 2])) == pytest.approx([0.2, 0.3])
    assert np.exp(logprobs(row, [1, 2], (1, 3, 0))) == pytest.approx([0.7, 0.3])
    assert np.exp(logprobs(row, [2], (1, 3))) == pytest.approx([0.3])


def test_a_recorded_conversation_is_told_as_a_base_model_would_be_asked():
    """For lessons that are made of recorded runs: the text, without what the template put around its turns."""
    from bt_lab.distill.journals import plain

    prompt = agent_prompt("S", "leave", "A room.", STEPS)
    for template in (PLAIN, SWITCH, OPEN, CHANNEL):
        chat = Chat.of(template)
        told = plain(prompt.text(chat) + "Act:", recalled(keep(chat)))
        assert told == f"S\n\nYour task is to: leave\nA room.\n{prompt.steps.rstrip()}\n{SILENT}\nAct:"


def test_a_new_answer_has_the_blank_before_it_that_past_ones_have():
    """`[/INST] Act: a` in a conversation, so `[/INST] ` where the next begins; nothing else is taken over."""
    assert quiet(Turns(" </s><s>[INST] ", " [/INST] ", " [/INST]")) == " [/INST] "
    assert quiet(Turns("<|user|>\n ", "<|assistant|>\n ", "<|assistant|>")) == "<|assistant|>\n "
    assert quiet(Turns("<|end|>", "<|assistant|>\n", "<|assistant|>")) == "<|assistant|>"
    assert (
        quiet(Turns("<|im_end|>\n", "<|im_start|>assistant\n", "<|im_start|>assistant\n")) == "<|im_start|>assistant\n"
    )
