"""What broke is no failed episode: `btr lab eval` says how many, and ends with another number."""

from __future__ import annotations

import inspect

from bt_lab.cli.eval import broken
from bt_lab.run.outcome import Outcome
from bt_runtime.cli import Exit
from bt_runtime.cli.setup.trust_prompt import _in_files, addresses


def outcome(**told: object) -> Outcome:
    needed = [n for n, p in inspect.signature(Outcome).parameters.items() if p.default is inspect.Parameter.empty]
    return Outcome(**{**dict.fromkeys(needed, ""), **told})  # type: ignore[arg-type]


def test_episodes_that_broke_are_told_and_end_the_command_with_1(capsys):
    assert broken([outcome(), outcome(success=False)]) == Exit.SUCCESS
    assert capsys.readouterr().err == ""
    assert broken([outcome(), outcome(error="http://h answered 429: busy")]) == Exit.FAILURE
    said = capsys.readouterr().err
    assert "1 of 2 episodes broke" in said and "429" in said and "--retry" in said


def test_python_inside_a_models_mapping_is_found():
    for given in ({"file": "evil.py:Name", "context": 5}, '{"file": "evil.py:Name", "context": 5}'):
        assert [*_in_files((given,))] == ["evil.py:Name"]


def test_an_address_inside_a_models_mapping_is_found():
    """Whether a folder may send questions there is asked whatever form names it."""
    far = "https://far.example.com"
    for named in ({"planner": {"server": far, "name": "q"}}, f"{{server: '{far}', name: q}}", {"server": far}):
        assert addresses(named) == [far]
