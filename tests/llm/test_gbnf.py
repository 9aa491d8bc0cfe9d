"""The same grammars in llama.cpp's own notation: what is translated says what llguidance reads."""

from __future__ import annotations

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import BtError
from bt_runtime.language.emit.dialect import Form
from bt_runtime.llm.decoding.choice import Trie
from bt_runtime.llm.decoding.gbnf import of_grammar, of_moves, of_trie
from bt_runtime.llm.decoding.plan_grammar import expansion
from bt_runtime.types import Grammar


def test_a_regular_expression():
    assert of_grammar(Grammar("regex", r"(go|find) [0-9]{1,3}\n")) == (
        'root ::= (("go" | "find")) " " ([0-9]){1,3} "\\n"\n'.replace('"go"', '"g" "o"').replace(
            '"find"', '"f" "i" "n" "d"'
        )
    )
    assert of_grammar(Grammar("regex", r"[^\"\\\x00-\x1f^\]-]+")) == 'root ::= ([^"\\\\\\x00-\\x1F\\x5E\\]\\-]){1,}\n'


def test_rules_with_texts_bars_groups_and_counts():
    text = 'start: "a\\n" (item | other)? item{1,3}\nitem: "- " /[a-z]{3,9}/\nother: "é\\"" item*'
    assert of_grammar(Grammar("lark", text)).splitlines() == [
        "root ::= start",
        'start ::= "a\\n" ( item | other )? item{1,3}',
        'item ::= "- " (([a-z]){3,9})',
        'other ::= "é\\"" item*',
    ]


def test_what_cannot_be_said_is_a_fault():
    for grammar in (Grammar("lark", "start: %json {}"), Grammar("regex", "(?=a)b"), Grammar("lark", "%ignore X")):
        with pytest.raises(BtError, match="cannot say"):
            of_grammar(grammar)


def test_a_trie_is_said_token_by_token():
    trie = Trie([[1, 2, 9], [1, 3, 9], [1, 3, 4, 9]])
    assert of_trie(trie) == "root ::= <[1]> (<[2]> <[9]> | <[3]> (<[9]> | <[4]> <[9]>))\n"
    node = trie.children[0][0]
    assert of_trie(trie, node, trie.children[node][1]) == "root ::= <[3]> (<[9]> | <[4]> <[9]>)\n"
    assert of_moves(Trie([[7], [8, 5]]), [None, Trie([[1, 9], [2, 9]])]) == (
        "root ::= <[7]> | <[8]> <[5]> (<[1]> <[9]> | <[2]> <[9]>)\n"
    )


def test_the_plan_grammar_can_be_said():
    forms = [Form("sequence", "children"), Form("act", "sentence")]
    said = of_grammar(expansion(forms, skills=["go to fridge 1", "open: it"]))
    assert said.startswith("root ::= start\n") and "_" not in said.replace('"_', "").split("[")[0]
