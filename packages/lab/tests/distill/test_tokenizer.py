"""The vocabulary, and which tokens are to be learnt."""

from __future__ import annotations

import pytest

pytest.importorskip("tokenizers", reason="needs the distill extra")

from bt_lab.distill import tokenizer
from bt_lab.distill.documents import Document
from bt_runtime import BtError
from packages.lab.tests.distill.errands import errand, errands


@pytest.fixture(scope="module")
def words():
    return tokenizer.train((d.text for d in errands(200)), 400)


def test_the_marked_tokens_spell_the_answers(words):
    """What is learnt is exactly what the model itself said, and the end after its last word."""
    document = errand("cup")
    (code,) = words.encode([document])
    marked = [token for token, learn in zip(code.tokens, code.learn, strict=True) if learn]
    assert marked[-1] == words.end
    assert words.text(marked) == "".join(document.text[a:b] for a, b in document.learn)
    assert words.text(code.tokens) == document.text
    assert code.torn == 0


def test_the_end_is_not_learnt_when_others_have_the_last_word(words):
    """A document that ends with an observation does not teach to stop there."""
    (code,) = words.encode([Document("k", "Act: go\nYou go.\n", ((0, 8),))])
    assert code.tokens[-1] == words.end
    assert not code.learn[-1]


def test_an_answer_that_begins_inside_a_token_is_counted(words):
    """At run time its prompt would end with other tokens: whoever makes the documents should know."""
    (code,) = words.encode([Document("k", "fetch the apple\n", ((7, 16),))])
    assert code.torn == 1


@pytest.mark.parametrize("text", ["", "Ünïcödé 🙂\u2028\x00\r\n\t  x", "  two  spaces\n\n\n", tokenizer.END])
def test_every_text_comes_back(words, text):
    """Bytes that were never seen have tokens too, and a text that spells a control token is letters."""
    tokens = words.tokens(text)
    assert words.text(tokens) == text
    assert words.end not in tokens


def test_the_same_texts_give_the_same_vocabulary(words, tmp_path):
    """Training twice, saving and loading change nothing."""
    again = tokenizer.train((d.text for d in errands(200)), 400)
    assert again.digest == words.digest
    again.save(tmp_path / "t.json")
    assert tokenizer.load(tmp_path / "t.json").digest == words.digest


def test_faults_are_told(tmp_path):
    """Too small a vocabulary and a damaged file are one line each."""
    with pytest.raises(BtError, match="every byte"):
        tokenizer.train(["x"], 100)
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(BtError, match="not a tokenizer"):
        tokenizer.load(tmp_path / "t.json")
