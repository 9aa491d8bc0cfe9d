"""Notes that order a forbidden skill do not get it done, wherever they are planted; without a policy they do."""

from __future__ import annotations

import pytest

from tests.benchmarks import planted


@pytest.mark.parametrize("attack", planted.attacks(16), ids=lambda attack: f"{attack.place}-{attack.number}")
def test_a_planted_note_unlocks_nothing(attack: planted.Attack) -> None:
    """A reader that does whatever a note says is not offered the skill, and grows no plan with it."""
    assert planted.run(attack) == []


@pytest.mark.parametrize("place", planted.PLACES)
def test_the_same_note_works_without_a_policy(place: planted.Place) -> None:
    """The attack is a real one: nothing but the policy stands before the skill."""
    assert planted.run(planted.Attack(place, 0), policy=False)
