"""What a tree shares with a fleet is said in its head and in its manifests, and checked as everything else is."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.language import manifest

TREE = """
version: 1
tree: t
blackboard:
  door_3: {entry}
root:
  check: door_3 == 1
"""


def faults(entry: str) -> str:
    with pytest.raises(bt.Faults) as found:
        bt.load(TREE.replace("{entry}", entry))
    return str(found.value)


def test_a_shared_entry_has_a_companion_that_tells_whether_it_is_too_old() -> None:
    """`stale_after` declares `NAME_stale`, which is true until the fleet was heard."""
    tree = bt.load(TREE.replace("{entry}", "{type: integer, shared: fleet, stale_after: 5, default: 0}"))
    assert list(tree.spec.shared) == ["door_3", "door_3_stale"]
    assert (tree.spec.entries["door_3_stale"].type, tree.spec.entries["door_3_stale"].default) == ("boolean", True)
    assert tree.warnings == ()


@pytest.mark.parametrize(
    ("entry", "place", "said"),
    [
        ("{type: integer, stale_after: 5}", "text:5:26", "needs `shared: fleet` beside it"),
        ("{type: integer, shared: fleet, when_stale: halt}", "text:5:41", "needs `stale_after` beside it"),
        ("{type: integer, shared: fleet, stale_after: 1, when_stale: default}", "text:5:57", "has no `default`"),
        ("{type: integer, shared: world}", "text:5:34", "is fleet, not `world`"),
        ("{type: integer, shared: fleet, stale_after: 0}", "text:5:54", "more than 0, not `0`"),
    ],
)
def test_what_cannot_be_shared_is_a_fault_at_its_place(entry: str, place: str, said: str) -> None:
    """Each fault names the entry, with line and column."""
    text = faults(entry)
    assert place.rpartition(":")[0] in text
    assert said in text


def test_an_input_is_not_shared() -> None:
    """Only entries under `blackboard:` may be a fleet's."""
    with pytest.raises(bt.Faults, match="has no `shared`"):
        bt.load("version: 1\ntree: t\ninputs:\n  a: {shared: fleet}\nroot:\n  check: a == 1\n")


def test_a_skill_uses_what_the_robot_or_the_fleet_has_once() -> None:
    """`uses: {lift: fleet}` is one lift for all robots; a list and `robot` mean things of this robot."""
    read = manifest.parse(
        "version: 1\nskills: m\nkinds:\n"
        "  ride: {sentence: ride, uses: {lift: fleet, gripper: robot}}\n"
        "  grip: {sentence: grip, uses: [gripper]}\n"
    )
    assert [kind.data["entry"].uses for kind in read.kinds] == [("fleet:lift", "gripper"), ("gripper",)]
    assert read.diagnostics == []
    wrong = manifest.parse("version: 1\nskills: m\nkinds:\n  ride: {sentence: ride, uses: {lift: fleets}}\n")
    assert "not `fleets`" in wrong.diagnostics[0].message


def test_a_tree_shares_what_its_subtrees_share(tmp_path: Path) -> None:
    """A run keeps the entries and locks of all included trees in step with the fleet."""

    @bt.skill("ride", uses=["fleet:lift"])
    def ride() -> None: ...

    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "inner.yaml").write_text(
        TREE.replace("{entry}", "{type: integer, shared: fleet, default: 0}")
    )
    outer = "version: 1\ntree: outer\nroot:\n  tree: {file: inner.yaml}\n"
    (tmp_path / "trees" / "outer.yaml").write_text(outer)
    tree = bt.load(tmp_path / "trees" / "outer.yaml", project=tmp_path, skills=[ride])
    assert sorted(tree.spec.shared) == ["door_3", "fleet:lift"]
