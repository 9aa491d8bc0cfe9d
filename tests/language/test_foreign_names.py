"""Who writes the names of another library is told ours."""

from __future__ import annotations

import pytest

from bt_runtime.language import foreign_names
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader

NAMES = {
    "Selector": "fallback", "RetryUntilSuccessful": "retry", "ReactiveSequence": "reactive_sequence",
    "PipelineSequence": "pipeline", "RecoveryNode": "recovery", "RoundRobin": "round_robin", "Inverter": "invert",
    "SubTree": "tree", "OneShot": "once", "AlwaysSuccess": "succeed",
    "IfThenElse": "if", "retry_until_successful": "retry", "Sleep": "wait", "Script": "set", "oneshot": "once",
    "selector": "fallback", "Sequence": "sequence",
}  # fmt: skip


def label_of(name: str) -> str:
    found = Loader().text(f"version: 1\ntree: t\nroot:\n  {name}: {{}}\n").diagnostics
    return next(d.label for d in found if d.code == "BT012")


@pytest.mark.parametrize(("name", "ours"), NAMES.items())
def test_a_name_of_another_library_leads_to_the_kind_that_does_the_same(name: str, ours: str) -> None:
    assert label_of(name) == f"did you mean `{ours}`?"


def test_options_that_it_takes_to_do_the_same_are_said_with_it() -> None:
    assert label_of("ParallelAll") == "did you mean `parallel` with `wait_all: true`?"
    assert label_of("KeepRunningUntilFailure") == "did you mean `repeat` with `times: -1`?"
    assert label_of("ForceFailure") == "did you mean `force` with `status: failure`?"


def test_every_kind_that_is_suggested_exists_and_none_has_such_a_name() -> None:
    assert not [meant for meant in foreign_names._MEANT.values() if meant.kind not in shipped_kinds()]
    assert not [kind.name for kind in shipped_kinds() if foreign_names.meant(kind.name)]


def test_what_no_kind_does_alone_is_said_in_words() -> None:
    assert label_of("Action").startswith("an action is a skill")
    assert label_of("TickCounter") == "`py: py_trees.behaviours:TickCounter` is that of py_trees"
    assert not [name for name in foreign_names._DONE if name in foreign_names._MEANT or name in shipped_kinds()]


@pytest.mark.parametrize("name", foreign_names._BY_PY_TREES)
def test_what_is_said_to_be_in_py_trees_is(name: str) -> None:
    import py_trees

    assert hasattr(py_trees.behaviours, name)
