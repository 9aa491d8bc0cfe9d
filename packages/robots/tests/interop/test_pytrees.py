"""`btr import FILE.py`: Python source with trees of py_trees becomes a project, read and never run."""

from __future__ import annotations

import importlib.util
import json
import operator
import random
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

import py_trees
import pytest
from py_trees import demos

from bt_robots.pytrees import importer
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.language.loader import Loader
from packages.robots.tests.interop import pytrees_shapes
from packages.robots.tests.interop.beside_pytrees import differences, project
from packages.robots.tests.interop.grown_pytrees import GrownSource
from packages.robots.tests.interop.pytrees_hostile import HOSTILE, ROOT

DEMOS = Path(demos.__file__).parent
# What each file gives: how many nodes are read, and the places of those that are not: line → what stands there.
TABLE: dict[str, tuple[int, dict[int, str]]] = {
    "action": (1, {}),
    "blackboard": (4, {210: "set_nested"}),
    "blackboard_remappings": (1, {}),
    "context_switching": (5, {}),
    "display_modes": (9, {}),
    "dot_graphs": (13, {}),
    "either_or": (23, {}),
    "eternal_guard": (6, {}),
    "lifecycle": (1, {}),
    "logging": (7, {}),
    "pick_up_where_you_left_off": (16, {}),
    "selector": (3, {}),
    "sequence": (4, {}),
    "stewardship": (7, {}),
    "topics": (8, {}),
    "patrol": (14, {}),
    "bringup": (6, {}),
    "scenario": (2, {21: "idle_until", 22: "actor_flee", 24: "drive_distance"}),
    "arm": (11, {}),
    "dispatch": (
        3,
        {13: "line_13", 15: "line_15", 17: "rest", 18: "shelf_behaviour", 20: "either", 22: "line_22"},
    ),
    "builder": (6, {}),
    "library": (8, {34: "odd"}),
    "decorated": (60, {}),
    "board": (36, {}),
    "guards": (7, {}),
    "idioms": (38, {}),
}
STOCK = ["display_modes", "either_or", "eternal_guard", "logging", "pick_up_where_you_left_off", "selector", "sequence",
         "decorated", "board", "idioms", "builder"]  # all of whose leaves are those of py_trees  # fmt: skip


def source(name: str, folder: Path) -> Path:
    return pytrees_shapes.write(name, folder) if name in pytrees_shapes.FILES else DEMOS / f"{name}.py"


@pytest.mark.parametrize("name", TABLE)
def test_a_file_is_read_but_for_the_nodes_that_the_table_names(name: str, tmp_path: Path) -> None:
    read, unread = TABLE[name]
    rows = importer.load([source(name, tmp_path)]).report.sorted()
    lost = {row.place.line: row.became.split("`")[1] for row in rows if row.state == "lost"}
    assert (len(rows) - len(lost), lost) == (read, unread), name


@pytest.mark.parametrize("name", TABLE)
def test_a_project_is_without_faults(name: str, tmp_path: Path) -> None:
    tree = project(source(name, tmp_path), tmp_path / "made")
    found = [str(each) for each in Loader(tree.parents[1]).file(tree).diagnostics if each.severity == "error"]
    assert found == []


