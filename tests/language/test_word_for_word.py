"""Where a message holds the exact text, the first fix writes it, and the tree is then as meant."""

from __future__ import annotations

import pytest

from bt_runtime.language import fixes
from bt_runtime.language.loader import Loader

HEAD = """\
version: 1
tree: t
blackboard:
  n: {type: integer, default: 0}
  mode: {type: string, default: started, choices: [started, stopped]}
outputs: {k: {type: integer, default: 0}, q: any}
root:
  sequence:
    - set: {k: 1, q: 1}
"""


def mended(node: str) -> str:
    """The node after the first fix of the first fault."""
    text = f"{HEAD}    - {node}\n"
    found = Loader().text(text, "text")
    fault = next(d for d in fixes.fixable(found.diagnostics, found.sources) if d.fixes)
    return fixes.applied(text, fault.fixes[0].edits).removeprefix(f"{HEAD}    - ").rstrip("\n")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("check: mode == stopped", 'check: mode == "stopped"'),
        ('check: "mode == stopped"', "check: \"mode == 'stopped'\""),
        ("log: {mode}", 'log: "{mode}"'),
        ('check: "{n} > 3"', 'check: "n > 3"'),
        ("check: {n > 3}", "check: n > 3"),
        ("check: n > 3 && n < 4", "check: n > 3 and n < 4"),
        ("check: n > 3||n < 4", "check: n > 3 or n < 4"),
        ('log "abc"', 'log: "abc"'),
        ("check: n = 3", "check: n == 3"),
        ("set: {k: k + 1}", 'set: {k: "{k + 1}"}'),
        ("set: {q: n + 1}", 'set: {q: "{n + 1}"}'),
        ("set: q = n + 1", 'set: {q: "{n + 1}"}'),
        ("set: q = 3", "set: {q: 3}"),
        ("wait: 5s", "wait: 5"),
        ("wait: 250 ms", "wait: 0.25"),
        ("wait: until n > 3", "wait: {until: n > 3}"),
        ("set: {mode: stoped}", "set: {mode: stopped}"),
        ("timeout: {duration: 5, child: {log: a}}", "timeout: {seconds: 5, child: {log: a}}"),
        ("retry: {attempts: 3, child: {log: a}}", "retry: {times: 3, child: {log: a}}"),
        ("repeat: {num_cycles: 3, child: {log: a}}", "repeat: {times: 3, child: {log: a}}"),
    ],
)
def test_the_first_fix_is_the_text_that_the_message_holds(written: str, meant: str) -> None:
    """And what it makes loads without an error."""
    assert mended(written) == meant
    assert [d for d in Loader().text(f"{HEAD}    - {meant}\n", "text").diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("timeout: {msec: '{n}', child: {log: a}}", "a millisecond is 0.001"),
        ("parallel: {policy: any, children: [log: a]}", "`success: 1`: one is enough"),
        ('log: "{n:.2f}"', "round(n, 2)"),
        ("wait: {until: {check: n > 1}}", "retry: {times: -1, child: ...}"),
    ],
)
def test_what_no_program_can_mend_is_told_with_a_way_out(written: str, hint: str) -> None:
    found = Loader().text(f"{HEAD}    - {written}\n", "text").diagnostics
    assert any(hint in d.label + d.help for d in found)


def test_a_text_that_only_looks_like_a_sum_is_left_alone() -> None:
    """A quoted one, and one whose words are no entries, are texts."""
    found = Loader().text(f"{HEAD}    - set: {{q: 'n + 1'}}\n    - set: {{q: bread + butter}}\n", "text").diagnostics
    assert [d for d in found if d.code == "BT021"] == []


def test_a_wait_as_another_way_before_the_work_is_told() -> None:
    """It lets the reactive sequence go on for a tick, over and over."""
    root = "reactive_sequence: [fallback: [check: n > 1, wait: 0.5], wait: 60]"
    text = f"version: 1\ntree: t\nblackboard: {{n: integer}}\nroot: {{{root}}}\n"
    assert [d.code for d in Loader().text(text, "text").diagnostics] == ["BT027"]


def test_a_bare_value_is_written_below_the_only_field() -> None:
    """A skill with one optional parameter: `beep 3`, then `beep: 3`, then as it is meant."""
    from bt_runtime import skill
    from bt_runtime.skills.skill import kind_of

    @skill("beep")
    def beep(times: int = 1) -> None: ...

    for written in ("beep 3", "beep: 3"):
        text = f"version: 1\ntree: t\nroot:\n  sequence:\n    - {written}\n"
        found = Loader(skills=(kind_of(beep),)).text(text, "text")
        (fault,) = fixes.fixable(found.diagnostics, found.sources)
        assert "beep: {times: 3}" in fixes.applied(text, fault.fixes[0].edits)


@pytest.mark.parametrize("written, meant", [("yes", "true"), ("On", "true"), ("no", "false"), ("OFF", "false")])
def test_what_other_yaml_reads_as_a_boolean_has_a_fix_where_a_header_takes_one(written: str, meant: str) -> None:
    text = f"version: 1\ntree: t\ninputs: {{a: {{type: boolean, default: {written}}}}}\nroot: {{check: a}}\n"
    found = Loader().text(text, "text")
    (fault,) = fixes.fixable(found.diagnostics, found.sources)
    assert fault.fixes[0].sure and f"default: {meant}}}" in fixes.applied(text, fault.fixes[0].edits)


def test_a_name_with_other_than_ascii_letters_is_refused_in_words() -> None:
    text = "version: 1\ntree: t\ninputs: {größe: {type: number, default: 1}}\nroot: {log: a}\n"
    found = Loader().text(text, "text").diagnostics
    assert any("ASCII letters" in fault.message for fault in found if fault.code == "BT048")
