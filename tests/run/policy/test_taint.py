"""A policy's labels are held to an oracle that knows nothing of labels: text from outside carries a mark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.run.policy import taint

FIRST = int(os.environ.get("TAINT_SEED", "0"))
COUNT = int(os.environ.get("TAINT_PROJECTS", "150"))
BY_NAME = """
inputs: {m: {type: string, default: x}}
outputs: {a: {type: string}}
"""


def test_no_skill_starts_with_a_value_that_was_made_of_outside_text(tmp_path: Path) -> None:
    """Random trees whose names cross each other through ports, autoremap, copies and outputs: the skill that takes
    nothing from outside is never called with a marked value, is called with others, and marked ones are refused."""
    played = [(trees, taint.play(trees, tmp_path)) for trees in taint.projects(FIRST, COUNT)]
    passed = [trees.seed for trees, done in played if done and any(taint.MARK in each for each in done.unlocked)]
    assert passed == []
    called = sum(len(done.unlocked) for _, done in played if done)
    refused = sum(taint.MARK in sentence for _, done in played if done for sentence in done.refused)
    assert called > COUNT and refused > COUNT / 10, "the trees try nothing"


def test_trees_without_outside_text_do_all_that_they_say(tmp_path: Path) -> None:
    """The same trees, where nothing comes from outside: neither the check before the run nor the run refuses one."""
    for trees in taint.projects(FIRST, COUNT // 3, marked=False):
        done = taint.play(trees, tmp_path)
        assert done is not None and done.refused == [], f"seed {trees.seed}"


@pytest.mark.parametrize(
    "inner",
    [
        "set: {a: '{m}', b: hall}",
        "infer: {prompt: '{m}', outputs: {a: {type: string}, b: {choices: [hall, porch]}}}",
        "read: {text: '{a}', sender: '{b}'}",
    ],
    ids=["set", "infer", "skill"],
)
def test_an_included_tree_names_its_entries_as_it_likes(inner: str, tmp_path: Path) -> None:
    """The outer entry `b` is the inner `a`; that the inner tree has a `b` of its own, which is harmless, is nothing
    to it."""
    trees = taint.Trees(0)
    trees.texts = {
        "inner": f"version: 1\ntree: inner\n{BY_NAME}root: {{sequence: [{{{inner}}}, {{log: '{{b}}'}}]}}\n",
        "root": taint.head(endorse=["b"])[:-1]
        + ", version: 1, tree: root, root: {sequence: ["
        + "{tree: {file: inner, with: {m: '{mail}', a: '{b}'}}}, {unlock: {place: '{b}'}}]}}\n",
    }
    done = taint.play(trees, tmp_path)
    assert done is not None and done.unlocked == [] and len(done.refused) == 1
