"""Every kind says what it is for, what it takes, how it behaves, and shows an example that is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime import Node
from bt_runtime.language.kinds.kind import COMMON, COMMON_NAMES
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader
from bt_runtime.language.project.importing import resolve
from bt_runtime.language.reader import GUARD
from bt_runtime.plugins import Field, Kind
from tests.language.kinds.samples import tree_text

KINDS = tuple(shipped_kinds())
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


# What the checks know of a kind is in its entry -----------------------------------------------------

EVERY = (*KINDS, GUARD)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_what_makes_the_nodes_of_a_kind_is_there(kind: Kind) -> None:
    made_by = resolve(kind.impl, Path())
    assert callable(made_by)
    assert kind.foreign or issubclass(made_by, Node)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_what_a_kind_says_of_its_fields_is_true_of_them(kind: Kind) -> None:
    assert all(kind.field(name) for name in (*kind.blocks, *kind.counts))
    assert kind.endless is None or kind.field("times")
    assert kind.ends != "status" or kind.field("status")
    assert not kind.includes or (kind.field("file") and kind.field("with"))
    assert kind.onward is None or kind.ends == "any"


def _loaded(text: str, *kinds: Kind) -> list[str]:
    return [d.code for d in Loader(skills=kinds).text(f"version: 1\ntree: t\nroot:\n{text}").diagnostics]


NODES = (Field("children", "nodes", "The children.", required=True),)


def test_a_kind_of_somebody_else_is_checked_by_what_it_says_of_itself() -> None:
    plain = Kind("try_each", "control", "Theirs.", NODES, bare="children")
    text = "  try_each: [succeed: {}, fail: {}]\n"
    assert _loaded(text, plain) == []
    assert _loaded(text, plain._replace(onward="failure")) == ["BT026"]
    stop = Kind("stop", "leaf", "Theirs.", ())
    assert _loaded("  sequence: [stop: {}, succeed: {}]\n", stop) == []
    assert _loaded("  sequence: [stop: {}, succeed: {}]\n", stop._replace(ends="failure")) == ["BT026"]
    assert _loaded("  sequence: [stop: {}, succeed: {}]\n", stop._replace(ends="failure", skips=True)) == []
    turned = Kind("turned", "decorator", "Theirs.", (Field("child", "node", "It.", required=True),), bare="child")
    text = "  sequence: [turned: {fail: {}}, succeed: {}]\n"
    assert _loaded(text, turned._replace(ends="opposite")) == []
    assert _loaded(text, turned._replace(ends="child")) == ["BT026"]
    again = "  reactive_sequence: [turned: {wait: 1}, succeed: {}]\n"
    assert _loaded(again, turned) == [] and _loaded(again, turned._replace(ends="child")) == ["BT027"]
    votes = Kind("votes", "control", "Theirs.", (*NODES, Field("least", "integer", "How many.", default=-1)))
    text = "  votes: {least: 3, children: [succeed: {}]}\n"
    assert _loaded(text, votes) == [] and _loaded(text, votes._replace(counts=("least",))) == ["BT047"]


def test_what_can_keep_a_tree_from_containing_itself_for_ever_may_be_somebody_else_s(tmp_path: Path) -> None:
    fields = (Field("key", "key", "What opens it."), Field("child", "node", "Behind it.", required=True))
    gate = Kind("gate", "decorator", "Theirs.", fields)
    path = tmp_path / "t.yaml"
    for given, blocks, codes in (
        ("", (), ["BT025"]), ("", ("key",), ["BT025"]), ("key: left, ", ("key",), []), ("", ("child",), []),
    ):  # fmt: skip
        path.write_text(
            "version: 1\ntree: t\nblackboard: {left: {type: any}}\n"
            f"root:\n  gate: {{{given}child: {{tree: t.yaml}}}}\n"
        )
        found = Loader(tmp_path, (gate._replace(blocks=blocks),)).file(path)
        assert [d.code for d in found.diagnostics if d.severity == "error"] == codes
