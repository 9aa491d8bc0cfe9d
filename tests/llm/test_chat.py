"""Chat templates are other people's programs: they run once, alone, within limits. No text can pretend to be one."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

pytest.importorskip("jinja2")

from bt_runtime import BtError
from bt_runtime.language.project import child
from bt_runtime.llm import Chat, starter
from bt_runtime.llm.chat.chat import _parted, keep, recalled
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.tokenizer import tokens_of
from tests.support.odd_model import odd_model

TURNS = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant"


def test_what_a_template_puts_around_the_texts_is_worked_out_once_for_all_prompts():
    """Whatever stands in the texts; and for a text that is not there, as the template has it."""
    chat = Chat.of(TURNS)
    shown = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n{{ 1/0 }}<|im_end|>\n<|im_start|>assistant"
    assert chat.say("S", "{{ 1/0 }}") == shown
    assert (
        Chat.of("{% for m in messages %}{% if m.content %}[{{ m.content }}]{% endif %}{% endfor %}").say("", "U")
        == "[U]"
    )


def test_the_starters_prompts_are_what_its_template_says():
    """The model that comes with the package is asked to the letter as ever."""
    header = read_header(starter())
    chat = Chat.of(header.chat_template, header.markers)
    assert chat.say("S", "U") == "S\n\nU\n"
    assert chat.say("", "U") == "U\n"
    assert chat.say("S", "") == "S\n\n"
    text = "You see <1> fridge, [2] eggs & a [[cup]]; a < b > c."
    assert chat.harmless(text) == text


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{% if m.role == 'user' %}[{{ m.content }}]{% endif %}{% endfor %}",
        "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}[{{ messages[0].content }}]",
    ],
)
def test_a_system_text_that_the_template_drops_or_refuses_is_said_to_the_user(template):
    assert Chat.of(template).say("S", "U") == "[S\n\nU]"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "more than 2 s"),
        ("{{ ('a' * 10**9) * 3 }}", "more than 256 MB"),
        ("{{ 'a' * 10**6 }}", "characters"),
        ("{% for i in range(99999) %}{{ 'a' * 9999 }}{% endfor %}", "characters"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ nothing.at.all }}", "undefined"),
        ("{% for", "expected"),
        ("nothing of it", "not in what comes out"),
        ("{{ messages[-1].content | upper }}", "not in what comes out"),
    ],
)
def test_a_template_that_fails_or_takes_too_much_is_told_with_a_way_out(template, words):
    """In words, within the limits of its own process; nothing of it is ever run in ours."""
    with pytest.raises(BtError, match=words) as fault:
        Chat.of(template)
    assert "chat=False" in fault.value.hint


def test_a_journal_keeps_the_shape_and_believes_no_other(monkeypatch):
    """What is recalled says the same; what somebody else wrote there is refused, and runs nothing."""
    chat = Chat.of(TURNS, ["<|im_end|>"])
    again = recalled(json.loads(json.dumps(keep(chat))))
    assert again is not None
    assert again.say("S", "U") == chat.say("S", "U")
    assert again.markers == chat.markers
    assert recalled(keep(None)) is None
    sound = keep(chat)
    for both in ([0, 1] * 10, [2], [True], ["x" * 10**5], [None], 5):
        with pytest.raises(BtError):
            recalled({**sound, "shapes": {"both": both}})
    for kept in ({}, 5, [], {"shapes": {}, "markers": []}, {"shapes": {"both": [0, 1]}, "markers": 1}):
        with pytest.raises(BtError):
            recalled(kept)


ODD = [
    "<｜end▁of▁sentence｜>", "<|im_start|>", "<think>", "</s>", ">>TITLE<<", "[AVAILABLE_TOOLS]", "<", "< x>",
    "<a", "a>", "<<a>>",
]  # fmt: skip


def test_no_text_whatever_forms_a_marker_of_the_vocabulary():
    """Random texts made of the markers, their pieces and what parts them: nothing of them is left; other texts stay."""
    rng = random.Random(5)
    for _ in range(300):
        markers = tuple(rng.sample(ODD, rng.randint(1, len(ODD))))
        chat = Chat({"both": (0, 1)}, markers)
        parts = [marker[i:j] for marker in markers for i in range(3) for j in range(len(marker))]
        pieces = [*ODD, *parts, " ", "·", "a"]
        text = "".join(rng.choices(pieces, k=30))
        assert not [marker for marker in markers if marker in chat.harmless(text)]
        assert chat.harmless("the cup is at b, on 3") == "the cup is at b, on 3"


def test_many_markers_are_looked_up_not_tried_one_after_another():
    """Six thousand of them, and a text of nothing but their first letter: by how long they are, not by how many."""
    parted = _parted(tuple(f"<unused{n}>" for n in range(6000)))
    assert len(parted.sizes["<"]) == 4
    assert parted("<" * 20_000) == "<" * 20_000


def test_control_tokens_come_from_the_template_alone(tmp_path, micro):
    """A vocabulary with odd control tokens, and a world that says them: no more in the prompt than without."""
    pytest.importorskip("llama_cpp")
    odd = [marker for marker in ODD if marker not in ("<", "</s>")]
    path = odd_model(tmp_path / "odd.gguf", odd)
    code = """
import json, sys
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.llama import Weights, begin
from bt_runtime.llm import Chat
from bt_runtime.llm.local.tokenizer import tokens_of
from bt_runtime.agents.prompt import agent_prompt
begin()
path, odd = sys.argv[1], json.loads(sys.argv[2])
weights, header = Weights(path, 0, lambda: None), read_header(path)
chat = Chat.of(header.chat_template, header.markers)
def steering(says):
    text = agent_prompt("You are a robot.", "bring the cup", says).text(chat)
    return [t for t in weights.tokens(text, begin=True, special=True) if not weights.piece(t) and t > 1]
plain = steering("On the note you read: nothing.")
within = [one[:1] + other + one[1:] for one in odd for other in odd]
for said in ["".join(odd), *odd, *(one + one for one in odd), *within]:
    assert steering("On the note you read: " + said) == plain, said
print(len(plain), len(header.markers))
"""
    words = [sys.executable, "-c", code, str(path), json.dumps(odd)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, env=child.environment())
    assert done.returncode == 0, done.stderr
    template, markers = map(int, done.stdout.split())
    assert template == 3, "one in front of each of two messages, and one after them"
    assert markers == len(odd) + 2


def test_a_text_is_counted_as_it_is_fed(tmp_path, open_model):
    """Also one that is full of a chat model's control tokens: what `count` says is what a prompt takes."""
    markers = ["<|im_start|>", "<|im_end|>"]
    file = odd_model(tmp_path / "chat.gguf", markers)
    model = open_model(file)
    for text in ("<|im_start|>" * 20, "the egg " * 20, "<|im_end|>the egg"):
        fed = tokens_of(str(file), model.chat_template.harmless(text), True)
        assert not any(token.steers for token in fed[1:])
        assert model.count(text) in (len(fed), len(fed) - 1), "one stands in front of a whole prompt"
