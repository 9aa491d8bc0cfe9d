"""Who may import whom: the runtime imports none of the packages beside it, a module imports only from its own floor
downward, the outside worlds never meet, and no two files need each other. What only a type checker sees counts too."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.workspace import ROOT, WHEELS, home_of

PACKAGE = ROOT / "bt_runtime"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
TABLE = PAGE.partition("## Floors")[2].partition("```text\n")[2].partition("```")[0]
# from the bottom: in each line of the page's table the names before the gap
FLOORS = [set(line.partition("  ")[0].split()) for line in reversed(TABLE.splitlines())]
LEVEL = {part: level for level, parts in enumerate(FLOORS) for part in parts}
OUTSIDE = {"llm", "memory", "skills/worlds"}
EXAMPLES = PACKAGE / "language" / "project" / "init" / "example-projects"  # what a user writes, who imports the face
FILES = sorted(path for path in PACKAGE.rglob("*.py") if EXAMPLES not in path.parents)
ALL = [*FILES, *(path for name, home in WHEELS.items() if name != "bt_runtime" for path in sorted(home.rglob("*.py")))]
# The faces gather what is public, and hand it out when it is asked for.
FACES = [PACKAGE / name for name in (
    "__init__.py", "clock.py", "plugins.py", *(f"{room}/__init__.py" for room in ("agents", "llm", "memory", "journal"))
)]  # fmt: skip


def wheel_of(path: Path) -> str:
    return next(name for name, home in WHEELS.items() if home in path.parents)


def short(path: Path) -> str:
    """Returns the path as this page writes it: `tree/node.py` of the runtime, `bt_fleet/face.py` of another wheel."""
    wheel = wheel_of(path)
    return path.relative_to(PACKAGE if wheel == "bt_runtime" else WHEELS[wheel].parent).as_posix()


def named(path: Path) -> str:
    """`bt_runtime/llm/__init__.py` → bt_runtime.llm"""
    parts = path.relative_to(home_of(path)).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {named(path): path for path in ALL}


def meant(node: ast.ImportFrom | ast.Import) -> Iterator[str]:
    """The modules of ours that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif node.module and node.module.split(".")[0] in WHEELS:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in MODULES else node.module


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules of ours that a file imports, wherever in it, and for whomever."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(n for each in ast.walk(tree) if isinstance(each, ast.ImportFrom | ast.Import) for n in meant(each))


def room_of(*parts: str) -> str:
    """The innermost room of the table that a module of the runtime lies in, such as `run/replay`."""
    inner = "/".join(parts[:2])
    return inner if inner in LEVEL else parts[0] if parts else ""


def part_of(module: str) -> str:
    return room_of(*module.split(".")[1:])


