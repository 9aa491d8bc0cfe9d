"""The mixture of lessons that the adapter for SmolLM2 is trained on."""

from __future__ import annotations

from collections import Counter

import pytest

from bt_lab.distill.documents import Document
from bt_runtime import BtError
from recipes.starter.data import read
from recipes.starter.mixture import chosen

MANY = [Document(kind, f"{kind} {number}", ((0, 1),)) for kind in ("a", "b", "c") for number in range(20)]


def test_each_kind_has_its_count_and_the_seed_says_which() -> None:
    """The same seed takes the same documents, another one others; a kind without lessons is told."""
    first, again, other = (chosen(MANY, {"a": 5, "c": 50}, seed) for seed in (1, 1, 2))
    assert Counter(document.kind for document in first) == {"a": 5, "c": 20}
    assert first == again != other and len(set(first)) == 25
    with pytest.raises(BtError, match="no lessons of d"):
        chosen(MANY, {"a": 1, "d": 1}, 1)


def test_the_shipped_mixture_names_kinds_of_the_worlds() -> None:
    """Its counts are whole numbers, and no kind is of the instruct register, which the adapter is not asked in."""
    wanted = read("mixture")
    assert all(type(count) is int and count > 0 for count in wanted["kinds"].values())
    assert {kind.split()[0] for kind in wanted["kinds"]} == {"house", "textcraft", "webshop", "hotpotqa", "bench"}
    assert not [kind for kind in wanted["kinds"] if kind.endswith("instruct")]
