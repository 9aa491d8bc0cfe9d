"""Every rule of the registry is shown by at least one test."""

from __future__ import annotations

import ast
from pathlib import Path

from bt_runtime.language.kinds.registry import shipped_kinds


def named_rules() -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for call in node.decorator_list:
                    if isinstance(call, ast.Call) and ast.unparse(call.func) in ("rule", "pytest.mark.rule"):
                        kind, *numbers = (ast.literal_eval(a) for a in call.args)
                        found |= {(kind, n) for n in numbers}
    return found


def test_every_rule_is_shown_and_every_rule_that_is_named_exists():
    rules = {(kind.name, n): text for kind in shipped_kinds() for n, text in enumerate(kind.rules, 1)}
    named = named_rules()
    assert not [f"{key}: {rules[key]}" for key in rules if key not in named]
    assert not named - rules.keys()


def test_every_kind_states_rules_and_an_example():
    assert not [kind.name for kind in shipped_kinds() if not kind.rules or not kind.example]
