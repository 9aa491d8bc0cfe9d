"""Whatever a program gives to the public methods: it works, or a clear error tells why, and the journal stays whole."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording

TREE = "version: 1\ntree: t\nroot: {parallel: [{log: a}, {wait: 1000000}]}\n"
CLEAR = (bt.BtError, ValueError, TypeError)
PLANS = ["log: b", "wait: 1", "logg: b", "log: [", ""]
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([5000, 64]).map(lambda n: 10**n),
    st.floats(), st.text(max_size=5), st.binary(max_size=3), st.sampled_from([*PLANS, "/t", "/t/0", "/t/9", "t", "n"]),
    st.sampled_from([ValueError("x"), Path("x"), object(), bt.Run, frozenset({1}), range(3)]),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)  # fmt: skip
PATH = st.one_of(st.sampled_from(["/t", "/t/0", "/t/1", "/t/2", "/", ""]), ANYTHING)
PLAN = st.one_of(st.sampled_from(PLANS), ANYTHING)
SMALL = st.one_of(st.integers(-1, 3), ANYTHING.filter(lambda v: not (isinstance(v, int | float) and abs(v) > 3)))
BOUND = SMALL.filter(lambda value: value is not None)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), PATH, PLAN, ANYTHING),
        st.tuples(st.just("replace"), PATH, PLAN),
        st.tuples(st.just("remove"), PATH),
        st.tuples(st.just("halt"), ANYTHING, ANYTHING),
        st.tuples(st.just("spin"), ANYTHING, BOUND, BOUND),
        st.tuples(st.just("blackboard"), ANYTHING, ANYTHING),
        st.tuples(st.just("update"), ANYTHING, ANYTHING),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


def called(run: bt.Run, name: str, args: tuple[Any, ...]) -> None:
    if name == "blackboard":
        run.blackboard[args[0]] = args[1]
    elif name == "update":
        run.blackboard.update(*args)
    else:
        getattr(run, name)(*args)


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(CALLS)
def test_a_runs_methods_work_or_say_why_not_and_the_journal_stays_whole(calls: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        with bt.Run(bt.load(TREE), clock=Manual(), slow=None, journal=place) as run:
            run.tick()
            for name, *args in calls:
                try:
                    called(run, name, tuple(args))
                except CLEAR as error:
                    assert str(error)
                run.tick()
            assert run.parts.journal is not None and run.parts.journal.path is not None
            assert run.parts.journal.tape.writer is not None and run.parts.journal.tape.writer.broken == ""
            path, ticks = run.parts.journal.path, run.parts.engine.count
        found = Recording(path)
        assert found.damage == "" and found.last_tick == ticks


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.one_of(PLAN, PATH), ANYTHING, ANYTHING)
def test_load_works_or_says_why_not(source: Any, skills: Any, project: Any) -> None:
    for given_ in ({}, {"skills": skills}, {"project": project}):
        try:
            bt.load(source, **given_)
        except (*CLEAR, OSError) as error:
            assert str(error)


NAMES = st.sampled_from(
    ["inputs", "seed", "services", "hz", "journal", "journal_policy", "slow", "strict", "recall", "budget"]
)


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(NAMES, ANYTHING.filter(lambda v: not isinstance(v, str | Path)))
def test_a_run_is_made_or_says_why_not(name: str, value: Any) -> None:
    try:
        bt.Run(bt.load(TREE), **{name: value}).close()
    except CLEAR as error:
        assert str(error)


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    ANYTHING, st.sampled_from(["name", "needs", "brings", "says", "on_resume", "uses", "at_most", "confirm"]), ANYTHING
)
def test_a_skill_is_made_or_says_why_not(sentence: Any, name: str, value: Any) -> None:
    def work() -> None:
        pass

    try:
        bt.load(TREE, skills=[bt.skill(sentence, **{name: value})(work)])
    except CLEAR as error:
        assert str(error)
