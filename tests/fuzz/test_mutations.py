"""10,000 mutated documents and expressions give only located faults."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import check
from tests.fuzz.mutate import SEEDS, documents, mutate

EXPRESSIONS = (
    "battery < low and not (room == 'kitchen' or cups >= 3)",
    "join(split(room, 'i'), '-') + str([1, {'a': cups}]['x' in rooms])",
    "max(1, 2.5, -cups) ** 2 // 3 % 4 if exists(room) else rooms[0][1:]",
    "go to {room} with {cups + 1} of {{{len(rooms)}}}",
)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_documents_give_only_located_faults(seed: int) -> None:
    for number, text in enumerate(documents(2_500, seed)):
        try:
            check.document(text)
        except Exception as failure:
            raise AssertionError(f"document {number} of seed {seed}: {text!a}") from failure


def test_mutated_expressions_give_only_located_faults() -> None:
    for number in range(10_000):
        dice = random.Random(number)
        text = mutate(dice.choice(EXPRESSIONS), dice)
        text = text if isinstance(text, str) else text.decode("latin-1")
        try:
            check.expression(text)
        except Exception as failure:
            raise AssertionError(f"expression {number}: {text!a}") from failure


def test_what_is_mutated_is_sound_before() -> None:
    for text in SEEDS:
        assert check.document(text) is not None


def test_the_same_seed_gives_the_same_documents_and_most_are_faulty() -> None:
    from bt_runtime.language.source import parse

    first, second = list(documents(300, 7)), list(documents(300, 7))
    assert first == second
    assert len(set(map(str, first))) > 290
    assert 100 < sum(not parse(text).ok for text in first) < 290
