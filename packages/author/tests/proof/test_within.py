"""The clock of a `within` is one, in a run and in a proof."""

from __future__ import annotations

import pytest

from bt_author.proof.check import check
from bt_runtime.testing import Trial
from bt_runtime.testing.promise import Broken

TREE = """
version: 1
tree: t
blackboard: {{a: {{type: boolean, default: false}}}}
properties:
  comes: {{within: {{to: "a", seconds: 1}}}}
  goes: {{within: {{from: "a", to: "not a", seconds: 1}}}}
root:
  sequence: [wait: {first}, set: {{a: true}}, wait: {second}, set: {{a: false}}]
"""


@pytest.mark.parametrize("name", ["comes", "goes"])
@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (1, 1), (1.5, 0.5), (0.5, 1.5)])
def test_a_tree_is_late_in_a_run_exactly_where_the_proof_says_so(name: str, first: float, second: float) -> None:
    """The tree has one course, so that a proof holds just when a run that is ticked often keeps the property."""
    tree = TREE.format(first=first, second=second)
    [result] = check(tree, properties=[name])
    with Trial(tree, properties=[name]) as trial:
        try:
            while trial.status.name == "RUNNING" or not trial.ticks:
                trial.advance(0.25)
            seen = "proved"
        except Broken:
            seen = "refuted"
    assert result.outcome == seen == ("refuted" if (first if name == "comes" else second) > 1 else "proved")
