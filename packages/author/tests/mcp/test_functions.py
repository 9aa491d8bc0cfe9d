"""Schemas of tools as parameters, and function tools in both directions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bt_author.mcp.leaf.manifest import Foreign, manifest
from bt_author.mcp.leaf.schema import Unheld, held
from bt_runtime.cli import main
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.manifest import parse
from packages.author.tests.mcp.conftest import MANIFEST


def of(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


@pytest.mark.parametrize(
    ("schema", "field"),
    [({"type": "string"}, {"type": "string"}), ({"type": ["integer", "null"]}, {"type": "integer"}),
     ({"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}, {"type": "number", "minimum": 0}),
     ({"enum": ["a", "b"]}, {"type": "string", "choices": ["a", "b"]}), ({"$ref": "#/$defs/x"}, {"type": "boolean"}),
     ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "any"}), ({}, {"type": "any"}),
     ({"type": "array", "items": {"type": "string"}}, {"type": "list"}), (True, {"type": "any"}),
     ({"type": "string", "description": "A\x1b[2J b\nc"}, {"type": "string", "about": "A<U+001B>[2J b"})],
)  # fmt: skip
def test_a_field_is_held_by_its_type(schema: Any, field: dict[str, Any]) -> None:
    found = held(of({"x": schema}, required=["x"], **{"$defs": {"x": {"type": "boolean"}}}))
    assert found.fields["x"] == field


@pytest.mark.parametrize(
    ("schema", "words"),
    [({"type": "string"}, "not that of an object"), (of({"a-b": {}}, required=["a-b"]), "cannot be the name"),
     (of({}, required=["x"]), "does not say what"), (of({"when": {}}, required=["when"]), "any node carries"),
     (of({"x": {"$ref": "#/$defs/y"}}, required=["x"]), "refers to"), (None, "not that of an object"),
     (of({f"p{n}": {} for n in range(99)}), "more than"),
     (of({"x": {"$ref": "https://evil.example/x"}}, required=["x"]), "refers to")],
)  # fmt: skip
def test_a_schema_that_cannot_be_held_is_refused_in_words(schema: Any, words: str) -> None:
    with pytest.raises(Unheld, match=words):
        held(schema)


def test_what_is_optional_and_cannot_be_held_is_left_out_and_told() -> None:
    found = held(of({"a-b": {}, "c": {"type": "string", "pattern": "x"}}))
    assert list(found.fields) == ["c"]
    assert any("a-b" in note for note in found.notes) and any("pattern" in note for note in found.notes)


def test_a_reference_to_itself_ends() -> None:
    assert held(of({"x": {"$ref": "#/properties/x"}}, required=["x"])).fields["x"] == {"type": "any"}


HOSTILE = [
    Foreign("go\n  evil: {impl: os:system}", 'say "x"\n\x1b]0;a\x07: {}', of({"x": {"default": "a: b #"}})),
    Foreign("wait", "the name of a kind", of({})),
    Foreign("wait", "again", of({})),
    Foreign("9lives", "{braces} 'quotes' \"more\" \\ # % & * !", of({})),
    Foreign("naïve tool", "ü" * 5000, of({"y": {"enum": ["yes", "no", "null", "1", "- a"]}}, required=["y"])),
]  # fmt: skip


def test_whatever_a_server_says_the_manifest_is_sound_and_names_no_other_implementation(tmp_path: Path) -> None:
    made = manifest("shop", "Tools: of\n'shop'", "", HOSTILE, registry_of(None))
    read = parse(made.text, "shop", tmp_path)
    assert read.diagnostics == [] and len(read.kinds) == len(HOSTILE)
    assert {kind.data["entry"].impl for kind in read.kinds} == {"world"}
    assert {"shop_wait", "shop_wait_2", "_9lives"} <= {kind.name for kind in read.kinds}
    assert "\x1b" not in made.text
    served = manifest("shop", "", "mcp/shop/{tool}", HOSTILE, registry_of(None))
    assert len([note for note in served.notes if "refused: its name" in note]) == 2
    kinds = parse(served.text, "shop", tmp_path).kinds
    assert {kind.data["entry"].impl for kind in kinds} == {"mcp/shop/wait", "mcp/shop/9lives"}


def test_skills_go_out_as_function_tools_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "rover.yaml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    assert main(["export", "tools"]) == 0
    tools = json.loads(capsys.readouterr().out)
    drive = tools[0]["function"]
    assert drive["name"] == "drive" and drive["parameters"]["required"] == ["place"]
    assert drive["parameters"]["properties"]["place"]["enum"] == ["dock", "hall", "kitchen"]
    assert main(["export", "tools", "rover", "-o", "team.json"]) == 0
    (tmp_path / "skills" / "rover.yaml").unlink()
    assert main(["import", "tools", "team.json"]) == 0
    back = parse((tmp_path / "skills" / "team.yaml").read_text(), "team", tmp_path)
    assert [kind.name for kind in back.kinds] == ["drive", "charge"] and back.diagnostics == []
    assert back.kinds[0].field("place").choices == ("dock", "hall", "kitchen")
    assert main(["validate"]) == 0


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "[1]", '[{"function": {}}]', '[{"name": "x", "parameters": {"type": "string"}}]', "[" * 9999],
)
def test_a_file_that_holds_no_tools_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "t.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["import", "tools", "t.json"]) == 2
    assert "internal" not in capsys.readouterr().err
    assert not (tmp_path / "skills").exists()
