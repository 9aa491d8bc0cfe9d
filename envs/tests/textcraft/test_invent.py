from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.textcraft.invent import invent
from bt_envs.textcraft.planner import plan


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from(["train", "eval"]))
def test_every_invented_item_can_be_made_and_every_depth_is_there(seed: int, split: str) -> None:
    """No recipe is lost to a circle, goals of depth 1 to 4 exist, and each has a plan."""
    book = invent(seed, split)
    for depth in (1, 2, 3, 4):
        assert book.goals(depth)
    assert all(plan(book, item) for item in book.of)


def test_the_same_seed_gives_the_same_book_and_splits_share_no_word() -> None:
    """What was seen in training tells nothing of an item in evaluation."""
    assert invent(7, "train").recipes == invent(7, "train").recipes
    words = {s: {w for n in range(200) for item in invent(n, s).items for w in item.split()} for s in ("train", "eval")}
    assert not words["train"] & words["eval"]
