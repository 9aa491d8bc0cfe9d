"""The ledger of the starter's generations: held-out sets that stay what they were."""

from __future__ import annotations

import pytest

from recipes.starter.ledger import HeldOut, digest_of, held_out, shards


@pytest.mark.parametrize("held", [each for each in held_out() if not each.data], ids=lambda each: each.name)
def test_a_held_out_set_is_the_one_that_was_fixed(held: HeldOut) -> None:
    """The tasks that a generation is measured on are those whose digest was written down before it was trained."""
    tasks = held.tasks()
    assert len(tasks) == held.size and digest_of(tasks) == held.digest


def test_a_digest_is_of_the_tasks_and_not_of_their_order() -> None:
    """One changed task changes the digest; another order does not."""
    tasks = held_out()[4].tasks()[:6]
    assert digest_of(tasks) == digest_of(tasks[::-1]) != digest_of(tasks[1:])


def test_a_shard_is_named_with_its_documents_and_its_digest(tmp_path) -> None:
    """Two shards of the same documents have the same digest, and a changed one has another."""
    for name, text in (("a-1-000000", "x\ny\n"), ("b-1-000000", "x\ny\n"), ("c-1-000000", "x\n")):
        (tmp_path / f"{name}.jsonl").write_text(text)
    a, b, c = shards(tmp_path).values()
    assert a == b and a["documents"] == 2 and c["digest"] != a["digest"]
