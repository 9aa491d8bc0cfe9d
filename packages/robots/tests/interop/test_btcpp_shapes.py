"""Shapes of trees that other people publish, one for each cause for which an import was not whole. Each is imported
without a loss, has no fault, and comes back the same; the trees here are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_robots.btcpp import exporter, importer
from bt_robots.imports.project import Imported
from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.language.loader import Loader

HEAD = '<root BTCPP_format="4" main_tree_to_execute="T">'


def tree(body: str, id: str = "T", more: str = "") -> str:
    return f'<BehaviorTree ID="{id}"{more}>{body}</BehaviorTree>'


def xml(*parts: str) -> str:
    return HEAD + "".join(parts) + "</root>"


METADATA = "<MetadataFields><Metadata group='a &lt; b'/><Metadata runnable='true'/></MetadataFields>"
SHAPES = {
    "attributes of an editor": xml(
        tree('<Sequence _folded="true"><AlwaysSuccess _x="1"/></Sequence>', more=' _star="1"')
    ),
    "metadata of a model": xml(
        tree("<AlwaysSuccess/>"), f'<TreeNodesModel><SubTree ID="T">{METADATA}</SubTree></TreeNodesModel>'
    ),
    "a model that nobody uses": xml(tree("<AlwaysSuccess/>"), '<TreeNodesModel><SubTree ID="O"/></TreeNodesModel>'),
    "a comment at no node": xml(tree("<AlwaysSuccess/>"), "<TreeNodesModel><!-- nodes --></TreeNodesModel>"),
    "attributes of the root": '<root BTCPP_format="4" project="x">' + tree("<AlwaysSuccess/>") + "</root>",
    "a tree that stands elsewhere": xml(tree('<SubTree ID="Open the Hand" force="{f}"/>')),
    "IDs with blanks": xml(
        tree('<Sequence><SubTree ID="Open it"/><Action ID="Look up" n="1"/></Sequence>'),
        tree("<AlwaysSuccess/>", "Open it"),
    ),
    "IDs that are not ASCII": xml(tree('<Sequence><Öffne/><SubTree ID="Größe"/></Sequence>'),
                                  tree("<AlwaysSuccess/>", "Größe")),
    "IDs that differ in a sign": xml(
        tree('<Sequence><SubTree ID="Tag 45"/><SubTree ID="Tag -45"/><Action ID="a b"/><Action ID="a-b"/></Sequence>'),
        tree("<AlwaysSuccess/>", "Tag 45"),
        tree("<AlwaysFailure/>", "Tag -45"),
    ),
    "raw signs in attributes": xml(tree('<AlwaysSuccess _skipIf="1<2 && 2>1"/>')),
    "texts in double quotes": xml(tree('<Script code=\'a := "x"; b := "it is"\'/>')),
    "a number without an end": xml(
        tree('<Sequence><Reach most="infinity"/><Reach most="2.5"/></Sequence>'),
        '<TreeNodesModel><Action ID="Reach"><input_port name="most" type="double"/></Action></TreeNodesModel>',
    ),
    "an entry of the outermost tree": xml(
        tree('<Sequence><Script code="n := 1"/><SubTree ID="In"/><ScriptCondition code="n == 4"/></Sequence>'),
        tree('<SubTree ID="Deep"/>', "In"),
        tree('<Sequence><Script code="@n := @n + 3"/><Tell what="{@n}"/></Sequence>', "Deep"),
    ),
    "a port that a model binds by itself": xml(
        tree('<Sequence><Script code="goal := 1"/><SubTree ID="In"/></Sequence>'),
        tree('<ScriptCondition code="goal == 1"/>', "In"),
        '<TreeNodesModel><SubTree ID="In"><inout_port name="goal" default="{goal}"/></SubTree></TreeNodesModel>',
    ),
    "a port handed over, and by autoremap": xml(
        tree('<Sequence><Script code="v := 1; w := 1"/><SubTree ID="S" v="{w}"/>'
             '<SubTree ID="S" _autoremap="true"/></Sequence>'),
        tree('<ScriptCondition code="v == 1"/>', "S"),
    ),
    "old names of control nodes": xml(tree(
        '<FallbackStar><AlwaysFailure/><ParallelNode threshold="1"><AlwaysSuccess/></ParallelNode></FallbackStar>')),
    "a sequence that keeps its place": xml(tree(
        '<Sequence><Script code="at := 0"/><PersistentSequence current_child_idx="{at}"><AlwaysSuccess/>'
        "<AlwaysSuccess/></PersistentSequence></Sequence>")),
    "a pause": xml(tree(
        '<PauseResumeController pause_service_name="/p" resume_service_name="/r"><AlwaysSuccess/><AlwaysSuccess/>'
        "</PauseResumeController>")),
    "a person who chooses": xml(tree("<ManualSelector><AlwaysSuccess/><AlwaysFailure/></ManualSelector>")),
}  # fmt: skip


def kept(got: Imported, folder: Path) -> Imported:
    for name, text in got.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return got


def whole(got: Imported, folder: Path) -> str:
    """Nothing is lost, nothing is at fault; as XML again."""
    kept(got, folder)
    assert [f"{row.what}: {row.became}" for row in got.report.lost] == []
    for name in got.files:
        if name.startswith("trees/"):
            found = Loader(folder).file(folder / name)
            assert [str(d) for d in found.diagnostics if d.severity == "error"] == []
    return exporter.text(Loader(folder).file(folder / "trees" / f"{got.main}.yaml").sound())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_published_shape_is_imported_whole_and_comes_back_the_same(shape: str, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    (tmp_path / "robot.xml").write_text(SHAPES[shape], encoding="utf-8")
    got = importer.load(tmp_path / "robot.xml")
    (tmp_path / "again" / "robot.xml").write_text(whole(got, tmp_path / "out"), encoding="utf-8")
    again = importer.load(tmp_path / "again" / "robot.xml")
    assert {k: v for k, v in again.files.items() if k[:6] == "trees/"} == {
        k: v for k, v in got.files.items() if k[:6] == "trees/"
    }


RUNS = ("an entry of the outermost tree", "a port that a model binds by itself", "a port handed over, and by autoremap",
        "a sequence that keeps its place", "raw signs in attributes")  # fmt: skip


@pytest.mark.parametrize("shape", RUNS)
def test_a_published_shape_ticks_as_it_did(shape: str, tmp_path: Path) -> None:
    text = SHAPES[shape].replace('<Tell what="{@n}"/>', "")
    (tmp_path / "robot.xml").write_text(text, encoding="utf-8")
    got = importer.load(tmp_path / "robot.xml")
    whole(got, tmp_path)
    with bt.Run(bt.load(tmp_path / "trees" / "T.yaml", project=tmp_path)) as run:
        tick = run.tick()
        assert not tick.crashes
        ours = "SKIPPED" if tick.status.name == "INVALID" else tick.status.name
    if shape != "a sequence that keeps its place":
        cpp = pytest.importorskip("behaviortreepy")
        factory = cpp.BehaviorTreeFactory()
        factory.register_behavior_tree_from_text(text)
        assert ours == factory.create_tree("T", cpp.Blackboard.create()).tick_exactly_once().name
    else:
        assert ours == "SUCCESS"


def test_what_an_editor_added_comes_back_and_costs_no_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SHAPES["metadata of a model"].replace('ID="T">', 'ID="T" _star="a&#10;b">', 1)
    (tmp_path / "robot.xml").write_text(text)
    assert main(["import", str(tmp_path / "robot.xml"), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert "aside: `_star` of <BehaviorTree>" in said.out and "3 aside" not in said.out
    back = exporter.text(Loader(tmp_path / "out").file(tmp_path / "out/trees/T.yaml").sound())
    assert '_star="a&#10;b"' in back and '<Metadata group="a &lt; b" />' in back


def test_a_stub_is_called_by_its_id_and_not_written_on_export(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(SHAPES["a tree that stands elsewhere"])
    back = whole(importer.load(tmp_path / "robot.xml"), tmp_path / "out")
    assert '<SubTree ID="Open the Hand" force="{f}" />' in back
    assert '<BehaviorTree ID="Open the Hand"' not in back


# Folders ----------------------------------------------------------------------------------------


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A work space of three packages: two have a tree of the same ID, one is a share folder."""
    files = {
        "src/arm/trees/pick.xml": xml(tree('<Sequence><SubTree ID="Grip"/><SubTree ID="Look"/></Sequence>', "Pick")),
        "src/arm/trees/grip.xml": xml(tree("<AlwaysSuccess/>", "Grip")),
        "src/hand/trees/wave.xml": xml(tree('<SubTree ID="Grip"/>', "Wave")),
        "src/hand/trees/grip.xml": xml(tree("<AlwaysFailure/>", "Grip")),
        "src/hand/package.xml": "<package><name>hand</name></package>",
        "install/eyes/share/eyes/trees/look.xml": xml(tree("<AlwaysSuccess/>", "Look")),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace(' main_tree_to_execute="T"', ""))
    return tmp_path


