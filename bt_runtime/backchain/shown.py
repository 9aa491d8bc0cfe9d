"""Worked examples out of the manifests themselves: goals in words, and the action that is meant by each."""

from __future__ import annotations

import random
from collections.abc import Sequence

from bt_runtime.backchain.ground import Fact

WORDED = ("{act}.", "please {act}.", "I want that {said}.", "{said}, please.")


def example_goals(facts: Sequence[Fact], goal: str, count: int, seed: int) -> list[tuple[str, str]]:
    """So many goals, each with its action, the same for each seed. What the goal names word by word is left out, so
    that none of them is the goal asked for."""
    asked, left = goal.lower(), [*facts]
    random.Random(seed).shuffle(left)
    left = [fact for fact in left if fact.said.lower() not in asked and fact.act.lower() not in asked]
    worded = [(WORDED[i % len(WORDED)].format(act=f.act, said=f.said), f.act) for i, f in enumerate(left[:count])]
    return [(f"{text[0].upper()}{text[1:]}", act) for text, act in worded]
