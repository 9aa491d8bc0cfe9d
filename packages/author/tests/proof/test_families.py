"""Trees of another checker's families, as large as the largest that it was measured with, are decided at once."""

from __future__ import annotations

import pytest

from bt_author.proof.check import check
from tests.benchmarks.behaverify import bigger_fish, checklist, done


@pytest.mark.parametrize(("link", "second"), [("parallel", "refuted"), ("sequence", "refuted"), ("fallback", "proved")])
def test_a_checklist_of_2055_nodes_is_decided(link: str, second: str) -> None:
    """What follows a failed check succeeds; it is never reached only where the first item ends the tree."""
    tree = checklist(link, 514)
    assert sum(1 for _ in tree.spec.root.walk()) == 2055 + 2
    path = done(tree, 257)
    for word, expected in (("is success", "proved"), ("is not success", second)):
        [result] = check(tree, ltl=f"G(check257 is failure -> {path} {word})", properties=[], states=100)
        assert result.outcome == expected
        assert result.finding is None or " - broken" in result.finding.why  # the engine has gone through it


@pytest.mark.parametrize("link", ["parallel", "sequence"])
def test_a_counter_comes_to_rest_where_no_check_holds(link: str) -> None:
    [rests] = check(bigger_fish(link, 20), ltl="F G fish == 21", properties=[])
    [grows] = check(bigger_fish(link, 20), ltl="F G fish == 20", properties=[])
    assert (rests.outcome, grows.outcome) == ("proved", "refuted")