def test_a_folder_is_imported_with_all_its_trees(space: Path) -> None:
    """Trees of the same ID stay apart: each is called by the files beside it."""
    got = kept(importer.load(space / "src", include=[space / "install"]), space / "out")
    assert got.report.lost == []
    assert {"trees/Pick.yaml", "trees/Wave.yaml", "trees/Look.yaml", "trees/Grip.yaml"} <= got.files.keys()
    assert "succeed:" in got.files["trees/Grip.yaml"] and "tree: Grip\n" in got.files["trees/Pick.yaml"]
    assert "fail:" in got.files["trees/Grip_of_hand_trees.yaml"]
    assert "tree: Grip_of_hand_trees\n" in got.files["trees/Wave.yaml"]
    assert [row.what for row in got.report.rows if "passed over" in row.became] == ["<package>"]


def test_a_called_tree_is_looked_for_beside_the_file_and_where_a_person_says(space: Path) -> None:
    got = importer.load(space / "src/arm/trees/pick.xml", include=[space / "install"])
    assert "# A stub" not in got.files["trees/Grip.yaml"] + got.files["trees/Look.yaml"]
    assert "# A stub" in importer.load(space / "src/arm/trees/pick.xml").files["trees/Look.yaml"]


INCLUDES = {
    "a package": 'ros_pkg="eyes" path="trees/look.xml"',
    "an absolute path": 'path="/opt/ws/install/eyes/share/eyes/trees/look.xml"',
    "upwards": 'path="../../../install/eyes/share/eyes/trees/look.xml"',
    "an install folder": 'path="install/eyes/share/eyes/trees/look.xml"',
}