@pytest.mark.parametrize("name", STOCK)
def test_a_tree_of_stock_behaviours_ticks_like_that_of_py_trees(name: str, tmp_path: Path) -> None:
    path = source(name, tmp_path)
    spec = importlib.util.spec_from_file_location(f"of_{name}", path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    theirs: Any = getattr(module, "create_root", None) or module.create_tree
    assert differences(theirs(), project(path, tmp_path / "made"), 60) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_random_tree_ticks_like_that_of_py_trees(seed: int, tmp_path: Path) -> None:
    grown = GrownSource(str(seed))
    (path := tmp_path / "grown.py").write_text(grown.text, encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(grown.text, scope)
    assert {row.state for row in importer.load([path]).report.rows} == {"same"}
    assert differences(scope["create_root"](), project(path, tmp_path / "made"), 25) == []


GUARD = """
from py_trees import behaviours as b, idioms
from py_trees.common import Status

S, F = Status.SUCCESS, Status.FAILURE


def conditions():
    return [b.StatusQueue("c1", [S, S, F, S], None), b.StatusQueue("c2", [S, S, S, S, F], None)]


def create_root():
    return idioms.eternal_guard(b.TickCounter("work", 2, S), "guarded", conditions(), blackboard_variable_prefix="g")
"""


def test_the_eternal_guard_of_older_versions_ticks_like_the_nodes_that_they_made(tmp_path: Path) -> None:
    (path := tmp_path / "guard.py").write_text(GUARD, encoding="utf-8")
    b, status, compare = py_trees.behaviours, py_trees.common.Status, py_trees.common.ComparisonExpression
    work, scope = py_trees.composites.Selector("Guarded Tasks", memory=False), dict[str, Any]()
    policy = py_trees.common.ParallelPolicy.SuccessOnAll(synchronise=False)
    root = py_trees.composites.Parallel("guarded", policy)
    exec(GUARD, scope)
    for number, condition in enumerate(scope["conditions"](), 1):
        key = f"g_condition_{number}"
        root.add_child(py_trees.decorators.StatusToBlackboard("told", condition, key))
        check = compare(key, status.FAILURE, operator.eq)
        work.add_child(b.CheckBlackboardVariableValue(f"Abort on c{number}", check))
    work.add_child(b.TickCounter("work", 2, status.SUCCESS))
    root.add_child(work)
    assert differences(root, project(path, tmp_path / "made"), 30) == []


def read(text: str, folder: Path, name: str = "robot") -> dict[str, str]:
    """The files of the project of one source, and its report as `report`."""
    (path := folder / f"{name}.py").write_text(text, encoding="utf-8")
    got = importer.load([path])
    return got.files | {"report": got.report.text().replace(f"{folder}/", "")}


def test_a_class_becomes_a_skill_with_its_docstring_its_parameters_and_its_keys(tmp_path: Path) -> None:
    tree = project(source("patrol", tmp_path), tmp_path / "made")
    manifest = (tree.parents[1] / "skills" / "patrol.yaml").read_text("utf-8")
    for line in ("sentence: \"Drives to a point of the map {x} {y} {speed}\"", "x: number",
                 "speed: {type: number, default: 0.5}", "base_pose: {type: any, default: null}",
                 "outputs: {odometer: any}", "follow: [base_pose]"):  # fmt: skip
        assert line in manifest, (line, manifest)
    code = (tree.parents[1] / "skills" / "patrol.py").read_text("utf-8")
    assert '"""patrol.py:12: class DriveTo. Reads base_pose. Gives odometer."""' in code
    assert '"""patrol.py:29: class Beep. Reads volume."""' in code
    assert "def start(self, x: Any, y: Any, speed: Any = 0.5, base_pose: Any = None) -> None:" in code


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("Parallel('p', policy=py_trees.common.ParallelPolicy.SuccessOnSelected([]))", "SuccessOnSelected"),
        ("Parallel('p', policy=choose())", "choose"),
        ("Parallel('p')", "has no `policy`"),
        ("Sequence('s', memory=remembers())", "remembers"),
        ("Selector('s', memory=False, children=find())", "find"),
        ("Sequence('s', memory=True, colour='red')", "takes no `colour`"),
    ],
)
def test_a_policy_or_memory_that_has_no_equal_is_refused_with_its_place(made: str, why: str, tmp_path: Path) -> None:
    report = read(f"{ROOT}{made}\n", tmp_path)["report"]
    assert report.startswith("robot.py:5:") and "lost: " in report and why in report


@pytest.mark.parametrize(
    ("policy", "first", "kind"),
    [
        ("SuccessOnAll()", "Running('a')", "parallel:"),
        ("SuccessOnAll()", "Failure('a')", "args: {policy: SuccessOnAll}"),
        ("SuccessOnAll(synchronise=False)", "Running('a')", "SuccessOnAll: {synchronise: false}"),
        ("SuccessOnOne()", "Running('a')", "args: {policy: SuccessOnOne}"),
    ],
)
def test_a_parallel_is_ours_only_where_that_ticks_the_same(policy: str, first: str, kind: str, tmp_path: Path) -> None:
    """Ours does not tick the children behind one that has failed."""
    below = f"children=[py_trees.behaviours.{first}, py_trees.behaviours.Success('b')]"
    made = f"Parallel('p', py_trees.common.ParallelPolicy.{policy}, {below})"
    assert kind in read(f"{ROOT}{made}\n", tmp_path)["trees/robot.yaml"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("Sequence('a' + 'b' * 2, memory=1 < 2)", "succeed: {name: abb}"),
        ("Sequence(f'{1.5:.2f} {\"x\"!r}', not True)", "1.50 'x'"),
        ("Sequence('%s-%d' % ('a', 3), True)", "name: a-3"),
        ("Sequence('{}, {n}'.format(1, n=2).upper(), True)", 'name: "1, 2"'),
        ("Selector('s', *[True], **{'children': [FIRST]})", "fallback:"),
        ("Sequence('s', True, [*(b for b in (FIRST, SECOND) if b.name != 'one')])", "- set:"),
        ("Sequence(max(['s', 't'], key=len) if False else sorted({'b', 'a'})[-1], True)", "name: b"),
        ("Sequence(name={'k': ['x', 'y']}['k'][1:][0], memory=True)", "name: y"),
        ("Sequence('s', True, [SECOND])", "values: {a_b: 3}"),
        ("Sequence('s', True, [TREE.root])", "name: inner"),
        ("Sequence('s', True, [KEEP(SECOND)])", "py_trees.decorators:Count"),
    ],
)
def test_names_arguments_and_children_are_computed(made: str, words: str, tmp_path: Path) -> None:
    head = """import py_trees as pt
from py_trees.composites import *
FIRST = pt.behaviours.Success("one")
KEEP = lambda child: pt.decorators.Count("kept", child)
SECOND = pt.behaviours.SetBlackboardVariable("two", pt.blackboard.Blackboard.separator.join(["a", "b"]), 1 + 2, True)
TREE = pt.trees.BehaviourTree(Sequence("inner", True))
"""
    files = read(f"{head}root = Sequence('whole', True, [{made}])\n", tmp_path)
    assert words in "".join(text for name, text in files.items() if name.startswith("trees/"))


