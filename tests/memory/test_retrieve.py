"""Retrieval against a reference that knows no index, no SQL and no cleverness."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import ENDS, Experience, normalise

Make = Callable[..., Any]

GOALS = (
    "find apple", "Find apple.", "apple find", "find cup", "find cup in sink", "wash cup", "put apple on table",
    "put cup on table", "find and wash cup", "find fridge", "sink", "dance", "find apple find", "put apple in fridge",
)  # fmt: skip
TASKS = ("", "1", "2", "3")


def words(text: str) -> int:
    return len(text.split())


experiences = st.builds(
    Experience,
    goal=st.sampled_from(GOALS),
    text=st.integers(1, 40).flatmap(lambda n: st.sampled_from("abcdef").map(lambda c: " ".join(c * n))),
    end=st.sampled_from(ENDS),
    namespace=st.sampled_from(("default", "default", "other")),
    task=st.sampled_from(TASKS),
    run=st.sampled_from(("", "r1", "r2")),
    place=st.sampled_from(("", "/1", "/1/2", "/1/10", "/2")),
    verdict=st.sampled_from((True, True, True, False, None)),
)
questions = st.fixed_dictionaries(
    {
        "goal": st.sampled_from(GOALS),
        "budget": st.one_of(st.none(), st.integers(0, 120)),
        "k": st.integers(0, 12),
        "level": st.sampled_from(("agent", "task")),
        "fit": st.sampled_from(("prefix", "skip")),
        "tie": st.sampled_from(("uniform", "round_robin")),
        "seed": st.integers(0, 5),
        "exclude_task": st.one_of(st.none(), st.sampled_from(TASKS[1:])),
        "namespace": st.sampled_from((None, "default", "other", "empty")),
        "failed": st.booleans(),
    }
)


def reference(axes: Any, store: list[Experience], ask: dict[str, Any]) -> list[str]:
    """Ids in the order in which they must come."""
    key = normalise(ask["goal"])
    asked = axes.vector(key)

    def fits(e: Experience) -> bool:
        return (
            (ask["namespace"] is None or e.namespace == ask["namespace"])
            and (ask["failed"] or e.verdict is True)
            and (ask["exclude_task"] is None or e.task != ask["exclude_task"])
        )

    def score(e: Experience) -> float:
        return round(sum(a * b for a, b in zip(asked, axes.vector(normalise(e.goal)), strict=True)), 6)

    def family(e: Experience) -> list[Experience]:
        if not e.task and not e.run:
            return [e]
        return [f for f in store if (f.namespace, f.task, f.run) == (e.namespace, e.task, e.run)]

    def is_root(e: Experience) -> bool:
        return min(family(e), key=lambda f: (f.place, store.index(f))) is e

    def in_order(e: Experience) -> list[Experience]:
        return sorted(family(e), key=lambda f: (f is not e, [(len(s), s) for s in f.place.split("/")]))

    def drawn(tied: list[Experience]) -> list[Experience]:
        pools = {end: sorted((e for e in tied if e.end == end), key=lambda e: e.uid) for end in ENDS}
        if len(tied) == 1:
            return tied
        if ask["tie"] == "round_robin":
            turns = itertools.zip_longest(*(pools[end] for end in ENDS))
            return [e for turn in turns for e in turn if e is not None]
        seed = "\n".join([str(ask["seed"]), key, *sorted(e.uid for e in tied)]).encode()
        secret, step, order = blake2b(seed, digest_size=32).digest(), itertools.count(), []

        def below(n: int) -> int:
            raw = blake2b(next(step).to_bytes(8, "little"), key=secret, digest_size=8).digest()
            return int.from_bytes(raw, "little") * n // 2**64

        while any(pools.values()):
            states = [end for end in ENDS if pools[end]]
            pool = pools[states[below(len(states))]]
            order.append(pool.pop(below(len(pool))))
        return order

    eligible = [e for e in store if fits(e) and (ask["level"] == "agent" or is_root(e))]
    taken: list[str] = []
    spent = units = 0
    for value in sorted({score(e) for e in eligible}, reverse=True):
        for first in drawn([e for e in eligible if score(e) == value]):
            if units == ask["k"]:
                return taken
            parts = [first] if ask["level"] == "agent" else in_order(first)
            cost = sum(words(e.text) for e in parts)
            if ask["budget"] is None or spent + cost <= ask["budget"]:
                taken += [e.uid for e in parts]
                spent, units = spent + cost, units + 1
            elif ask["fit"] == "prefix":
                return taken
    return taken


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "faiss"])
def test_retrieval_is_what_the_definition_says(
    plain: bool, axes: Any, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any store and any question give the experiences of the definition, in its order, with either index."""
    if plain:
        monkeypatch.setattr("bt_runtime.memory.cache.FAST", "plain")
    else:
        pytest.importorskip("faiss")
    number = itertools.count()

    @settings(max_examples=200, derandomize=True)
    @given(st.lists(experiences, max_size=40, unique_by=lambda e: e.uid), st.lists(questions, min_size=2, max_size=5))
    def check(store: list[Experience], asked: list[dict[str, Any]]) -> None:
        path = quick / f"{next(number)}.sqlite"
        with Episodes.open(path, axes, words) as memory:
            monkeypatch.setattr("bt_runtime.memory.episodes.FIRST", 1)  # narrow at first, so that widening is walked
            monkeypatch.setattr("bt_runtime.memory.episodes.WIDER", 2)
            half = len(store) // 2
            memory.add(store[:half])
            memory.retrieve("find apple")  # the index is made of one half, and grows by the other
            memory.add(store[half:])
            for ask in asked:
                found = memory.retrieve(**ask)
                assert [e.uid for e in found.taken] == reference(axes, store, ask)
                assert found.tokens == sum(words(e.text) for e in found.taken)
                assert ask["budget"] is None or found.tokens <= ask["budget"]
        path.unlink()

    check()


