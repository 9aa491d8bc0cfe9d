"""Who may import whom: a module imports only from its own floor downward, the outside worlds never meet, and no two
files need each other. What only a type checker sees counts as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bt_runtime"
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
TABLE = PAGE.partition("## Floors")[2].partition("```text\n")[2].partition("```")[0]
# from the bottom: in each line of the page's table the names before the gap
FLOORS = [set(line.partition("  ")[0].split()) for line in reversed(TABLE.splitlines())]
LEVEL = {part: level for level, parts in enumerate(FLOORS) for part in parts}
OUTSIDE = {"llm", "memory", "envs"}
EXAMPLES = PACKAGE / "project" / "init" / "example-projects"  # what a user writes, who imports the face
FILES = sorted(path for path in PACKAGE.rglob("*.py") if EXAMPLES not in path.parents)
# The package's own face gathers what is public, and hands it out when it is asked for.
FACE = PACKAGE / "__init__.py"


def named(path: Path) -> str:
    """`bt_runtime/llm/__init__.py` → bt_runtime.llm"""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {named(path): path for path in FILES}


def meant(node: ast.ImportFrom | ast.Import) -> Iterator[str]:
    """The modules of ours that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif node.module and node.module.split(".")[0] == "bt_runtime":
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in MODULES else node.module


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules of ours that a file imports, wherever in it, and for whomever."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(n for each in ast.walk(tree) if isinstance(each, ast.ImportFrom | ast.Import) for n in meant(each))


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("path", [p for p in FILES if p != FACE], ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_downward(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in LEVEL, f"say on which floor {own} stands"
    parts = {part_of(name) for name in imports(path)}
    assert "" not in parts, "it imports the face of the package"
    assert not {part for part in parts if LEVEL[part] > LEVEL[own]}
    assert not {part for part in parts if part != own and {part, own} <= OUTSIDE}


def test_no_world_needs_another_world() -> None:
    """What two of them need is in a folder that belongs to neither."""
    shared = {"alfred"}
    worlds = {file.parent.name for file in (PACKAGE / "envs").glob("*/__init__.py")} - shared
    for world in (*worlds, *shared):
        used = {name.split(".")[2] for file in (PACKAGE / "envs" / world).glob("*.py") for name in imports(file)
                if name.startswith("bt_runtime.envs.")}  # fmt: skip
        assert not used & worlds - {world}, world
    assert not {name for file in (PACKAGE / "envs").glob("*.py") for name in imports(file)
                if name.startswith("bt_runtime.envs.") and name.split(".")[2] in worlds | shared}  # fmt: skip


@pytest.mark.parametrize("room", ["tree", "journal", "language", "skills", "project", "faults"])
def test_the_kernel_imports_nothing_of_agents_models_memories_and_worlds(room: str) -> None:
    """They register with it; only `run`, where everything is put together, knows them by name."""
    files = sorted((PACKAGE / room).rglob("*.py"))
    used = {(str(file), part_of(name)) for file in files if EXAMPLES not in file.parents for name in imports(file)}
    assert {(file, part) for file, part in used if part in {"agents", "llm", "memory", "envs"}} == set()


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
    graph = {name: set(imports(path)) - {name} for name, path in MODULES.items() if path != FACE}
    assert circles({name: {other for other in others if other in graph} for name, others in graph.items()}) == []


# What is imported when a function is called, and why; anything else of ours is imported at the top of a file.
LATE = {
    "fleet/bundle.py": "an agent loads no tree but to check a version that has come: its process stays small",
    "fleet/replica.py": "an agent copies journals all day, and makes a file of one only where a run moves in",
    "fleet/link.py": "keys are read only where one is given: an agent's process stays small",
    "fleet/surroundings.py": "an agent names the variables; only its runs join the fleet by them",
    "language/implementations.py": "only a project with skills in Python has files to look at",
    "cli": "a command loads what it needs, so that `btr --help` and `btr validate` begin at once",
    "bench/cluster/bundle.py": "a node that asks a server needs no model file, and the other way round",
    "bench/forks/forking.py": "forks of a run without a memory load no database",
    "bench/run/readonly_memory.py": "an evaluation without a memory loads no database",
    "bench/run/training.py": "an evaluation without a memory loads no database",
    "distill/parity.py": "llama.cpp",
    "interop/lsp/proofs.py": "an editor that opens no tree with properties starts without the prover",
    "interop/pytest_plugin.py": "pytest loads the plugin in every project; only tests that ask for a tree pay for it",
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
    "project/child.py": "only what starts a process",
    "project/trust.py": "only who asks what is trusted reads or writes",
    "run/check_file.py": "only a file with plans, or with skills, needs their reader",
    "run/resources.py": "a run without a model or a memory loads none",
    "tree/node.py": "only when something leaves a step by `sys.exit`",
    "tree/adopt.py": "most trees have no node of py_trees",
    "tree/build.py": "most trees name no Python",
    "tree/changes.py": "nobody looks on in most runs, and most trees keep their shape",
    "tree/growth.py": "most trees are ticked by our engine, not by py_trees",
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
    found = {str(path.relative_to(PACKAGE)) for path in FILES if path != FACE and late(path)}
    assert {name for name in found if name not in LATE and name.partition("/")[0] not in LATE} == set()


def test_no_reason_stands_there_that_nothing_needs() -> None:
    assert [name for name in LATE if name.endswith(".py") and not late(PACKAGE / name)] == []
