"""What a model may write: the smaller language, within its limits, as data and as a schema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from bt_runtime.language.emit.dialect import Form, FormField, NotEmittable, PlanLimits, expansion_schema, form_of, forms
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.plugins import Field, Kind

EXPANSION = """\
sequence:
- fallback:
  - find and pick up the apple in kitchen 1
  - find and pick up the apple in living room 1
- act: go to fridge 1
- put down the apple in the fridge
"""


def accepted(plan: Any, limits: PlanLimits | None = None) -> bool:
    return jsonschema.Draft7Validator(expansion_schema(shipped_kinds(), limits or PlanLimits())).is_valid(plan)


def nested(depth: int) -> Any:
    plan: Any = "a subgoal"
    for _ in range(depth):
        plan = {"sequence": [plan]}
    return plan


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(expansion_schema(shipped_kinds()))


def test_an_expansion_of_control_subgoals_and_acts_is_accepted() -> None:
    assert accepted(yaml.safe_load(EXPANSION))
    assert accepted({"parallel": ["one", "two"]})
    assert accepted({"fallback": [{"act": "look around"}, {"fail": "not here"}, {"fail": {"why": "not here"}}]})


@pytest.mark.parametrize(
    "plan",
    [
        "a bare subgoal is no expansion",
        {"act": "go to fridge 1"},
        {"seqence": ["one"]},
        {"sequence": []},
        {"sequence": ["one"], "fallback": ["two"]},
        {"sequence": [""]},
        {"sequence": [{"check": "battery > 0"}]},
        {"sequence": [{"tree": "other"}]},
        {"sequence": {"name": "x", "children": ["one"]}},
        {"sequence": [{"act": {"place": "fridge 1"}}]},
        [],
        None,
    ],
)
def test_what_is_not_in_the_dialect_is_refused(plan: Any) -> None:
    assert not accepted(plan)


def test_the_budget_is_in_the_schema() -> None:
    limits = PlanLimits(depth=2, width=3, string=10)
    assert accepted(nested(2), limits)
    assert not accepted(nested(3), limits)
    assert accepted({"sequence": ["a"] * 3}, limits)
    assert not accepted({"sequence": ["a"] * 4}, limits)
    assert accepted({"sequence": ["a" * 10]}, limits)
    assert not accepted({"sequence": ["a" * 11]}, limits)


def test_the_forms_are_those_of_the_kinds_that_are_marked_and_act() -> None:
    names = [form.name for form in forms(shipped_kinds())]
    assert names == [*(kind.name for kind in shipped_kinds() if kind.emit), "act"]
    assert forms(shipped_kinds())[-1] == Form("act", "sentence")


def test_a_form_has_the_fields_that_are_needed_and_no_others() -> None:
    child = Field("child", "node", "A node.", required=True)
    status = Field("status", "word", "A word.", required=True, choices=("success", "failure"))
    optional = Field("level", "integer", "A number.", default=1)
    kind = Kind("force", "decorator", "Forces.", (status, optional, child), emit=True)
    assert form_of(kind) == Form("force", "child", (FormField("status", ("success", "failure")),))
    assert form_of(shipped_kinds()["sequence"]) == Form("sequence", "children")
    assert form_of(shipped_kinds()["fail"]) == Form("fail", "leaf", (FormField("why", "string"),))


@pytest.mark.parametrize("name", ["if", "switch", "try", "set"])
def test_a_kind_that_a_model_could_not_write_cannot_be_marked(name: str) -> None:
    with pytest.raises(NotEmittable):
        form_of(shipped_kinds()[name])
