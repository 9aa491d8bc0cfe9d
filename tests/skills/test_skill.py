"""What a program says of a Python skill is held to the rules of a manifest when the tree is loaded."""

from __future__ import annotations

import math
from typing import Any

import pytest

import bt_runtime as bt

WRONG: list[dict[str, Any]] = [
    {"uses": "arm"}, {"uses": {"lift": "fleet"}}, {"uses": [5]}, {"uses": 5}, {"needs": "hand empty"},
    {"brings": "held"}, {"follow": "x"}, {"on_resume": "never"}, {"on_resume": ""}, {"confirm": "yes"}, {"confirm": -1},
    {"confirm": math.nan}, {"confirm": None}, {"sentence": "drive to {plce}"},
]  # fmt: skip


@pytest.mark.parametrize("about", WRONG, ids=repr)
def test_a_declaration_that_would_be_read_as_another_one_is_refused(about: dict[str, Any]) -> None:
    @bt.skill(**about)
    def drive(x: float = 0) -> bool:
        return True

    with pytest.raises(bt.BtError, match=r"of `drive` (is|has) "):
        bt.load("version: 1\ntree: t\nroot: {drive: {}}\n", skills=[drive])


def test_a_parameter_that_no_tree_can_give_is_refused() -> None:
    @bt.skill
    def drive(x: float, /) -> bool:
        return True

    with pytest.raises(bt.BtError, match="`drive` takes `x` by its place alone"):
        bt.load("version: 1\ntree: t\nroot: {drive: 1}\n", skills=[drive])


@pytest.mark.parametrize("sentence", ["", "drive to {x} by {via}"])
def test_a_parameter_whose_default_is_none_may_be_left_out(sentence: str) -> None:
    given: list[tuple[float, str | None]] = []

    @bt.skill(sentence, instant=True)
    def drive(x: float, via: str | None = None) -> None:
        given.append((x, via))

    with bt.Run(bt.load("version: 1\ntree: t\nroot: {drive: {x: 1}}\n", skills=[drive]), strict=True) as run:
        assert run.tick().status is bt.Status.SUCCESS
        assert "None" in run.parts.engine.root.feedback_message
    assert given == [(1, None)]
