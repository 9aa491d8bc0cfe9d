"""Worked examples out of the manifests themselves: goals in words, and the facts that are meant by them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from bt_runtime.backchain.ground import Fact

WORDED = ("{act}", "please {act}", "I want that {said}", "{act}", "{said}")
MOST_TOGETHER = 3  # facts of one example


def example_goals(facts: Sequence[Fact], goal: str, count: int, seed: int) -> list[tuple[str, list[str]]]:
    """So many goals with one, two and three facts in turn, the same for each seed. Facts that the goal names are left
    out, so that none of them is the goal asked for. Each fact stands in one of them at most."""
    chosen, asked = random.Random(seed), goal.lower()
    left = [*facts]
    chosen.shuffle(left)
    left = [fact for fact in left if fact.said.lower() not in asked and fact.act.lower() not in asked]
    found: list[tuple[str, list[str]]] = []
    for number in range(count):
        these, left = left[: 1 + number % MOST_TOGETHER], left[1 + number % MOST_TOGETHER :]
        if these:
            words = " and ".join(chosen.choice(WORDED).format(act=fact.act, said=fact.said) for fact in these)
            found.append((f"{words[0].upper()}{words[1:]}.", [fact.said for fact in these]))
    return found
