"""The editor schema: the loader and it are of one mind about what has the shape of a tree."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

from bt_runtime.language.emit.editor import tree_schema
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader
from bt_runtime.plugins import Kind
from tests.language.kinds.bend import bend
from tests.language.kinds.samples import tree_data

SCHEMA = tree_schema(shipped_kinds())
EDITOR = jsonschema.Draft7Validator(SCHEMA)
SHAPE = {"BT012", "BT013", "BT014", "BT015", "BT016", "BT017", "BT018", "BT019", "BT048"}
# What has to do with more than the shape of one value; an editor cannot see it.
ONLY_THE_LOADER = ("two children are named",)


def misshapen(tree: Any) -> list[str]:
    """The faults of shape that the loader finds."""
    text = json.dumps(tree)
    found = Loader().text(text).diagnostics
    return [str(d) for d in found if d.code in SHAPE and not any(said in d.message for said in ONLY_THE_LOADER)]


def complaints(tree: Any) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in EDITOR.iter_errors(tree)]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_nothing_in_it_gives_an_editor_alternatives_to_complain_about() -> None:
    text = json.dumps(SCHEMA)
    assert '"oneOf"' not in text
    assert '"anyOf"' not in text


@pytest.mark.parametrize("kind", tuple(shipped_kinds()), ids=lambda kind: kind.name)
def test_the_example_of_every_kind_has_the_shape_of_a_tree(kind: Kind) -> None:
    tree = tree_data(kind)
    assert misshapen(tree) == []
    assert complaints(tree) == []


@pytest.mark.parametrize("kind", tuple(shipped_kinds()), ids=lambda kind: kind.name)
def test_editor_and_loader_agree_about_bent_examples(kind: Kind) -> None:
    dice = random.Random(kind.name)
    tree = tree_data(kind)
    for number in range(10 if kind.name != "sequence" else 60):
        bent = bend(tree, dice)
        assert bool(misshapen(bent)) == bool(complaints(bent)), (number, bent, misshapen(bent), complaints(bent))
