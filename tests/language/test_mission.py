"""A guarded branch of a reactive fallback whose SUCCESS ends the tree is told (BT037), and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.language.loader import Loader

ROOT = Path(__file__).parents[2]
HEAD = "version: 1\ntree: t\nblackboard: {low: {type: boolean, default: false}}\nroot:\n"
RECHARGE = "sequence: {name: recharge, when: low, children: [log: low, wait: 1, log: full"


def found(root: str) -> list[str]:
    return [d.code for d in Loader().text(f"{HEAD}  {root}\n", "text").diagnostics]


@pytest.mark.parametrize("around", ["{}", "{{retry: {{times: 9, child: {}}}}}", "{{sequence: [log: a, {}]}}"])
def test_a_guarded_branch_that_can_succeed_is_told_where_the_work_below_is_lost(around: str) -> None:
    """Also within what hands its child's result on to the end of the tree."""
    inner = f"{{reactive_fallback: [{RECHARGE}]}}, wait: 60]}}"
    assert found(around.format(inner)) == ["BT037"]


@pytest.mark.parametrize(
    "root",
    [
        f"reactive_fallback: [{RECHARGE}, fail: back]}}, wait: 60]",
        f"reactive_fallback: [{RECHARGE}, succeed: {{}}]}}, wait: 60]",
        f"repeat: {{times: 8, child: {{reactive_fallback: [{RECHARGE}]}}, wait: 60]}}}}",
        f"reactive_fallback: [{RECHARGE}]}}, log: nothing lasting]",
        "reactive_fallback: [check: low, wait: 60]",
        f"fallback: [{RECHARGE}]}}, wait: 60]",
    ],
    ids=["it fails", "on purpose", "begun again", "nothing is lost", "a mere test", "not reactive"],
)
def test_what_goes_on_or_ends_on_purpose_is_not_told(root: str) -> None:
    """No false alarm where the tree goes on, where the author says that it ends, or where there is no work."""
    assert "BT037" not in found(root)


@pytest.mark.parametrize("path", sorted((ROOT / "trees").rglob("*.yaml")), ids=lambda p: p.stem)
def test_no_shipped_tree_is_told(path: Path) -> None:
    """What we ship goes on with its work after each interruption."""
    assert [d for d in Loader().file(path).diagnostics if d.code == "BT037"] == []
