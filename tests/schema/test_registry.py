"""Every kind says what it is for, what it takes, how it behaves, and shows an example that is sound."""

from __future__ import annotations

import pytest

from bt_runtime.schema.kind import COMMON, COMMON_NAMES, Field, Kind
from bt_runtime.schema.registry import BUILT_IN
from bt_runtime.tree.loader import Loader
from tests.schema.samples import tree_text

KINDS = tuple(BUILT_IN)
FIELDS = [pytest.param(kind, field, id=f"{kind.name}.{field.name}") for kind in KINDS for field in kind.fields]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_documented(kind: Kind) -> None:
    assert kind.about.endswith(".")
    assert kind.rules
    assert all(rule.endswith(".") for rule in kind.rules)
    assert kind.example.startswith(f"{kind.name}:")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_example_loads_without_a_fault_or_a_warning(kind: Kind) -> None:
    found = [
        d
        for d in Loader().text(tree_text(kind.example)).diagnostics
        if not d.message.startswith("nothing in this tree reads")
    ]
    if kind.name == "tree":  # its subtree is a file of somebody's project
        found = [d for d in found if d.code != "BT040"]
    assert [str(d) for d in found] == []


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_field_is_documented(kind: Kind, field: Field) -> None:
    assert field.about.endswith(".")
    assert field.name not in COMMON_NAMES
    assert field.type != "word" or field.choices
    assert not field.required or field.default is None
    if field.choices and field.default is not None:
        assert field.default in field.choices


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_bare_value_fills_a_field_and_no_other_is_needed(kind: Kind) -> None:
    if kind.bare:
        bare = kind.field(kind.bare)
        assert bare is not None
        assert all(f is bare for f in kind.fields if f.required)
    assert all(kind.field(name) for name in kind.one_of)


def test_what_any_node_may_carry_is_documented() -> None:
    assert all(field.about.endswith(".") for field in COMMON)