@pytest.mark.parametrize("path", [p for p in FILES if p not in FACES], ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_downward(path: Path) -> None:
    own = room_of(*path.relative_to(PACKAGE).with_suffix("").parts)
    assert own in LEVEL, f"say on which floor {own} stands"
    parts = {part_of(name) for name in imports(path) if name.partition(".")[0] == "bt_runtime"}
    assert "" not in parts, "it imports the face of the package"
    assert not {part for part in parts if LEVEL[part] > LEVEL[own]}
    assert not {part for part in parts if part != own and {part, own} <= OUTSIDE}


@pytest.mark.parametrize("wheel", WHEELS)
def test_a_wheel_imports_only_what_its_own_file_says_that_it_needs(wheel: str) -> None:
    """The runtime needs none of the others, and no two need each other."""
    home = ROOT if wheel == "bt_runtime" else WHEELS[wheel].parent
    needed = tomllib.loads((home / "pyproject.toml").read_text("utf-8"))["project"].get("dependencies", [])
    allowed = {wheel, *(re.split(r"[^\w]", each)[0] for each in needed)}
    for path in (path for path in ALL if wheel_of(path) == wheel):
        assert {name.partition(".")[0] for name in imports(path)} <= allowed, path


def test_the_wheels_have_one_version_and_need_exactly_that() -> None:
    """They are released together: one that is older or newer than the others never meets them."""
    homes = [ROOT if name == "bt_runtime" else home.parent for name, home in WHEELS.items()]
    projects = [tomllib.loads((home / "pyproject.toml").read_text("utf-8"))["project"] for home in homes]
    (version,) = {project["version"] for project in projects}
    for project in projects:
        extras = project.get("optional-dependencies", {}).values()
        lines = [*project.get("dependencies", []), *(line for listed in extras for line in listed)]
        ours = [line for line in lines if re.match(r"bt_(?!runtime\[)", line)]
        assert all(line.endswith(f"=={version}") for line in ours), ours


def test_no_world_needs_another_world() -> None:
    """What two of them need is in a folder that belongs to neither."""
    shared = {"alfred"}
    home = WHEELS["bt_envs"]
    worlds = {file.parent.name for file in home.glob("*/__init__.py")} - shared
    assert "house" in worlds
    for world in (*worlds, *shared):
        used = {name.split(".")[1] for file in (home / world).glob("*.py") for name in imports(file)
                if name.startswith("bt_envs.")}  # fmt: skip
        assert not used & worlds - {world}, world


MOST_INSIDE = 10


def test_a_drawing_of_the_workspace_has_at_most_ten_boxes_and_each_of_them_at_most_ten_inside() -> None:
    """A box is a folder or a file with code; the files that are the face of a wheel are no boxes."""
    faces = {"__init__", "_face", "_public", "_version", "clock", "events", "plugins", "types"}
    for wheel, home in WHEELS.items():
        inside = {path.relative_to(home).parts[0].removesuffix(".py") for path in ALL if wheel_of(path) == wheel}
        assert len(inside - faces) <= MOST_INSIDE, f"{wheel}: {sorted(inside - faces)}"
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {name.partition("/")[0] for name in listed.splitlines() if "/" in name}
    assert len(top) <= MOST_INSIDE, sorted(top)


@pytest.mark.parametrize("room", ["tree", "journal", "language", "skills", "language/project", "language/faults"])
def test_the_kernel_imports_nothing_of_agents_models_memories_and_worlds(room: str) -> None:
    """They register with it; only `run`, where everything is put together, knows them by name."""
    files = [file for file in FILES if room_of(*file.relative_to(PACKAGE).with_suffix("").parts) == room]
    used = {(str(file), part_of(name)) for file in files for name in imports(file)}
    assert files and not {(file, part) for file, part in used if part in OUTSIDE | {"agents"}}


@pytest.mark.parametrize("wheel", WHEELS)
def test_a_class_name_stands_once_in_a_wheel(wheel: str) -> None:
    """Whoever reads a name in a message, a search or a stack of calls knows which class it is."""
    places: dict[str, list[str]] = {}
    for path in (path for path in ALL if wheel_of(path) == wheel and EXAMPLES not in path.parents):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{short(path)}:{node.lineno}")
    assert not {name: where for name, where in places.items() if len(where) > 1}


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Sets of files each of which leads to all the others."""
    reach = {name: closure(graph, name) for name in graph}
    found = {frozenset({name} | {other for other in reach[name] if name in reach[other]}) for name in graph}
    return sorted((set(each) for each in found if len(each) > 1), key=sorted)


def closure(graph: Mapping[str, set[str]], name: str) -> set[str]:
    known: set[str] = set()
    todo = [name]
    while todo:
        new = graph[todo.pop()] - known
        known |= new
        todo += new
    return known


def test_a_circle_of_two_files_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [{"b", "c"}]


def test_no_files_need_each_other() -> None:
    """Not even for types, and not by way of an import inside a function."""
    graph = {name: set(imports(path)) - {name} for name, path in MODULES.items() if path not in FACES}
    assert circles({name: {other for other in others if other in graph} for name, others in graph.items()}) == []


# What is imported when a function is called, and why; anything else of ours is imported at the top of a file.
LATE = {
    "bt_fleet/versions/bundle.py": "only a version that has come is loaded: an agent's process stays small",
    "bt_fleet/store/replica.py": "an agent makes a file of a journal only where a run moves in",
    "bt_fleet/server/link.py": "keys are read only where one is given: an agent's process stays small",
    "bt_fleet/shared/surroundings.py": "an agent names the variables; only its runs join the fleet by them",
    "language/implementations.py": "only a project with skills in Python has files to look at",
    "cli": "a command loads what it needs, so that `btr --help` and `btr validate` begin at once",
    "bt_lab/cluster/bundle.py": "a node that asks a server needs no model file, and the other way round",
    "bt_lab/forks/forking.py": "forks of a run without a memory load no database",
    "bt_lab/run/readonly_memory.py": "an evaluation without a memory loads no database",
    "bt_lab/run/training.py": "an evaluation without a memory loads no database",
    "bt_lab/distill/parity.py": "llama.cpp",
    "bt_author/edit/beside.py": "the page of a run loads no editor before somebody asks for one",
    "bt_author/edit/tryouts.py": "an editor in which nobody asks for a proof starts without the prover",
    "bt_robots/recordings/exports.py": "a format is loaded when a run is written in it",
    "bt_author/lsp/proofs.py": "an editor that opens no tree with properties starts without the prover",
    "testing/pytest_plugin.py": "pytest loads the plugin in every project; only tests that ask for a tree pay for it",
    "language/expression/expression.py": "a tree without an expression needs no parser of one",
    "language/expression/template.py": "most texts have no hole",
    "language/checks/entries.py": "a tree without an expression, or without declared types, needs no types of one",
    "language/checks/semantic.py": "most trees include no other",
    "language/header.py": "only for a port with choices or bounds, or one that is at fault",
    "language/checks/references.py": "only for a node that is at fault",
    "language/loader.py": "most trees name no manifest and no Python, and few contain themselves",
    "language/kinds/registry.py": "a tree that is given as a text reads no file, and few projects have kinds",
    "language/reader.py": "most trees are without faults, and only an answer of a model has outputs",
    "language/validate.py": "only a document that is at fault needs a validator",
    "language/values.py": "only for a value that is at fault",
    "language/source/compose.py": "only for a text that is at fault",
    "language/source/node.py": "only for a text that is at fault",
    "language/source/text.py": "a tree that is given as a text reads no file",
    "llm/__init__.py": "a server needs no llama.cpp, and the other way round",
    "llm/doctor.py": "the doctor says what cannot be loaded",
    "llm/local/worker.py": "only a model with a projector loads what reads pictures",
    "llm/local/tokenizer.py": "llama.cpp is loaded by the process that it starts, not by who asks",
    "llm/shipped.py": "a server needs no llama.cpp, and the other way round",
    "language/project/child.py": "only what starts a process",
    "language/project/trust.py": "only who asks what is trusted reads or writes",
    "run/check_file.py": "only a file with plans, or with skills, needs their reader",
    "run/resources.py": "a run without a model or a memory loads none",
    "tree/node.py": "only when something leaves a step by `sys.exit`",
    "skills/forms.py": "what decides about a crash is loaded by the first one",
    "tree/nodes/interlocks.py": "what decides about a crash is loaded by the first one",
    "tree/adopt.py": "most trees have no node of py_trees",
    "tree/build.py": "most trees name no Python",
    "tree/changes.py": "nobody looks on in most runs, and most trees keep their shape",
    "tree/engine.py": "most trees are ticked by our engine, not by py_trees",
    "tree/growth.py": "most trees keep their shape",
    "tree/nodes/skill.py": "a skill that is given as an object is not imported",
    "skills/loop.py": "only a skill that is cancelled is looked up in its source",
    "tree/inputs.py": "the names of a tree are gathered only when a program writes an entry of a new one",
    "run/run.py": "a run without a journal loads no database, and one without skills none of their machinery",
}


def late(path: Path) -> bool:
    functions = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef)]
    inside = [each for function in functions for each in ast.walk(function)]
    return any(any(meant(each)) for each in inside if isinstance(each, ast.ImportFrom | ast.Import))


def test_what_is_imported_late_has_a_reason() -> None:
    found = {short(path) for path in ALL if path not in FACES and late(path)}
    commands = {name for name in found if "cli" in name.split("/")[:2]}
    assert {name for name in found - commands if name not in LATE} == set()


def test_no_reason_stands_there_that_nothing_needs() -> None:
    assert [name for name in LATE if name.endswith(".py") and not late(_file(name))] == []


def _file(name: str) -> Path:
    wheel = name.partition("/")[0]
    return WHEELS[wheel].parent / name if wheel in WHEELS else PACKAGE / name
