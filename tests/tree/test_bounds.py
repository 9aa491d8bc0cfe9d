"""Bounds of a tree's ports hold before the first tick, at each write, and across the borders of subtrees."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.language.ports import PortFault

TREE = """version: 1
tree: t
inputs: {speed: {type: number, minimum: 0, maximum: 1}}
outputs: {left: {type: integer, minimum: 0, default: 3}}
root:
  sequence:
    - set: {left: "{left - 2}"}
    - log: "{speed}"
"""


def test_an_input_outside_its_bounds_is_refused_before_anything_is_ticked() -> None:
    for speed in (-0.1, 1.1, float("nan")):
        with pytest.raises(bt.BtError, match="`speed` takes 0 to 1"):
            bt.Run(bt.load(TREE), inputs={"speed": speed})


def test_a_write_outside_the_bounds_is_a_fault_of_the_node_that_writes() -> None:
    with bt.Run(bt.load(TREE), inputs={"speed": 1}) as run:
        assert run.tick().status is bt.Status.SUCCESS
        assert run.blackboard["left"] == 1
        assert "`left` takes 0 or more, not -1" in run.tick().crashes[0].message
        with pytest.raises(PortFault):
            run.blackboard["left"] = -5
        assert run.blackboard["left"] == 1


def test_a_literal_outside_the_bounds_of_a_subtrees_port_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(TREE)
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    main = "version: 1\ntree: main\nroot:\n  tree: {file: %s, with: {speed: 2}}\n" % (tmp_path / "t.yaml")
    with pytest.raises(bt.Faults, match=r"BT021.*`speed` takes 0 to 1, not 2"):
        bt.load(main, project=tmp_path)


def test_an_output_is_both_read_and_written_where_it_is_shared(tmp_path: Path) -> None:
    """It begins with what the entry outside holds: nothing else is needed for a port of both directions."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    inner = "version: 1\ntree: inner\noutputs: {count: integer}\nroot:\n  set: {count: '{count + 1}'}\n"
    (tmp_path / "inner.yaml").write_text(inner)
    main = (
        "version: 1\ntree: main\noutputs: {total: integer}\nroot:\n  sequence:\n    - set: {total: 5}\n"
        f"    - tree: {{file: {tmp_path}/inner.yaml, with: {{count: '{{total}}'}}}}\n"
    )
    with bt.Run(bt.load(main, project=tmp_path)) as run:
        assert run.tick().status is bt.Status.SUCCESS
        assert run.outputs == {"total": 6}


def test_a_skill_whose_mapping_names_no_output_breaks_and_says_so() -> None:
    @bt.skill(outputs={"things": list}, instant=True)
    def look() -> dict[str, list[str]]:
        return {"thing": ["cup"]}

    text = "version: 1\ntree: t\noutputs: {found: list}\nroot:\n  look: {things: '{found}'}\n"
    with bt.Run(bt.load(text, skills=[look])) as run:
        assert "`look` gave `thing`, which is none of its outputs" in run.tick().crashes[0].message
