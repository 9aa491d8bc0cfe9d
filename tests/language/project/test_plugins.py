"""Plugins: found by installed metadata; one that is broken is told of by name, and harms nothing else."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from bt_runtime import BtError, Faults, Run, load
from bt_runtime.cli import call
from bt_runtime.language.emit.generated import project_schema
from bt_runtime.language.kinds.registry import installed, registry_of, shipped_kinds
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import find, plugins
from bt_runtime.llm import open_model
from bt_runtime.llm.backends import backend_name, is_file
from bt_runtime.plugins import open_suite
from bt_runtime.run.view.render import draw, sketch
from bt_runtime.skills.worlds.registry import Alone, open_world, origin_of, suite_names
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Instant, Pictured, Task, World
from tests.plugged import plug

NODES = """
from bt_runtime.plugins import Field, Kind
from bt_runtime.tree.node import SUCCESS, Node
from bt_runtime.tree.nodes.sequences import Sequence

class Shout(Node):
    def update(self):
        self.scope["said"] = self.value("text").upper()
        return SUCCESS

SHOUT = Kind("shout", "leaf", "Says it loud.", (Field("text", "string", "What.", required=True),), bare="text",
             impl=Shout, ends="success")
FIRST_OF = Kind("all_of", "control", "All of it.", (Field("children", "nodes", "They.", required=True),),
                bare="children", impl=Sequence, onward="success")
