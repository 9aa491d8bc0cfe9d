"""The commonest mistakes: each is told where it is, once, and how it is written here."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from bt_runtime import Diagnostic
from bt_runtime.language.loader import Loader


class Slip(NamedTuple):
    root: str
    code: str
    at: tuple[int, int]  # line below `root:`, column
    way_out: str  # in the label or the help
    head: str = ""


SLIPS = {
    "a hole in a guard": Slip('log: {text: x, when: "{n > 3}"}', "BT030", (1, 25), "no braces here: `n > 3`"),
    "a hole in a test": Slip('check: "{n} > 3"', "BT030", (1, 11), "no braces here: `n > 3`"),
    "a hole without quotes in a test": Slip("check: {n > 3}", "BT016", (1, 10), "no braces here: `check: n > 3`"),
    "a hole without quotes in a guard": Slip(
        "log: {text: x, when: {n > 3}}", "BT016", (1, 24), "no braces here: `when: n > 3`"
    ),
    "a text without quotes": Slip(
        "check: room == kitchen", "BT023", (1, 18), 'if it is a text: `"kitchen"`', "inputs: {room: string}\n"
    ),
    "a hole without quotes": Slip("log: {room}", "BT016", (1, 8), 'quote it: `log: "{room}"`'),
    "a hole without quotes in a field": Slip(
        "fail: {why: {room}}", "BT016", (1, 15), 'quote it: `"{room}"`', "inputs: {room: string}\n"
    ),
    "a comma in a port's text": Slip(
        "log: '{level}'", "BT048", (-1, 47), "a comma ends the value before it: quote that",
        "inputs: {level: {type: number, about: 0 to 1, from the BMS}}\n",
    ),
    "a comma in a field": Slip(
        "log: {text: hello, my friend}", "BT013", (1, 22), "a comma ends the value before it: quote that"
    ),
    "a guard one level up": Slip(
        "sequence:\n- log: a\n  when: x > 1", "BT014", (3, 5), "write `log: {text: a, when: x > 1}`"
    ),
    "fields that are not indented": Slip(
        "sequence:\n- log:\n  text: a", "BT014", (3, 5), "indent `text` further than `log`"
    ),
    "a second node without its dash": Slip(
        "sequence:\n- log: a\n  check: x > 1", "BT014", (3, 5), "a second node begins a line with `- `"
    ),
    "a child that stands as a field": Slip(
        "timeout: {seconds: 3, sequence: [log: a]}", "BT013", (1, 25), "put it below `child:`"
    ),
    "a test that begins with quotes": Slip(
        'check: "room" == "x"', "BT005", (1, 17), """quote the whole: `check: '"room" == "x"'`"""
    ),
    "a line without its colon": Slip('log "abc"', "BT014", (1, 3), 'a colon and a space: `log: "abc"`'),
    "a line without its colon, in a list": Slip(
        'sequence:\n- log "abc"', "BT014", (2, 5), 'a colon and a space: `log: "abc"`'
    ),
    "a colon without its space": Slip("sequence:\n- log:abc", "BT014", (2, 5), "a colon and a space: `log: abc`"),
}  # fmt: skip


def found(root: str, head: str = "") -> list[Diagnostic]:
    body = root.replace("\n", "\n  ")
    return list(Loader().text(f"version: 1\ntree: t\n{head}root:\n  {body}\n").diagnostics)


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_one_fault_with_its_place_and_the_way_out(slip: Slip) -> None:
    """Names that nobody writes may be missed besides."""
    first = [d for d in found(slip.root, slip.head) if d.code != "BT023" or slip.code == "BT023"]
    assert len(first) == 1, [str(d) for d in first]
    fault = first[0]
    top = 3 + slip.head.count("\n")
    assert fault.span is not None
    assert (fault.code, fault.span.line - top, fault.span.column) == (slip.code, *slip.at)
    assert slip.way_out in f"{fault.label} {fault.help}"


def test_nodes_below_an_unknown_kind_are_checked_too() -> None:
    """All faults at once: those of kinds, fields, expressions and names, wherever the first one is."""
    faults = found(
        "Sequence:\n- check: n >\n- logg: a\n- log: {txt: a}\n- check: nobody > 3\n"
        "- RetryUntilSuccessful:\n    num: 3\n    child:\n      log: {level: loud, text: b}"
    )
    assert [(d.code, d.span and d.span.line) for d in faults] == [
        ("BT012", 4), ("BT030", 5), ("BT012", 6), ("BT013", 7), ("BT023", 8), ("BT012", 9), ("BT016", 12),
    ]  # fmt: skip


def test_names_are_missed_although_an_expression_is_at_fault() -> None:
    codes = [d.code for d in found("sequence:\n- check: 3 >\n- check: nobody > 3")]
    assert codes == ["BT030", "BT023"]


@pytest.mark.parametrize(
    "lost",
    ["check: here >", "set: {here: '{1 +}'}", "drive: {to: '{here}'}", "log: {txt: '{here}'}", "set: [here]",
     "tree: {file: nowhere, with: {found: '{here}'}}", "[set: {here: 1}]"],
)  # fmt: skip
def test_what_could_not_be_read_may_have_written_what_it_names(lost: str) -> None:
    """One fault does not bring others about entries that it would have written or read."""
    faults = found(f"sequence:\n- {lost}\n- check: here > 1\n- set: {{here: 2}}")
    assert not [str(d) for d in faults if d.code in ("BT023", "BT024")]
    faults = found(f"sequence:\n- {lost}\n- check: here > 1")
    assert not [str(d) for d in faults if d.code == "BT023"]


@pytest.mark.parametrize(
    "writes", ["log: {text: a, on_success: {foo: 1}}", "set: {foo: 1}", "for_each: {in: [1], as: foo, child: {log: a}}"]
)
@pytest.mark.parametrize(
    "asks", ["check: exists(foo)", "log: 'is it? {exists(foo)}'", "set: {a: ['{exists(foo)}']}\n- check: a[0]"]
)
def test_an_entry_that_is_only_asked_about_is_read(writes: str, asks: str) -> None:
    assert found(f"sequence:\n- {asks}\n- {writes}") == []


@pytest.mark.parametrize(
    ("port", "fault"),
    [
        ("{type: number, minimum: 0, maximum: 1, default: 0.5}", ""),
        ("{type: number, minimum: 0, default: -1}", "the default of `level` is -1, and it takes 0 or more"),
        ("{type: string, minimum: 0, default: a}", "`level` has bounds, and is no number"),
        ("{type: integer, minimum: 3, maximum: 1}", "no number is within the bounds of `level`"),
        ("{type: integer, minimum: low, default: 1}", "`minimum` of `level` is a number, not `low`"),
    ],
)
def test_bounds_of_a_port_are_sound_themselves(port: str, fault: str) -> None:
    faults = [d.message for d in found("log: '{level}'", f"inputs: {{level: {port}}}\n")]
    assert [each for each in faults if "BT" not in each] == ([fault] if fault else [])
