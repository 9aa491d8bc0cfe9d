"""Lists and mappings of a tree's text belong to the text: whoever is given one has a copy, and may change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.clock import Manual

TREE = """
version: 1
tree: t
inputs: {{q: {{type: list, default: [1, {{n: 2}}]}}}}
blackboard: {{e: {{type: list, default: [1, {{n: 2}}]}}}}
root:
  {root}
"""
LITERAL = [1, {"n": 2}]


def spoil(value: Any) -> None:
    value[1]["n"] = 0
    value.append(9)


def skill(given: list[Any]) -> Any:
    """Returns a skill that changes what it is given, and tells what that was."""

    @bt.skill("use {items}", name="use")
    def use(items: list) -> None:
        given.append(repr(items))
        spoil(items)

    return use


@pytest.mark.parametrize(
    ("root", "names"),
    [
        ("succeed: {}", "qe"),
        ("set: {y: [1, {n: 2}], m: {x: [1, {n: 2}]}}", "y"),
        ("succeed: {on_success: {y: [1, {n: 2}]}}", "y"),
        ("for_each: {in: [[1, {n: 2}]], as: y, child: {succeed: {}}}", "y"),
    ],
)
def test_what_a_run_does_to_a_list_of_the_text_no_later_run_of_the_tree_sees(root: str, names: str) -> None:
    tree = bt.load(TREE.format(root=root))
    for _ in range(3):
        with bt.Run(tree, clock=Manual()) as run:
            run.spin(ticks=5)
            for name in names:
                assert run.blackboard[name] == LITERAL
                spoil(run.blackboard[name])


def test_two_runs_at_the_same_time_share_no_list_of_the_text() -> None:
    tree = bt.load(TREE.format(root="set: {y: [1, {n: 2}]}"))
    with bt.Run(tree, clock=Manual()) as one, bt.Run(tree, clock=Manual()) as other:
        one.tick(), other.tick()
        for name in "qey":
            spoil(one.blackboard[name])
            assert other.blackboard[name] == LITERAL


def test_a_subtree_gets_its_defaults_whole_in_each_round(tmp_path: Path) -> None:
    given: list[str] = []
    ports = "inputs: {e: {type: list, default: [1, {n: 2}]}}"
    (tmp_path / "inner.yaml").write_text(f"version: 1\ntree: inner\n{ports}\nroot: {{use: {{items: '{{e}}'}}}}\n")
    outer = tmp_path / "t.yaml"
    outer.write_text("version: 1\ntree: t\nroot: {repeat: {times: 3, child: {tree: {file: inner}}}}\n")
    with bt.Run(bt.load(outer, skills=[skill(given)]), clock=Manual()) as run:
        assert run.spin(ticks=20) is bt.Status.SUCCESS
    assert given == [repr(LITERAL)] * 3


@pytest.mark.parametrize(
    "child",
    [
        "use: {items: [1, {n: 2}]}",
        "sequence: [set: {y: [1, {n: 2}]}, use: {items: '{y}'}]",
        "for_each: {in: [[1, {n: 2}]], as: y, child: {use: {items: '{y}'}}}",
    ],
)
def test_a_skill_that_changes_what_it_is_given_gets_it_whole_in_each_round(child: str) -> None:
    given: list[str] = []
    tree = bt.load(TREE.format(root=f"repeat: {{times: 3, child: {{{child}}}}}"), skills=[skill(given)])
    for _ in range(2):
        with bt.Run(tree, clock=Manual()) as run:
            assert run.spin(ticks=20) is bt.Status.SUCCESS
    assert given == [repr(LITERAL)] * 6


@pytest.mark.parametrize("value", ["[2, 1]", "[[2], {n: 1}]", "{a: 1, b: [x]}"])
def test_a_list_that_is_written_again_as_it_was_wakes_nobody(value: str) -> None:
    text = f"version: 1\ntree: t\nroot:\n  reactive_sequence:\n  - set: {{q: {value}}}\n  - wait: 5\n"
    with bt.Run(bt.load(text), clock=Manual()) as run:
        assert [run.tick().due > 0 for _ in range(3)] == [False, True, True]
        run.blackboard["q"] = "another"
        assert [run.tick().due > 0 for _ in range(2)] == [False, True]