BOTH = (SHOUT, FIRST_OF)
TAKEN = Kind("sequence", "leaf", "Not ours.", (), impl=Shout)
NAMELESS = Kind("two words", "leaf", "Odd.", (), impl=Shout)
NUMBER = 5
"""
TREE = "version: 1\ntree: t\noutputs: {said: string}\nroot:\n  all_of: [shout: hello]\n"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where one stands, with a module beside what is plugged in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delitem(__import__("sys").modules, "loud_nodes", raising=False)
    site = tmp_path / "site"
    site.mkdir()
    (site / "loud_nodes.py").write_text(NODES)
    (site / "broken_module.py").write_text("raise RuntimeError('no good')\n")
    return site


def test_what_is_ours_is_registered_as_anybody_s_is() -> None:
    """No name of a world, a model or a kind of ours is written in code."""
    assert suite_names() == ["alfworld", "field", "hotpotqa", "house", "textcraft", "thor", "webshop"]
    assert plugins.names("models") == ["gguf", "http", "https", "smollm2"]
    assert list(installed()) == list(shipped_kinds())
    root = Path(__file__).parents[3]
    files = [root / "pyproject.toml", root / "envs" / "pyproject.toml", *root.glob("packages/*/pyproject.toml")]
    projects = [tomllib.loads(file.read_text("utf-8"))["project"].get("entry-points", {}) for file in files]
    ours = sum(len(each.get(f"bt_runtime.{group}", {})) for each in projects for group in plugins.GROUPS)
    assert [entry.ours for group in plugins.GROUPS for entry in plugins.entries(group)] == [True] * ours


def test_a_kind_of_somebody_else_is_checked_built_ticked_drawn_and_in_the_schema(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    plug(monkeypatch, folder, "loud-2.1", {"kinds": {"shout": "loud_nodes:SHOUT", "all_of": "loud_nodes:FIRST_OF"}})
    tree = load(TREE)
    with Run(tree) as run:
        assert run.spin() is SUCCESS
        assert run.outputs == {"said": "HELLO"}
    assert "shout" in draw(sketch(tree.spec), "text")
    schema = json.dumps(project_schema())
    assert '"shout"' in schema and '"all_of"' in schema
    with pytest.raises(Faults, match="text"):
        load("version: 1\ntree: t\nroot: {shout: {}}\n")
    found = Loader().text("version: 1\ntree: t\nroot:\n  fallback:\n    - all_of: [shout: a]\n    - shout: b\n")

    assert [d.code for d in found.diagnostics if d.code == "BT026"] == ["BT026"], found.diagnostics


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("broken_module:X", "the nodes `loud` of loud 2.1 cannot be used: RuntimeError: no good"),
        ("nowhere_at_all:X", "the nodes `loud` of loud 2.1 cannot be used: ModuleNotFoundError"),
        ("loud_nodes:MISSING", "the nodes `loud` of loud 2.1 cannot be used: AttributeError"),
        ("loud_nodes:NUMBER", "the nodes `loud` of loud 2.1 is not a Kind"),
        ("loud_nodes:NAMELESS", "`two words` is no name of a kind"),
        ("loud_nodes:TAKEN", "the nodes `loud` of loud 2.1 cannot be used: the kind is called `sequence`"),
    ],
)
def test_kinds_that_cannot_be_had_are_told_where_they_are_missed(
    value: str, said: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """A tree without them is none the worse."""
    plug(monkeypatch, folder, "loud-2.1", {"kinds": {"loud": value}})
    assert load("version: 1\ntree: t\nroot:\n  sequence: [succeed: {}]\n").name == "t"
    with pytest.raises(Faults) as caught:
        load("version: 1\ntree: t\nroot: {zyzzyva: {}}\n")
    assert said in caught.value.diagnostics[0].help


def test_a_plugin_cannot_take_the_name_of_a_kind_that_every_tree_has(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    plug(monkeypatch, folder, "loud-2.1", {"kinds": {"sequence": "loud_nodes:TAKEN"}})
    assert installed()["sequence"].family == "control"
    assert installed().faults == ("the nodes `sequence` of loud 2.1: another kind is called `sequence`",)


def test_a_plugin_s_kind_is_imported_when_a_tree_names_it_and_not_before(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    plug(monkeypatch, folder, "loud-2.1", {"kinds": {"shout": "loud_nodes:SHOUT"}})
    load("version: 1\ntree: t\nroot: {succeed: {}}\n")
    assert "loud_nodes" not in sys.modules
    load("version: 1\ntree: t\noutputs: {said: string}\nroot: {shout: hello}\n")
    assert "loud_nodes" in sys.modules


def test_worlds_and_models_that_cannot_be_had_are_told_when_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"bad": "broken_module:X", "five": "loud_nodes:NUMBER", "house": "loud_nodes:NUMBER"}
    plug(monkeypatch, folder, "loud-2.1", {"suites": bad, "models": bad, "content": {"bad": "broken_module"}})
    for name, said in (("bad", "RuntimeError: no good"), ("five", "is not")):
        for what, ask in (("suite", open_suite), ("model", open_model)):
            with pytest.raises(BtError, match=f"the {what} `{name}` of loud 2.1.*{said}"):
                ask(name)
    assert open_suite("house").name == "house"
    assert find("trees", "react") is not None
    call(["doctor", "--json"])
    told = {check["said"]: check["state"] for check in json.loads(capsys.readouterr().out) if check["name"] == "plugin"}
    assert [said.partition(" cannot")[0] for said in told][:2] == [
        "the suite `bad` of loud 2.1",
        "the suite `five` of loud 2.1 is not a suite, or the class of a world",
    ]
    assert set(told.values()) == {"warn"}
    assert "the suite `house` of loud 2.1 has the name of the suite `house` of bt_envs" in told


def test_options_are_imported_by_the_command_of_their_name_alone(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that begins with no command that takes options is told of by `btr doctor`, instead of never being used."""
    (folder / "loud_options.py").write_text(
        "from bt_runtime.plugins import Options\n"
        "class Loud(Options):\n    def configure(self, parser):\n        parser.add_argument('--loud')\n"
        "LOUD = Loud()\n"
    )
    options = {"export-loud": "loud_options:LOUD", "shout-loud": "broken_module:X", "run-loud": "broken_module:X"}
    plug(monkeypatch, folder, "loud-2.1", {"options": options})
    (folder / "t.yaml").write_text("version: 1\ntree: t\nroot: {succeed: {}}\n")
    assert call(["export", str(folder / "t.yaml"), "--loud", "yes"]) == 0
    assert call(["run", "t"]) == 2 and "`run-loud` of loud 2.1 cannot be used" in capsys.readouterr().err
    call(["doctor"])
    assert "`shout-loud` of loud 2.1 belong to no command" in capsys.readouterr().out


