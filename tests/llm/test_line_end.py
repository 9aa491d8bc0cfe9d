"""A chat model ends its turn where a grammar still asks for the last line break."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

import numpy as np

from bt_runtime.llm.decoding.grammar import _bytes, compile_for
from bt_runtime.llm.local.write import closes_line
from bt_runtime.types import Grammar

END, BREAK = 256, 10
WEIGHTS = SimpleNamespace(newline=BREAK, ends=lambda token: token == END)


@pytest.mark.parametrize(
    ("pattern", "written", "likeliest", "closes"),
    [
        (r"[^\n]*\]\n", "Zokisib]", END, True),
        (r"(- [a-z]+\n){1,4}", "- find\n- bring", END, True),
        (r"[^\n]*\]\n", "Zokisib]", ord("x"), False),  # it goes on
        (r"[^\n]*\]\n", "Zokisib", END, False),  # the bracket is missing
        (r"[^\n]*\]\n", "", END, False),
        (r"- a\n- b\n", "- a", END, False),  # a line break, and more
        (r"[^\n]*\]\n?", "Zokisib]", END, False),  # it may end as it is
    ],
)
def test_only_the_last_line_break_is_given_to_a_model_that_ends_its_turn(pattern, written, likeliest, closes) -> None:
    """Elsewhere the grammar's own tokens are chosen among, as before."""
    matcher = compile_for(_bytes(), Grammar("regex", pattern))
    assert matcher.consume_tokens([*written.encode()])
    row = np.zeros(END + 1, np.float32)
    row[likeliest] = 1
    assert closes_line(row, matcher, WEIGHTS) is closes
    assert not closes_line(row, None, WEIGHTS)
