"""What is written from the registry is current, and a project's schema knows the project's skills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bt_runtime.language import manifest, source
from bt_runtime.language.emit import generated
from bt_runtime.language.emit.manifests import manifest_schema
from bt_runtime.language.emit.pages import pages
from bt_runtime.language.kinds.registry import shipped_kinds

ROOT = Path(__file__).parents[2]
MANIFEST = """\
version: 1
skills: house
about: What can be done here.
impl: skills.py:House
kinds:
  go_to:
    sentence: go to {place}
    about: Walks there.
    params: {place: string, speed: {type: number, default: 1, minimum: 0.1, maximum: 2, about: How fast.}}
    needs: [hand free]
    brings: ["near {place}"]
    takes: 10
    on_resume: verify
  look:
    params: {side: {type: string, choices: [left, right]}}
    outputs: {seen: list}
"""
WRONG_MANIFESTS = (
    "version: 2\nskills: x\nkinds: {}\n",
    "version: 1\nkinds: {}\n",
    "version: 1\nskills: x\n",
    "version: 1\nskills: x\nkinds: []\n",
    "version: 1\nskills: x\nkinds: {a: }\n",
    "version: 1\nskills: x\nkinds: {a: {sentense: b}}\n",
    "version: 1\nskills: x\nkinds: {go to: {}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: [b]}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: strin}}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: }}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: {typ: string}}}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: {type: [string]}}}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: {type: string, choices: left}}}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {b: {type: number, minimum: low}}}}\n",
    "version: 1\nskills: x\nkinds: {a: {params: {name: string}}}\n",
    "version: 1\nskills: x\nkinds: {a: {takes: soon}}\n",
    "version: 1\nskills: x\nkinds: {a: {takes: 0}}\n",
    "version: 1\nskills: x\nkinds: {a: {on_resume: again}}\n",
    "version: 1\nskills: x\nkinds: {a: {needs: hand free}}\n",
    "version: 1\nskills: x\nkinds: {a: {sentence: [b]}}\n",
)


def valid(schema: Any, text: str) -> bool:
    return jsonschema.Draft7Validator(schema).is_valid(source.parse(text).sound().data())


@pytest.mark.parametrize("name", list(generated.schemas()))
def test_the_shipped_schemas_are_current(name: str) -> None:
    """`python -m bt_runtime.language.emit` writes them."""
    assert (ROOT / "schemas" / name).read_text("utf-8") == generated.as_text(generated.schemas()[name])


def test_the_pages_of_the_nodes_are_current() -> None:
    """`python -m bt_runtime.language.emit` writes them."""
    folder = ROOT / "docs" / "nodes"
    written = {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}
    assert written == pages(shipped_kinds())


def test_what_is_written_twice_is_written_once(tmp_path: Path) -> None:
    texts = {tmp_path / "new" / "a.json": "{}\n"}
    assert generated.write(texts) == list(texts)
    assert generated.write(texts) == []


def project(root: Path, **manifests: str) -> Path:
    (root / "skills").mkdir()
    for name, text in manifests.items():
        (root / "skills" / f"{name}.yaml").write_text(text)
    return root


TREE = "version: 1\ntree: t\nskills: [{manifest}]\nroot:\n  {node}\n"


@pytest.mark.parametrize(
    ("node", "sound"),
    [
        ("go_to: kitchen", True),
        ("go_to: {place: kitchen, speed: 2, when: a > 1}", True),
        ('look: {side: left, seen: "{things}"}', True),
        ("look: left", True),
        ("look: up", False),
        ("go_to: {place: kitchen, speed: 5}", False),
        ("go_to: {plaice: kitchen}", False),
        ("look: {side: left, seen: things}", False),
        ("fly: {}", False),
    ],
)
def test_the_skills_of_a_project_are_kinds_in_its_schema(node: str, sound: bool, tmp_path: Path) -> None:
    schema = generated.project_schema(project(tmp_path, house=MANIFEST))
    assert valid(schema, TREE.format(manifest="house", node=node)) is sound
    assert not valid(schema, TREE.format(manifest="garage", node=node))


def test_skills_of_one_name_in_two_manifests_are_both_allowed(tmp_path: Path) -> None:
    other = "version: 1\nskills: robot\nkinds: {go_to: {params: {x: number, y: number}}}\n"
    schema = generated.project_schema(project(tmp_path, house=MANIFEST, robot=other))
    assert valid(schema, TREE.format(manifest="house", node="go_to: {place: kitchen}"))
    assert valid(schema, TREE.format(manifest="robot", node="go_to: {x: 1, y: 2}"))
    assert not valid(schema, TREE.format(manifest="robot", node="go_to: {z: 1}"))


def test_a_manifest_at_fault_spoils_no_schema(tmp_path: Path) -> None:
    root = project(
        tmp_path, broken="kinds: [", house=MANIFEST, sequence="version: 1\nskills: s\nkinds: {sequence: {}}\n"
    )
    schema = generated.project_schema(root)
    jsonschema.Draft7Validator.check_schema(schema)
    assert valid(schema, TREE.format(manifest="house", node="sequence: [go_to: kitchen]"))


def test_the_schema_of_manifests_and_their_reader_agree() -> None:
    assert manifest.parse(MANIFEST).diagnostics == []
    assert valid(manifest_schema(), MANIFEST)
    for text in WRONG_MANIFESTS:
        assert manifest.parse(text).diagnostics, text
        assert not valid(manifest_schema(), text), text


def test_a_schema_is_json_that_a_person_can_compare() -> None:
    text = generated.as_text(manifest_schema())
    assert json.loads(text) == manifest_schema()
    assert text.endswith("}\n")