def test_two_of_one_name_are_both_named_and_neither_is_taken(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in ("one-1.0", "two-3.0"):
        plug(monkeypatch, folder / name, name, {"suites": {"twin": "bt_envs.house.suite:SUITE"}})
    with pytest.raises(BtError, match=r"the suite `twin` of one 1.0 and the suite `twin` of two 3.0"):
        open_suite("twin")


def test_metadata_in_the_working_directory_is_no_plugin(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """`python -m` puts that folder on the path: a folder that somebody sent must not bring plugins."""
    plug(monkeypatch, folder, "loud-2.1", {"suites": {"loud": "broken_module:X"}})
    assert "loud" in suite_names()
    monkeypatch.chdir(folder)
    plugins._entries.cache_clear()
    assert "loud" not in suite_names()
    plugins._entries.cache_clear()


def test_content_of_a_package_is_found_after_the_project_s_and_ours(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Nothing of the package is imported for it; a name of ours stays ours."""
    for name in ("patrolling", "react"):
        path = folder / "robots" / "content" / "trees" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"version: 1\ntree: {name}\nroot: {{succeed: {{}}}}\n")
    (folder / "robots" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    plug(monkeypatch, folder, "robots-1.0", {"content": {"robots": "robots.content"}})
    assert find("trees", "patrolling") == folder / "robots" / "content" / "trees" / "patrolling.yaml"
    assert find("trees", "react") != folder / "robots" / "content" / "trees" / "react.yaml"
    assert load("version: 1\ntree: t\nroot: {tree: patrolling}\n").name == "t"


def test_a_world_is_known_by_the_name_it_was_opened_by(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """With its options; one that a program made by its class by the one suite of its package."""
    named = {"mine": "bt_envs.house.suite:SUITE"}
    world = open_world("house", feedback="terse")
    assert origin_of(world) == ("house", {"feedback": "terse"})
    assert origin_of(open_suite("house").open()).name == "house"
    plug(monkeypatch, folder, "mine-1.0", {"suites": named})
    assert origin_of(open_world("mine")).name == "mine"
    assert origin_of(open_suite("house").open()).name == ""  # of two nobody can tell which


def test_a_class_alone_is_a_world_with_one_task(folder: Path) -> None:
    (Path.cwd() / "sim.py").write_text(
        "from packages.lab.tests.bench.worlds import Doors\nclass Sim(Doors):\n    def __init__(self, size=1):\n"
        "        super().__init__()\n        self.size = size\nNOT = 5\nclass Half:\n    def act(self, s): ...\n"
    )
    suite = open_suite("sim.py:Sim")
    assert isinstance(suite, Alone)
    assert suite.tasks(0, 1) == [Task("sim.py:Sim", "", "", {})]
    world = open_world("sim.py:Sim", size=3)
    assert isinstance(world, World) and isinstance(world, Instant) and not isinstance(world, Pictured)
    assert origin_of(world) == ("sim.py:Sim", {"size": 3})
    for name, said in (
        ("sim.py:NOT", "is not a suite, nor the class of a world"), ("sim.py:Half", "has no reset, look"),
        ("gone.py:Sim", "there is no file"), ("../x.py:Sim", "lies outside the project"),
    ):  # fmt: skip
        with pytest.raises(BtError, match=said):
            open_world(name)
    with pytest.raises(BtError, match="cannot be opened so"):
        open_world("sim.py:Sim", colour="red")


@pytest.mark.parametrize(
    ("where", "name", "file"),
    [
        ("a/model.gguf", "gguf", True), ("model", "gguf", True), ("gguf", "gguf", True),
        ("http://x:1", "http", False), ("https://x", "https", False),
        ("echo", "echo", False), ("echo:loud", "echo", False), ("./echo", "gguf", True), ("net.echo", "echo", True),
        ("a/m.py:First", "a/m.py:First", False),
    ],
)  # fmt: skip
def test_a_model_s_backend_is_told_by_its_name(
    where: str, name: str, file: bool, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    plug(monkeypatch, folder, "echo-1.0", {"models": {"echo": "loud_nodes:SHOUT"}})
    assert (backend_name(where), is_file(where)) == (name, file)


def test_kinds_of_a_project_are_those_of_its_file(folder: Path) -> None:
    """One that cannot be had is a fault in words; the others are there."""
    here = Path.cwd()
    (here / "nodes.py").write_text(NODES)
    (here / "btr.yaml").write_text("version: 1\nkinds: ['nodes.py:NUMBER', 'nodes.py:BOTH', '../n.py:X']\n")
    found = registry_of(here)
    assert "shout" in found and "all_of" in found
    assert [fault.partition(" gives")[0] for fault in found.faults] == [
        "`nodes.py:NUMBER` of btr.yaml", "`../n.py:X` of btr.yaml",
    ]  # fmt: skip
    assert load(TREE, project=here).name == "t"
