"""A micro model with control tokens of one's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support import random_models as testing


def odd_model(path, odd, template="{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}<think>"):
    """The micro model, its last tokens made control tokens."""
    import gguf

    make, shape = testing._bpe, replace(testing.MICRO, seed=3)

    def bpe(size, words, kind):
        tokens, kinds, merges, scores = make(size, words, kind)
        lost = set(tokens[-len(odd) :])
        tokens[-len(odd) :], kinds[-len(odd) :] = odd, [kind.CONTROL] * len(odd)
        return tokens, kinds, [m for m in merges if m.replace(" ", "") not in lost], scores

    class Writer(gguf.GGUFWriter):
        def add_tokenizer_model(self, name):
            self.add_chat_template(template)
            super().add_tokenizer_model(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "_bpe", bpe)
        patch.setattr(gguf, "GGUFWriter", Writer)
        return testing.make_gguf(path, shape)
