"""Python skills: what a program declares, and what a tree may leave out."""

from __future__ import annotations

import pytest

import bt_runtime as bt


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
