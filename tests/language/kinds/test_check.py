"""Documents against our schemas: a quick yes is never wrong, and every fault has a place and a way out."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.language import schema_quick, source
from bt_runtime.language.guide_header import CHECK as GUIDE
from bt_runtime.language.header import CHECK as HEAD
from bt_runtime.language.manifest import CHECK as MANIFEST
from bt_runtime.language.project_file import CHECK as PROJECT
from bt_runtime.language.project_file import SETTINGS
from bt_runtime.language.validate import DocumentCheck
from tests.language.kinds.bend import bend

ROOT = Path(__file__).parents[3]
SAMPLES: dict[str, tuple[DocumentCheck, Any]] = {
    "head": (HEAD, {
        "version": 1, "tree": "t", "about": None, "skills": ["house"], "root": None,
        "inputs": {"room": "string", "n": {"type": "integer", "default": 3, "choices": [3, 4], "about": "count"}},
        "outputs": None, "blackboard": {"battery": {"type": "number", "default": 0.5}},
    }),
    "manifest": (MANIFEST, {
        "version": 1, "skills": "house", "impl": "world", "kinds": {
            "go_to": {"sentence": "go to {place}", "params": {"place": "string", "speed": {"type": "number",
                      "minimum": 0, "default": 1}}, "needs": ["a"], "takes": 2, "on_resume": "verify", "durable": True},
            "wait_here": {},
        },
    }),
    "project": (PROJECT, {"version": 1, "hz": 10, "color": "auto", "strict": True, "allow": {"python": ["a"]}}),
    "guide": (GUIDE, {"version": 1, "kind": "heat", "seed": -3, "validation": {"reached": 3, "of": 8}}),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_the_quick_look_and_the_validator_agree_about_bent_documents(name: str) -> None:
    check, sample = SAMPLES[name]
    assert schema_quick.fits(check.schema, sample), "a sound document costs no validator"
    dice, refused = random.Random(name), 0
    for _ in range(300):
        bent = bend(sample, dice)
        sound = check.faulty.validator.is_valid(bent)
        assert schema_quick.fits(check.schema, bent) == sound, bent
        refused += not sound
    assert refused > 100


@pytest.mark.parametrize("name", SAMPLES)
def test_every_fault_of_a_bent_document_is_told_in_a_short_sentence_with_its_place(name: str) -> None:
    check, sample = SAMPLES[name]
    dice = random.Random(name)
    for _ in range(100):
        bent = bend(sample, dice)
        root = source.parse(json.dumps(bent), "x").root
        faults = check.faults(root, "x") if root is not None else []
        assert bool(faults) == (not check.faulty.validator.is_valid(bent)), bent
        for _, fault in faults:
            assert fault.span and fault.message and len(fault.message) < 400
            assert "is not of type" not in fault.message and "does not match" not in fault.message


@pytest.mark.parametrize(
    ("name", "text", "said", "label", "help"),
    [
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {takes: soon}\n", "`takes` of `a` is a number, not `soon`",
         "", "How many seconds it usually takes."),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {takes: 0}\n", "`takes` of `a` is more than 0, not `0`", "",
         "How many seconds it usually takes."),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {on_resume: verfy}\n",
         "`on_resume` of `a` is one of repeat, verify, fail, not `verfy`", "did you mean `verify`?", "After an inter"),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {needs: [[b]]}\n",
         "an entry of `needs` of `a` is a text, not a list", "", ""),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {parms: {}}\n", "a skill has no `parms`",
         "did you mean `params`?", "it has: sentence"),
        ("manifest", "version: 1\nskils: s\nkinds: {}\n", "a manifest has no `skils`",
         "did you mean `skills`?", "it has"),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {params: {when: string}}\n",
         "`when` cannot be a name here: it is reserved: any node may carry it", "call it `when_`", ""),
        ("manifest", "version: 1\nskills: s\nkinds:\n  a: {params: {n: {type: integer, default: x}}}\n",
         "`default` of `n` is a whole number, not `x`", "", ""),
        ("head", "version: 1\ntree: t\ninputs: {room: strin}\nroot:\n", "a port has one of these types: any,",
         "did you mean `string`?", ""),
        ("head", "version: 1\nroot:\n", "a tree file lacks its field `tree`", "", "write `tree: …`"),
        ("project", "hzz: 3\n", "a project file has no `hzz`", "did you mean `hz`?", "it has: version"),
    ],
)  # fmt: skip
def test_a_fault_names_what_it_is_about_and_what_was_meant(
    name: str, text: str, said: str, label: str, help: str
) -> None:
    (found,) = SAMPLES[name][0].faults(source.parse(text, "x").sound(), "x")
    fault = found[1]
    assert fault.message.startswith(said)
    assert fault.label == label
    assert fault.help.startswith(help)


def test_what_is_shipped_is_read_without_loading_a_validator() -> None:
    program = (
        "import sys, pathlib\n"
        "from bt_runtime.cli import main\n"
        "main(['validate', 'trees', 'skills'])\n"
        "from bt_runtime.language import guide\n"
        "[guide.sound(path) for path in pathlib.Path('guides').rglob('*.md')]\n"
        "sys.exit('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_file_is_described_to_editors_setting_by_setting() -> None:
    schema = json.loads((ROOT / "schemas" / "project.schema.json").read_text("utf-8"))
    assert list(schema["properties"]) == ["version", *(s.name for s in SETTINGS)]
    assert all(field["description"] for field in schema["properties"].values())