def test_a_broken_file_that_another_one_imports_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text("class A(:\n", encoding="utf-8")
    got = read("import leaves\n" + ROOT + "Sequence('s', True, [leaves.A('a')])\n", tmp_path)
    assert "# lost: line 6: `leaves.A` stands in no file of this import" in got["trees/robot.yaml"]
    assert "leaves.py:1:1: lost" in got["report"] and "- a: {name: a}" in got["trees/robot.yaml"]


@pytest.mark.parametrize(("selected", "words"), [("[a, b]", "same: Parallel"), ("[a]", "lost: Parallel")])
def test_a_selection_of_all_children_is_success_on_all_and_any_other_is_refused(
    selected: str, words: str, tmp_path: Path
) -> None:
    text = f"""import py_trees
a, b = py_trees.behaviours.Success("a"), py_trees.behaviours.Running("b")
policy = py_trees.common.ParallelPolicy.SuccessOnSelected({selected})
root = py_trees.composites.Parallel("p", policy, [a, b])
"""
    assert words in read(text, tmp_path)["report"]


def lines(text: str, folder: Path) -> int:
    """How many lines of the importer an import executes."""
    count, before = 0, sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if "pytrees" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        read(text, folder)
    finally:
        sys.settrace(before)
    return count


LARGE = {
    "nodes": lambda n: "root.add_child(b.Success('s'))\n" * n,
    "classes": lambda n: "".join(f"class A{i}(B): pass\nroot.add_child(A{i}('a'))\n" for i in range(n)),
    "functions": lambda n: (
        "".join(f"def f{i}(): return S('s{i}', True, [f{i + 1}()])\n" for i in range(n % 60 + 20))
        + "".join(f"def g{i}(): return S('s{i}', True, [b.Success('s')])\nroot.add_child(g{i}())\n" for i in range(n))
    ),
    "keys": lambda n: "".join(f"root.add_child(b.SetBlackboardVariable('s', 'k{i}', {i}, True))\n" for i in range(n)),
}


@pytest.mark.parametrize("shape", LARGE)
def test_four_times_the_source_is_about_four_times_the_work(shape: str, tmp_path: Path) -> None:
    head = "from py_trees import behaviours as b\nfrom py_trees.behaviour import Behaviour as B\n"
    head += "from py_trees.composites import Sequence as S\nroot = S('root', True)\n"
    small, large = (lines(head + LARGE[shape](n), tmp_path) for n in (100, 400))
    assert large < 6 * small, f"{large / small:.1f} times the lines"


