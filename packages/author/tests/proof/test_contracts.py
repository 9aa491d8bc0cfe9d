"""What manifests say that skills need and bring is part of the model, where it can be read as entries."""

from __future__ import annotations

from typing import Any

import pytest

from bt_author.proof.check import check
from bt_runtime import load
from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.plugins import Field
from tests.support.random_trees import SKILLS

TREE = """\
version: 1
tree: t
blackboard:
  door_open: {type: boolean, default: false}
  key_held: {type: boolean, default: false}
  holding: {type: string, default: "", choices: ["", cup, plate]}
properties:
  p: {never: lift is running}
root:
  sequence:
    %s
"""


def _skill(name: str, *fields: Field, **more: Any) -> Any:
    return skill_kind(name, "", fields, SkillEntry(name, "python", "", {}, **more))


KINDS = (
    *SKILLS, _skill("unlock", brings=("door open",)), _skill("lock", brings=("not door open",)),
    _skill("unbolt", needs=("key held",), brings=("door open",)), _skill("kick", brings=("the neighbours awake",)),
    _skill("take", Field("thing", "string", ""), brings=("holding {thing}",)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("children", "outcome"),
    [
        ("[unlock: {}, {fallback: [check: door_open, lift: {}]}]", "proved"),
        ("[lock: {}, {fallback: [check: not door_open, lift: {}]}]", "proved"),
        ("[lock: {}, {fallback: [check: door_open, lift: {}]}]", "refuted"),
        ("[go: {}, {fallback: [check: door_open, lift: {}]}]", "refuted"),  # it brings nothing
        ("[kick: {}, {fallback: [check: door_open, lift: {}]}]", "refuted"),  # what no entry tells
        ("[unlock: {}, go: {}, {fallback: [check: door_open, lift: {}]}]", "refuted"),  # later it may be shut again
        ("[unbolt: {}, {fallback: [check: door_open, lift: {}]}]", "refuted"),  # perhaps it had no key
        ("[check: key_held, unbolt: {}, {fallback: [check: door_open, lift: {}]}]", "proved"),
        ("[take: {thing: cup}, {fallback: [check: 'holding == \"cup\"', lift: {}]}]", "proved"),
        ("[take: {thing: cup}, {fallback: [check: 'holding == \"plate\"', lift: {}]}]", "refuted"),
    ],
)
def test_what_a_skill_brings_holds_when_it_has_succeeded(children: str, outcome: str) -> None:
    """Unless a need was false at its start; a refuted one has a story that the engine follows."""
    [result] = check(load(TREE % children, skills=KINDS))
    assert result.outcome == outcome
    assert (outcome == "proved") is any("brings" in text for text in result.doubts)
