"""The plain JSON-Schema route and `btr serve lsp` say yes and no to the same texts, as far as a schema can tell."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft7Validator

from bt_author.lsp.workspace import Workspace
from bt_runtime.language.emit.generated import project_schema
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.source import parse
from packages.author.tests.editor.one_fault import HEAD, ONE_FAULT
from packages.author.tests.editor.project import shown, workspace, written

# What lies beyond a schema: files, and what one part of a text means for another.
BEYOND = {"BT021", "BT022", "BT040", "BT041", "BT044", "BT047", "BT020", "BT042", "BT049"}


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace(written(tmp_path_factory.mktemp("project")))


@pytest.fixture(scope="module")
def schema(space: Workspace) -> Any:
    return Draft7Validator(project_schema(space.root))


def errors(space: Workspace, below: str) -> set[str]:
    document = shown(space, space.root / "trees/main.yaml", HEAD + below)
    return {fault.code for fault in space.faults(document) if fault.severity == "error"}


@pytest.mark.parametrize("case", ONE_FAULT)
def test_both_say_no(case: str, space: Workspace, schema: Any) -> None:
    below = ONE_FAULT[case][0]
    root = parse(HEAD + below).root
    assert root is not None
    assert not schema.is_valid(root.data()) and errors(space, below)


def test_both_say_yes_to_the_example_of_every_kind(space: Workspace, schema: Any) -> None:
    for kind in shipped_kinds():
        below = "".join(f"  {line}\n" for line in kind.example.splitlines())
        root = parse(HEAD + below).root
        assert root is not None
        assert schema.is_valid(root.data()) and not errors(space, below) - BEYOND, kind.name
