"""Who may import whom: a module imports only from its own floor downward, and the outside worlds never meet."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bt_runtime"
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
TABLE = PAGE.partition("## Floors")[2].partition("```text\n")[2].partition("```")[0]
# from the bottom: in each line of the page's table the names before the gap
FLOORS = [set(line.partition("  ")[0].split()) for line in reversed(TABLE.splitlines())]
LEVEL = {part: level for level, parts in enumerate(FLOORS) for part in parts}
OUTSIDE = {"llm", "memory", "envs"}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    """The parts of bt_runtime that a file imports anywhere, but for what only a type checker sees."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bt_runtime":
            names = [f"bt_runtime.{a.name}" for a in node.names] if node.module == "bt_runtime" else [node.module]
            found |= {part_of(name) for name in names}
        elif isinstance(node, ast.Import):
            found |= {part_of(a.name) for a in node.names if a.name.startswith("bt_runtime.")}
    return {f for f in found if f in LEVEL}


FILES = sorted(
    p for p in PACKAGE.rglob("*.py") if p.stem != "__main__" and (p.parent != PACKAGE or p.stem != "__init__")
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_downward(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in LEVEL, f"say on which floor {own} stands"
    above = {part for part in imports(path) if LEVEL[part] > LEVEL[own]}
    assert not above
    beside = {part for part in imports(path) if part != own and {part, own} <= OUTSIDE}
    assert not beside
