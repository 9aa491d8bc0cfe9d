from __future__ import annotations

from random import Random

import pytest

from bt_envs.house.phrases import article, listing, plural, spin


def test_every_choice_is_met_and_nothing_else() -> None:
    """`[a|b]` is one of its ways, inner choices first."""
    rng = Random(1)
    assert {spin("[Put|[Set|Lay]] it[, please|].", rng) for _ in range(200)} == {
        f"{verb} it{tail}." for verb in ("Put", "Set", "Lay") for tail in (", please", "")
    }


@pytest.mark.parametrize(
    ("one", "many"),
    [("plate", "plates"), ("wine glass", "wine glasses"), ("cutlery knife", "cutlery knives"), ("candy", "candies")],
)
def test_plurals(one: str, many: str) -> None:
    """Names of things have the plural that people say."""
    assert plural(one) == many


def test_articles_and_lists() -> None:
    """`an apple`, `a cup`; a list of one is that one."""
    assert (article("apple"), article("cup")) == ("an apple", "a cup")
    assert listing(["a cup"], Random(0)) == "a cup"
    assert listing(["a", "b", "c"], Random(3)).count("and") in (1, 2)
