"""A certain fix of another library's node does what the node does there: both are run, and end alike at every tick."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import py_trees
import pytest

import bt_runtime as bt
from bt_robots.btcpp import importer
from bt_runtime.language import foreign_names
from bt_runtime.language.fixes import fixable
from bt_runtime.language.loader import Loader
from bt_runtime.run import check_file

HEAD = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 0}}\nroot:\n"
TICKS = 8
# What stands below the node, in our words and in theirs: it succeeds, fails, or fails the third time.
CHILDREN = {
    "succeeds": ("succeed: {}", "<AlwaysSuccess/>"),
    "fails": ("fail: {}", "<AlwaysFailure/>"),
    "fails the third time": (
        "sequence: [set: {n: '{n + 1}'}, check: n != 3]",
        '<Sequence><Script code="n := n + 1"/><ScriptCondition code="n != 3"/></Sequence>',
    ),
    "succeeds the third time": (
        "sequence: [set: {n: '{n + 1}'}, check: n == 3]",
        '<Sequence><Script code="n := n + 1"/><ScriptCondition code="n == 3"/></Sequence>',
    ),
}


class Case(NamedTuple):
    """A node as somebody writes it here with the words from there, and in their file. CHILD: one of CHILDREN."""

    written: str
    xml: str


def one(tag: str, ours: str = "", theirs: str = "") -> Case:
    fields = "".join(f"      {line}\n" for line in ours.split("; ") if line)
    child = f"{fields}      child: {{CHILD}}" if ours else "      CHILD"
    return Case(f"    {tag}:\n{child}\n", f"<{tag} {theirs}>CHILD</{tag}>")


def several(tag: str, second: str = "succeed", theirs: str = "AlwaysSuccess") -> Case:
    return Case(f"    {tag}:\n      - CHILD\n      - {second}: {{}}\n", f"<{tag}>CHILD<{theirs}/></{tag}>")


CASES = {
    "Inverter": one("Inverter"), "ForceSuccess": one("ForceSuccess"), "ForceFailure": one("ForceFailure"),
    "KeepRunningUntilFailure": one("KeepRunningUntilFailure"), "RunOnce": one("RunOnce"),
    "RetryUntilSuccessful": one("RetryUntilSuccessful", "num_attempts: 2", 'num_attempts="2"'),
    "RetryUntilSuccesful": one("RetryUntilSuccesful", "num_attempts: 3", 'num_attempts="3"'),
    "RateController": one("RateController", "hz: 1", 'hz="1"'),
    "Selector": several("Selector"), "FallbackStar": several("FallbackStar", "fail", "AlwaysFailure"),
    "SequenceStar": several("SequenceStar"), "AsyncSequence": several("AsyncSequence"),
    "AsyncFallback": several("AsyncFallback"), "PipelineSequence": several("PipelineSequence"),
    "ParallelAll": several("ParallelAll"), "ParallelNode": Case(
        "    ParallelNode: {success_count: 1, failure_count: 2, children: [CHILD, fail: {}]}\n",
        '<ParallelNode success_count="1" failure_count="2">CHILD<AlwaysFailure/></ParallelNode>'),
    "AlwaysSuccess": Case("    AlwaysSuccess: {}\n", "<AlwaysSuccess/>"),
    "AlwaysFailure": Case("    AlwaysFailure:\n", "<AlwaysFailure/>"),
    "SubTree": Case("    SubTree: {ID: other}\n", '<SubTree ID="other"/>'),
    "SubTreePlus": Case("    SubTreePlus: {ID: other}\n", '<SubTreePlus ID="other"/>'),
    "SkipUnlessUpdated": Case("    SkipUnlessUpdated: {entry: n, child: {CHILD}}\n",
                              '<SkipUnlessUpdated entry="{n}">CHILD</SkipUnlessUpdated>'),
    "WasEntryUpdated": Case("    WasEntryUpdated: {entry: n}\n", '<WasEntryUpdated entry="{n}"/>'),
    "EntryUpdated": Case("    EntryUpdated: {entry: n}\n", '<EntryUpdated entry="{n}"/>'),
    "UnsetBlackboard": Case("    UnsetBlackboard: {key: n}\n", '<UnsetBlackboard key="{n}"/>'),
    "RecoveryNode": Case("    RecoveryNode: {number_of_retries: 2, do: {CHILD}, recover: {succeed: {}}}\n",
                         '<RecoveryNode number_of_retries="2">CHILD<AlwaysSuccess/></RecoveryNode>'),
}  # fmt: skip
# Names that the import does not know: what stands for them in py_trees, and words that two libraries share.
BY_PY_TREES = {
    "FailureIsSuccess": "FailureIsSuccess", "SuccessIsFailure": "SuccessIsFailure",
    "FailureIsRunning": "FailureIsRunning", "SuccessIsRunning": "SuccessIsRunning",
    "Success": "Success", "Failure": "Failure", "Running": "Running",
}  # fmt: skip
SYNONYMS = {
    "reactiveselector": "ReactiveFallback under the other name of a fallback",
    "repeatuntilsuccess": "FailureIsRunning by what it does", "alwaysrunning": "Running",
    "print": "a line of the log; no result of its own",
}  # fmt: skip
# Whose own words the import takes, or no other name for what another row compares.
RENAMED = {"SubTreePlus": "SubTree", "EntryUpdated": "WasEntryUpdated"}


def fixed(text: str) -> str:
    """The text after all certain fixes."""
    return check_file.mended(text, "t", lambda each: Loader().text(each, "t", Path.cwd()))[0]


def statuses(tree: str | Path) -> list[str]:
    """What each tick gives; half a second passes between two. A run that has ended is ticked on."""
    clock, found = bt.clock.Manual(), list[str]()
    with bt.Run(bt.load(tree), clock=clock) as run:
        for _ in range(TICKS):
            found.append(run.tick().status.name)
            clock.advance(0.5)
    return found


@pytest.mark.parametrize("below", CHILDREN)
@pytest.mark.parametrize("name", CASES)
def test_a_certain_fix_does_what_the_import_of_the_same_node_does(
    name: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, (ours, theirs) = CASES[name], CHILDREN[below]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.yaml").write_text("version: 1\ntree: other\nroot: {fail: {}}\n")
    xml = case.xml.replace("CHILD", theirs).replace(name, RENAMED.get(name, name))
    other = '<BehaviorTree ID="other"><AlwaysFailure/></BehaviorTree>'
    body = f'<BehaviorTree ID="main"><Sequence><Script code="n := 0"/>{xml}</Sequence></BehaviorTree>'
    (tmp_path / "a.xml").write_text(f'<root BTCPP_format="4" main_tree_to_execute="main">{body}{other}</root>')
    for path, text in importer.load(tmp_path / "a.xml").files.items():
        (tmp_path / "there" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "there" / path).write_text(text)
    node = case.written.replace("CHILD", ours).replace("\n    ", "\n        ").replace("    ", "    - ", 1)
    made = fixed(f"{HEAD}  sequence:\n    - set: {{n: 0}}\n{node}")
    assert [str(d) for d in Loader().text(made).diagnostics if d.severity == "error"] == [], made
    (tmp_path / "here.yaml").write_text(made)
    assert statuses(tmp_path / "here.yaml") == statuses(tmp_path / "there" / "trees" / "main.yaml"), made


@pytest.mark.parametrize("result", ["Success", "Failure", "Running"])
@pytest.mark.parametrize("name", BY_PY_TREES)
def test_a_certain_fix_does_what_py_trees_does(name: str, result: str) -> None:
    decorator = getattr(py_trees.decorators, BY_PY_TREES[name], None)
    below = getattr(py_trees.behaviours, result)("child")
    node = decorator(name, below) if decorator else getattr(py_trees.behaviours, BY_PY_TREES[name])(name)
    ours = {"Success": "succeed: {}", "Failure": "fail: {}", "Running": "wait: {until: false}"}[result]
    made = fixed(f"{HEAD}  {name}:\n    {ours}\n" if decorator else f"{HEAD}  {name}: {{}}\n")
    assert [str(d) for d in Loader().text(made).diagnostics if d.severity == "error"] == [], made
    with bt.Run(bt.load(made), clock=bt.clock.Manual()) as run:
        for _ in range(3):
            node.tick_once()
            assert run.tick().status.name == node.status.name


def test_every_name_with_a_certain_fix_is_compared() -> None:
    plain = {name.replace("_", "").casefold() for name in (*CASES, *BY_PY_TREES)} | SYNONYMS.keys()
    assert {name for name, meant in foreign_names._MEANT.items() if meant.same} - plain == set()


@pytest.mark.parametrize("name", [name for name, meant in foreign_names._MEANT.items() if not meant.same])
def test_a_name_whose_meaning_differs_has_no_certain_fix(name: str) -> None:
    found = Loader().text(f"{HEAD}  {name}: {{child: {{log: a}}}}\n", "t")
    faults = [d for d in fixable(found.diagnostics, found.sources) if d.code == "BT012"]
    assert [fix.sure for fault in faults for fix in fault.fixes] == [False]