def test_no_state_is_favoured(remember: Make, lived: Make) -> None:
    """In a tie a rare ending comes first as often as a common one, and each of its experiences equally often."""
    common = [lived(text=f"s {i}", end="success") for i in range(20)]
    memory = remember(
        *common, lived(text="f", end="failure"), lived(text="x 1", end="expand"), lived(text="x 2", end="expand")
    )
    firsts = [memory.retrieve("find apple", k=1, seed=seed).taken[0] for seed in range(1500)]
    ends = Counter(e.end for e in firsts)
    assert all(420 < ends[end] < 580 for end in ENDS)  # 500 ± 18 is one deviation
    expanded = Counter(e.text for e in firsts if e.end == "expand")
    assert abs(expanded["x 1"] - expanded["x 2"]) < 110
    assert len({e.uid for e in firsts}) == 23


def test_a_filter_comes_before_the_ranking(remember: Make, lived: Make) -> None:
    """What alone passes the filter is found, however many others are nearer."""
    crowd = [lived("find apple " * n, namespace="crowd") for n in range(1, 400)]
    memory = remember(*crowd, lived("wash cup", namespace="alone"), lived("sink", namespace="alone"))
    found = memory.retrieve("find apple", k=5, namespace="alone")
    assert {e.goal for e in found.taken} == {"wash cup", "sink"}


def test_the_second_child_comes_before_the_tenth(remember: Make, lived: Make) -> None:
    """The agents of a task come in the order of the tree, not of the alphabet."""
    places = ["/", "/1", "/1/2", "/1/10", "/2", "/10"]
    memory = remember(*(lived(f"find apple {place}", run="r", place=place) for place in reversed(places)))
    assert [e.place for e in memory.retrieve("find apple", level="task").taken] == places


def test_only_the_seed_moves_a_tie(remember: Make, lived: Make) -> None:
    """The same seed gives the same order, another seed another one, and tokens are those of the given counter."""
    memory = remember(*(lived(text=f"t {i}") for i in range(12)), count=len)
    orders = [[e.uid for e in memory.retrieve("find apple", k=12, seed=s).taken] for s in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert memory.retrieve("find apple", budget=9, k=12).tokens == 9


def test_a_goal_is_the_same_however_it_is_written(remember: Make, lived: Make) -> None:
    """Case, spaces, width of letters and a final point make no other goal, so its score is that of itself."""
    memory = remember(lived("Find  the apple."), lived("ｆｉｎｄ the APPLE"), lived("find the\napple!"))
    found = memory.retrieve("find the apple", k=9)
    assert [look.score for look in found.looks] == [1.0] * 3


def test_why_tells_the_cut(remember: Make, lived: Make) -> None:
    """`why` lists score, state and tokens of each that was looked at, and the reason why there are no more."""
    memory = remember(lived(text="one two"), lived("find cup", text="one two three", end="expand"))
    why = memory.retrieve("find apple", budget=4, k=5).why()
    assert "1.000000  success       2" in why
    assert "expand        3" in why
    assert "cut: the next one needs 3 tokens, 2 are left" in why
    assert "cut: k = 1 reached" in memory.retrieve("find apple", k=1).why()
    assert "cut: nothing else matches the filter" in memory.retrieve("find apple").why()


def test_a_goal_that_is_less_alike_than_asked_for_is_refused(remember: Make, lived: Make) -> None:
    """Where nothing is alike enough no experience is given, and `why` tells how near the next one was."""
    memory = remember(lived("find apple"), lived("dance"))
    assert [e.goal for e in memory.retrieve("find apple", similarity=0.9).taken] == ["find apple"]
    found = memory.retrieve("wash the cup", similarity=0.9)
    assert found.taken == () and "0.9 is asked for" in found.why() and found.looks[0].fate == "refused"
    assert len(memory.retrieve("find apple").taken) == 2


def test_nothing_is_cut_short(remember: Make, lived: Make) -> None:
    """An experience that exceeds the whole budget is left out, not truncated; `skip` goes on to shorter ones."""
    memory = remember(lived(text="w " * 50), lived("find cup", text="short"))
    assert memory.retrieve("find apple", budget=20).taken == ()
    assert [e.text for e in memory.retrieve("find apple", budget=20, fit="skip").taken] == ["short"]


def test_a_question_that_makes_no_sense_is_refused(remember: Make, lived: Make) -> None:
    """An empty goal or an unknown way of asking is told at once."""
    memory = remember(lived())
    for bad in (
        {"goal": " \n"},
        {"goal": "x", "level": "house"},
        {"goal": "x", "fit": "best"},
        {"goal": "x", "tie": "coin"},
    ):
        with pytest.raises(BtError):
            memory.retrieve(**bad)


def test_asking_never_waits(remember: Make, lived: Make) -> None:
    """`ask` gives a job at once; its answer is that of `retrieve`, a cancelled one gives nothing."""
    memory = remember(lived())
    job, dropped = memory.ask("find apple"), memory.ask("find apple")
    dropped.cancel("the tree moved on")
    dropped.cancel("again")
    while (found := job.poll()) is None:
        pass
    assert found == memory.retrieve("find apple")
    assert dropped.poll() is None
    assert dropped.cancelled == "the tree moved on"
    failing = memory.ask(" ")
    with pytest.raises(BtError):
        while failing.poll() is None:
            pass
