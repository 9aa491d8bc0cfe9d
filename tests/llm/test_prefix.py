from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime.llm.local.prefix import PrefixTree

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple)


def common(a, b):
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return same


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.tuples(st.booleans(), TOKENS), max_size=25), TOKENS)
def test_the_tree_answers_like_a_list_of_sequences(steps, asked):
    """Match, tokens, cells and contained agree with the obvious slow way, after any inserts and removals."""
    tree, held = PrefixTree(), dict[int, tuple[int, ...]]()
    for seq, (keep, tokens) in enumerate(steps):
        if keep or not held:
            tree.insert(tokens, seq)
            held[seq] = tokens
        else:
            gone = tree.oldest()
            tree.remove(gone)
            del held[gone]
    match = tree.match(asked)
    longest = max((common(asked, t) for t in held.values()), default=0)
    assert match.length == longest
    assert set(match.seqs) == ({s for s, t in held.items() if common(asked, t) == longest} if longest else set())
    assert tree.cells == len({t[:n] for t in held.values() for n in range(1, len(t) + 1)})
    for seq, tokens in held.items():
        assert tree.tokens(seq) == tokens
        inside = {s for s, t in held.items() if s != seq and tokens[: len(t)] == t}
        assert set(tree.contained(seq)) == inside


def test_the_one_used_longest_ago_goes_first_unless_it_is_in_use():
    """Eviction is by use, not by age."""
    tree = PrefixTree()
    for seq in (1, 2, 3):
        tree.insert((seq, seq), seq)
    tree.touch(1)
    assert tree.oldest() == 2
    assert tree.oldest(but={2}) == 3
    assert tree.oldest(but={1, 2, 3}) is None


def test_a_shared_beginning_is_counted_once_and_stays_while_someone_holds_it():
    """Removing one of two sequences frees only what was its own."""
    tree = PrefixTree()
    tree.insert((1, 2, 3, 4), 0)
    tree.insert((1, 2, 3, 9, 9), 1)
    assert tree.cells == 6
    tree.remove(0)
    assert tree.cells == 5
    assert tree.match((1, 2, 3, 4)).length == 3