@pytest.mark.parametrize("case", INCLUDES)
def test_an_include_of_an_installation_is_found_below_what_a_person_names(case: str, space: Path) -> None:
    file = space / "src/arm/trees/all.xml"
    file.write_text(xml(f"<include {INCLUDES[case]}/>", tree('<SubTree ID="Look"/>')))
    got = importer.load(file, include=[space / "install"])
    assert got.report.lost == [] and "# A stub" not in got.files["trees/Look.yaml"]


@pytest.mark.parametrize("path", ["../../../../secret.xml", "link.xml", "/etc/passwd", "sub/../../../secret.xml"])
def test_no_include_leaves_the_folders_that_a_person_named(path: str, tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text(xml(tree("<AlwaysFailure/>", "Secret")))
    home = tmp_path / "a/b/c"
    home.mkdir(parents=True)
    (home / "link.xml").symlink_to(tmp_path / "secret.xml")
    (home / "t.xml").write_text(xml(f'<include path="{path}"/>', tree('<SubTree ID="Secret"/>')))
    with pytest.raises(BtError, match="--include DIR") as refused:
        importer.load(home / "t.xml", include=[tmp_path / "a"])
    assert "Secret" not in json.dumps(str(refused.value))


NAV2 = {
    "FollowPath": ({"path_handler_id"}, {"tracking_feedback"}),
    "PathHandlerSelector": ({"default_path_handler"}, {"selected_path_handler"}),
    "IsWithinPathTrackingBounds": ({"max_heading_error", "tracking_feedback"}, set()),
    "RemovePassedGoals": ({"input_waypoint_statuses"}, {"output_waypoint_statuses"}),
    "GoalUpdatedController": ({"goal", "goals"}, set()),
}


@pytest.mark.parametrize("node", NAV2)
def test_the_shipped_model_of_nav2_knows_the_ports_of_its_trees(node: str, tmp_path: Path) -> None:
    """An output that is taken for an input would be read before anybody wrote it."""
    takes, gives = NAV2[node]
    ports = " ".join(f'{name}="{{{name}}}"' for name in sorted(takes | gives))
    below = "<AlwaysSuccess/>" if node.endswith("Controller") else ""
    (tmp_path / "robot.xml").write_text(xml(tree(f"<{node} {ports}>{below}</{node}>")))
    got = importer.load(tmp_path / "robot.xml", ["nav2"])
    whole(got, tmp_path)
    assert not [row for row in got.report.rows if "no such port" in row.became or "guessed" in row.became]
    kind = Loader(tmp_path).file(tmp_path / "trees/T.yaml").sound().registry.get(node)
    assert kind is not None
    fields = {field.name: field.writes for field in kind.fields}
    assert {name: fields[name] for name in takes | gives} == dict.fromkeys(takes, False) | dict.fromkeys(gives, True)