BRANCHES = """
import py_trees
from elsewhere import ask


class Holder(py_trees.behaviour.Behaviour):
    def __init__(self, child):
        super().__init__("holder")


class Loose(py_trees.composites.Selector):
    def __init__(self):
        super().__init__(*ask())


def create_root():
    root = py_trees.composites.Sequence("root", memory=True)
    name = "sure"
    {}
    root.add_child(py_trees.behaviours.Success(name))
    return root
"""


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("if ask(): name = 'other'", {"called `Success`"}),
        ("if ask(): return None", {"hangs on `ask()`"}),
        ("if ask(): raise ValueError", set[str]()),
        ("for each in ask(): root.add_child(each)", {"for each of `ask()`"}),
        ("for each in [1, 2]:\n        if ask(): break\n        root.add_child(ask(each))", {"hangs on `ask()`"}),
        ("while ask(): root.children.append(ask())", {"done while `ask()`"}),
        ("while True: pass", set[str]()),
        ("name = name if ask() else 'b'", {"called `Success`"}),
        ("root.add_child(ask(name)) if ask() else None", set[str]()),
        ("with ask() as other: root.add_child(other)", {"`elsewhere.ask` stands in no file"}),
        ("[root.add_child(py_trees.behaviours.Success(n)) for n in 'ab']", set[str]()),
        ("root.add_children(*ask())", {"`root.add_children(*ask())`"}),
        ("ask(root)", {"`elsewhere.ask` is called with it, and may change it"}),
        ("root.add_child(py_trees.composites.Sequence('x', **ask()))", {"Sequence('x', **ask"}),
        ("for each in {'a', 'b'}: root.add_child(ask(each))", {"for each of"}),
        ("root.add_child(Holder(py_trees.behaviours.Success('in')))", {"lost: Holder", "not read: 1 that it holds"}),
        ("root.add_child(ask('c', py_trees.behaviours.Success('in')))", {"not read: 1 that it holds"}),
        ("root.add_child(Loose())", {"`__init__` of `Loose` is not read to its end"}),
        ("match ask():\n        case 1: root.add_child(ask())", {"match ask()"}),
    ],
)
def test_what_hangs_on_something_unknown_is_named_and_never_guessed(
    statement: str, named: set[str], tmp_path: Path
) -> None:
    report = read(BRANCHES.format(statement), tmp_path)["report"]
    for words in named:
        assert words in report
    assert named or "lost" not in report


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_does_harm_is_a_fault_with_its_place_or_is_read_within_bounds(name: str, tmp_path: Path) -> None:
    text, words = HOSTILE[name]
    (path := tmp_path / "robot.py").write_bytes(text.encode())
    begin = time.process_time()
    if words:
        with pytest.raises(BtError) as caught:
            importer.load([path])
        assert words in str(caught.value)
    else:
        tree = project(path, tmp_path / "made")
        assert not [d for d in Loader(tree.parents[1]).file(tree).diagnostics if d.severity == "error"]
    assert time.process_time() - begin < 5
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("seed", range(10))
def test_a_source_with_parts_cut_out_is_read_or_refused_in_words(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for name in ("patrol", "dispatch", "board", "guards"):
        (text,) = pytrees_shapes.FILES[name].values()
        lines = text.splitlines(keepends=True)
        for _ in range(3):
            del lines[rng.randrange(len(lines))]
        (path := tmp_path / f"{name}.py").write_text("".join(lines), encoding="utf-8")
        try:
            importer.load([path])
        except BtError as error:
            assert f"{name}.py" in str(error)


def test_the_command_reads_a_folder_and_a_broken_file_in_it_is_a_row(tmp_path: Path, capsys: Any) -> None:
    folder = pytrees_shapes.write("arm", tmp_path)
    (folder / "arm" / "old.py").write_text("import py_trees\nprint 'x'\n", encoding="utf-8")
    assert main(["import", str(folder), "--out", str(tmp_path / "made"), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["main"] == "main" and min(said["files"]) == "btr.yaml"
    (lost,) = [row for row in said["report"] if row["state"] == "lost"]
    assert lost["place"].endswith("old.py:1:1") and "this is no Python that can be read" in lost["became"]
    assert main(["import", str(tmp_path / "none.py"), "--out", str(tmp_path / "made")]) == 2


def test_two_files_are_imported_together_and_nothing_of_them_is_run(tmp_path: Path, capsys: Any) -> None:
    for name in ("one", "two"):
        text = f"open({str(tmp_path / 'pwned')!r}, 'w')\n{ROOT}Sequence('{name}', memory=True)\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "one.py"), str(tmp_path / "two.py")]
    assert main(["import", *files, "--out", str(tmp_path / "made")]) == 0
    assert sorted(path.stem for path in (tmp_path / "made" / "trees").iterdir()) == ["one", "two"]
    assert not (tmp_path / "pwned").exists()


def test_a_folder_is_read_as_xml_where_it_has_trees_in_xml_and_else_as_python(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.py").write_text(f"{ROOT}Sequence('s', memory=True)\n", encoding="utf-8")
    (tmp_path / "package.xml").write_text("<package/>", encoding="utf-8")
    assert main(["import", str(tmp_path), "--out", str(tmp_path / "one")]) == 0
    assert "a.py:5:12: same" in capsys.readouterr().out
    xml = '<root BTCPP_format="4"><BehaviorTree ID="X"><AlwaysSuccess/></BehaviorTree></root>'
    (tmp_path / "x.xml").write_text(xml, encoding="utf-8")
    assert main(["import", str(tmp_path), "--out", str(tmp_path / "two")]) == 0
    assert "<AlwaysSuccess> → `succeed`" in capsys.readouterr().out
    assert main(["import", str(tmp_path / "a.py"), str(tmp_path / "x.xml"), "--out", str(tmp_path / "three")]) == 2
    assert "unexpected argument" in capsys.readouterr().err


def test_the_blackboard_of_py_trees_is_left_as_it_is(tmp_path: Path) -> None:
    before = dict(py_trees.blackboard.Blackboard.storage)
    importer.load([source("board", tmp_path)])
    assert py_trees.blackboard.Blackboard.storage == before
