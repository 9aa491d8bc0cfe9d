"""Beside BehaviorTree.CPP itself: the same random tree, the same answers of its leaves, the same guards; what each
tick gives, which leaves it ticks and halts, and what is written after a node, is the same. What is not is in
docs/btcpp.md. `BTR_COUNTERPARTS=1000` tries more trees of each sort."""

from __future__ import annotations

import os
import random
from itertools import chain

import pytest

from tests.support.counterpart import LISTS, Drawn, Spot, here, ordered, there

pytest.importorskip("behaviortreepy")
TREES = int(os.environ.get("BTR_COUNTERPARTS", "12"))
PLAIN = ("sequence", "fallback")
SORTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lists": (tuple(LISTS), ()),
    "parallel": (("parallel", *PLAIN), ()),
    "parallel that waits for all": (("all", *PLAIN), ()),
    "decorators": (("invert", "success", "failure", "once", "until_failure", *PLAIN), ()),
    "once and then skipped": (("skip", *LISTS), ()),
    "if": (("if", *PLAIN), ()),
    "while": (("while", *PLAIN), ()),
    "switch": (("switch", *PLAIN), ("failure",)),
    "skipped": (tuple(LISTS), ("skip", "while")),
    "preconditions": ((*LISTS, "parallel"), ("success", "failure")),
    "updates": (("updated", *PLAIN), ()),
    "written afterwards": ((*LISTS, "parallel", "invert"), ("after",)),
}  # fmt: skip


@pytest.mark.parametrize("sort", SORTS)
def test_every_tick_gives_ticks_halts_and_writes_the_same(sort: str) -> None:
    kinds, guards = SORTS[sort]
    for seed in range(TREES):
        rng = random.Random(f"{sort} {seed}")
        drawn = Drawn(rng, kinds, guards, rng.randint(1, 3))
        flags = [int(rng.random() < 0.3) for _ in range(14)]
        if sort == "updates":
            flags = [rng.choice((-1, -1, 0, 1)) for _ in range(14)]
        theirs, own = there(drawn, flags), here(drawn, flags)
        assert own.statuses == theirs.statuses, (seed, drawn.root.xml())
        assert ordered(own.visits) == ordered(theirs.visits), (seed, drawn.root.xml())
        assert own.counts == theirs.counts, (seed, drawn.root.xml())


def test_retry_and_repeat_visit_the_same_leaves_with_one_round_a_tick() -> None:
    for seed in range(TREES):
        drawn = Drawn(random.Random(seed), ("retry", "repeat", *PLAIN), (), 3)
        theirs, own = ([*chain(*told.visits)] for told in (there(drawn, [0] * 14), here(drawn, [0] * 14)))
        both = min(len(theirs), len(own))
        assert own[:both] == theirs[:both], (seed, drawn.root.xml())


def parallel(success: int, *guards: str) -> Drawn:
    drawn = Drawn(random.Random(0), ("sequence",), (), 0)
    drawn.scripts = ["S" * 60 + "R", "S" * 60 + "R"][: len(guards)]
    children = tuple(Spot(f"l{number}", guard=guard) for number, guard in enumerate(guards))
    drawn.root = Spot("parallel", children, (success, 1))
    return drawn


def test_what_is_known_to_be_different_is_still_different() -> None:
    """A skipped child: their parallel and their KeepRunningUntilFailure wait for it for ever, ours let it go."""
    waits = parallel(2, "", "skip")
    assert (there(waits, [1]).statuses, here(waits, [1]).statuses) == (["RUNNING"], ["SUCCESS"])
    alone = parallel(-1, "skip")
    assert (there(alone, [1]).statuses, here(alone, [1]).statuses) == (["SUCCESS"], ["SKIPPED"])
    until = parallel(1, "skip")
    until.root = Spot("until_failure", until.root.children)
    assert (there(until, [1]).statuses, here(until, [1]).statuses) == (["RUNNING"], ["SKIPPED"])
