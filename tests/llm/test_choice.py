"""The search is pure: it is given log-probabilities by a table here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError
from bt_runtime.llm.decoding.choice import ROOT, Mode, Trie, check_options, search
from bt_runtime.types import Choice

END = 0  # the terminator's token


def table(seed: int, flat: float):
    """Log-probabilities of the next token after a path; deterministic, normalised over 8 tokens."""

    def below(path: tuple[int, ...]) -> list[float]:
        raw = [flat * math.sin(hash((seed, *path, t)) % 1000) for t in range(8)]
        total = math.log(sum(map(math.exp, raw)))
        return [x - total for x in raw]

    return below


def run(options: Sequence[Sequence[int]], below, mode: Mode, width: int = 4, normalise: bool = False):
    trie = Trie([(*o, END) for o in options])
    quest = search(trie, [str(o) for o in options], mode, width, normalise)
    looked = 0
    try:
        nodes = next(quest)
        while True:
            looked += len(nodes)
            nodes = quest.send([[below(path_to(trie, n))[trie.token[c]] for c in trie.children[n]] for n in nodes])
    except StopIteration as end:
        return end.value, looked, trie


def path_to(trie: Trie, node: int) -> tuple[int, ...]:
    path: list[int] = []
    while node != ROOT:
        path.append(trie.token[node])
        node = trie.parent[node]
    return tuple(reversed(path))


def brute(options: Sequence[Sequence[int]], below, normalise: bool) -> list[float]:
    scores = []
    for option in options:
        tokens = (*option, END)
        total = sum(below(tokens[:i])[t] for i, t in enumerate(tokens))
        scores.append(total / len(tokens) if normalise else total)
    return scores


OPTIONS = st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=5), min_size=1, max_size=30)


@settings(derandomize=True, max_examples=150)
@given(OPTIONS, st.integers(0, 99), st.sampled_from([0.1, 1.0, 6.0]), st.integers(1, 9), st.booleans())
def test_exact_is_the_arg_max_of_brute_force(options, seed, flat, width, normalise):
    """Whatever the distribution and the width, best-first search finds what scoring every option finds."""
    below = table(seed, flat)
    choice, _, _ = run(options, below, "exact", width, normalise)
    scores = brute(options, below, normalise)
    assert choice.logprob == pytest.approx(max(scores))
    assert scores[choice.index] == pytest.approx(max(scores))
    others = [s for s, option in zip(scores, options, strict=True) if option != options[choice.index]]
    assert choice.margin <= max(scores) - max(others, default=-math.inf) + 1e-9, "never says more than is so"


@settings(derandomize=True, max_examples=80)
@given(OPTIONS, st.integers(0, 99), st.booleans())
def test_scores_are_those_of_brute_force(options, seed, normalise):
    """Every option gets its own score, doubles included, in the order asked."""
    below = table(seed, 2.0)
    choice, _, _ = run(options, below, "scores", normalise=normalise)
    assert choice.scores == pytest.approx(brute(options, below, normalise))


def test_a_certain_model_is_asked_about_few_options():
    """Where the model is sure, the search stops long before it has scored everything."""
    options = [(a, b, c) for a in range(1, 8) for b in range(1, 8) for c in range(1, 8)]
    sure = table(3, 40.0)
    _, looked, trie = run(options, sure, "exact", width=2)
    inner = sum(1 for children in trie.children if children)
    assert looked < inner / 3


def test_what_is_unlikely_is_looked_at_only_in_its_turn():
    """However wide a search may be: a branch three nats behind is left alone until it could win."""

    def below(path):
        sure, rest = math.log(0.93), math.log(0.01)
        return [sure if t == (1, 2, END)[min(len(path), 2)] else rest for t in range(8)]

    options = [(a, b) for a in range(1, 8) for b in range(1, 8)]
    choice, looked, _ = run(options, below, "exact", width=32)
    assert (choice.index, looked) == (1, 3)


def test_a_search_that_goes_on_takes_larger_steps():
    """Where all is alike nothing can be left out: few large batches cost less than many small ones."""
    options = [(a, b, c) for a in range(1, 8) for b in range(1, 8) for c in range(1, 8)]
    quest = search(trie := Trie([(*o, END) for o in options]), [str(o) for o in options], "exact", 4)
    sizes, nodes = [], next(quest)
    with pytest.raises(StopIteration):
        while True:
            sizes.append(len(nodes))
            nodes = quest.send([[math.log(1 / 8)] * len(trie.children[n]) for n in nodes])
    assert sum(sizes) == sum(map(bool, trie.children)) and max(sizes) > 64
    assert len(sizes) < 16, "of width 4 alone it would take a hundred"


def test_ties_go_to_the_option_named_first():
    """Equal scores: the order of the options decides, in every mode."""

    def even(_path):
        return [math.log(1 / 8)] * 8

    for mode in ("exact", "greedy", "scores"):
        choice, _, _ = run([(5,), (3,), (1,)], even, mode)
        assert choice.index == 0, mode


def test_doubles_are_one_option_and_the_first_of_them_is_named():
    """The same option twice is no margin over itself, and no crash."""
    choice, _, _ = run([(1,), (1,)], table(1, 1.0), "exact")
    assert (choice.index, choice.margin) == (0, math.inf)


def test_normalising_can_turn_the_choice_to_a_longer_option():
    """Per-token scores do not punish length."""

    def below(path):
        likely = {(): (1, 0.5), (1,): (END, 0.5), (2,): (2, 0.9), (2, 2): (2, 0.9), (2, 2, 2): (END, 0.9)}
        token, chance = likely.get(path, (3, 0.5))
        row = [math.log(0.3)] * 8
        row[token] = math.log(chance)
        return row

    short, long = (1,), (2, 2, 2)  # 0.25 against 0.22 in all, 0.5 against 0.69 per token
    assert run([short, long], below, "exact")[0].index == 0
    assert run([short, long], below, "exact", normalise=True)[0].index == 1


def test_greedy_does_not_ask_about_forced_tokens():
    """Where the options leave one token, the model is not consulted."""
    choice, looked, _ = run([(1, 2, 3, 4), (1, 2, 3, 5)], table(1, 1.0), "greedy")
    assert looked == 1
    assert isinstance(choice, Choice)
    assert run([(1, 2, 3)], table(1, 1.0), "greedy")[1] == 0


def test_what_cannot_be_chosen_from_is_refused_before_any_work():
    """No options, empty options, and options with the terminator inside are faults with a reason."""
    for options in ([], ["a", " "], ["a\nb"]):
        with pytest.raises(BtError):
            check_options(options, "\n")


odd = st.sampled_from([math.nan, math.inf, -math.inf, 5.0, 0.0, -1.0, -1e308])


@given(
    options=st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=4), min_size=1, max_size=8),
    values=st.lists(odd, min_size=8, max_size=8),
    mode=st.sampled_from(["exact", "greedy", "scores"]),
    normalise=st.booleans(),
)
@settings(max_examples=200)
def test_what_is_no_probability_ends_the_search_with_words_and_never_goes_on_for_ever(options, values, mode, normalise):
    """NaN, infinity, more than one: whatever a server or spoilt weights say, a choice or a fault after few looks."""
    trie = Trie([(*o, END) for o in options])
    quest = search(trie, [str(o) for o in options], mode, 4, normalise)
    try:
        nodes = next(quest)
        for _ in range(2 * len(trie)):
            nodes = quest.send([[values[trie.token[c]] for c in trie.children[n]] for n in nodes])
        raise AssertionError("it goes on and on")
    except StopIteration as end:
        assert isinstance(end.value, Choice)
        first = [values[trie.token[c]] for c in trie.children[ROOT]]
        assert len(first) == 1 or not any(math.isnan(v) or v > 0 for v in first)
    except BtError as fault:
        assert "log-probability" in fault.message
