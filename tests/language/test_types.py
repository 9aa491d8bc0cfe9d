"""Types flow through expressions: what can never be done is a fault before the first tick, what is open is not."""

from __future__ import annotations

import itertools

import pytest

from bt_runtime.language.checks.types import clashes, type_of
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.kinds.data import flows, type_name
from bt_runtime.language.loader import Loader
from bt_runtime.plugins import compile
from bt_runtime.types import Json

HEAD = """version: 1
tree: t
inputs: {n: integer, x: number, ok: boolean, room: string, way: list, map: object, open: any}
root:
  sequence:
    - log: "{n} {x} {ok} {room} {way} {map} {open}"
    - """
VALUES: dict[str, list[Json]] = {
    "n": [2, 1], "x": [0.5], "ok": [True], "room": ["hall", "3"], "way": [[1, 2, 3]], "map": [{"a": 1}],
}  # fmt: skip
KNOWN = {"n": "integer", "x": "number", "ok": "boolean", "room": "string", "way": "list", "map": "object"}


def said(node: str) -> list[str]:
    return [f"{d.severity} {d.code}: {d.message} ({d.label})" for d in Loader().text(f"{HEAD}{node}\n").diagnostics]


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        ('check: n > "a"', "error BT034: a number and text have no order (`n` is an integer)"),
        ('check: n + "a" == "2a"', "error BT034: a number and text cannot be added (`n` is an integer)"),
        ("log: 'at {room + n}'",
         "error BT034: text and a number cannot be added (`n` is an integer, `room` is a string)"),
        ("set: {a: ['{upper(n)}']}\n    - log: '{a}'", "error BT034: text is needed here, and this is a number "
         "(`n` is an integer)"),
        ("check: room < 3 if ok else false", "error BT034: text and a number have no order (`room` is a string)"),
        ("check: ok and room in n", "error BT034: nothing can be in a number (`n` is an integer, `room` is a string)"),
        ("check: way['a'] > 1", "error BT034: items of a list are counted by whole numbers, and this is text ()"),
        ("check: 1 < len(n)", "error BT034: a number has no length (`n` is an integer)"),
        ("wait: '{room + \"s\"}'", "error BT021: `seconds` takes a number, and this is a string ()"),
        ("wait: '{n > 1}'", "error BT021: `seconds` takes a number, and this is a boolean ()"),
        ('check: n == "2"', "warning BT034: a number is never equal to text (`n` is an integer)"),
    ],
)  # fmt: skip
def test_what_can_never_be_done_is_said_before_the_first_tick(node: str, fault: str) -> None:
    found = said(node)
    assert [set(f.strip(")").replace(" (", ", ").split(", ")) for f in found] == [
        set(fault.strip(")").replace(" (", ", ").split(", "))
    ]


@pytest.mark.parametrize(
    "node",
    ["check: open > 'a'", "check: n > x", "check: map['a'] > 'b'", "check: way[0] > 'b'", "check: open + n > 2",
     "wait: '{n * 2}'", "check: (n if ok else room) == 3", "check: max(way) > 2", "check: (open or n) < 3",
     "check: n == null", "check: not exists(n) or n > 1", "check: ok == 1"],
)  # fmt: skip
def test_what_nobody_can_know_is_no_fault(node: str) -> None:
    assert said(node) == []


def test_an_entry_of_a_type_is_not_written_with_another() -> None:
    text = 'version: 1\ntree: t\noutputs: {total: integer}\ninputs: {room: string}\nroot:\n  set: {total: "{VALUE}"}\n'
    for value, wrong in (
        ("room + 's'", True),
        ("len(room)", False),
        ("len(room) / 2", True),
        ("sum([len(room)])", False),
        ("float(room)", True),
    ):
        codes = [d.code for d in Loader().text(text.replace("VALUE", value)).diagnostics]
        assert (codes == ["BT021"]) is wrong, value


def test_the_place_is_that_of_the_part_that_clashes() -> None:
    (fault,) = Loader().text(f'{HEAD}check: ok and (n > "a")\n').diagnostics
    assert fault.span is not None and (fault.span.line, fault.span.column) == (7, 22)


NAMES = [*KNOWN, "1", "'a'", "true", "[1]"]
FORMS = [
    *(f"{{0}} {sign} {{1}}" for sign in ("+", "-", "*", "/", "//", "%", "**", "<", ">=", "==", "in", "and", "or")),
    "{0}[{1}]", "{0}[{1}:]", "-{0}", "not {0}", "{0} if {1} else 1", "[{0}, {1}]", "round({0}, {1})", "join({0}, {1})",
    *(f"{word}({{0}})" for word in ("abs", "bool", "float", "int", "len", "lower", "max", "round", "str", "sum")),
    *(f"{word}({{0}}, {{1}})" for word in ("endswith", "split", "startswith", "min")),
]  # fmt: skip


def test_the_checks_and_the_run_agree_on_every_operation_and_every_pair_of_types() -> None:
    """What is called a clash fails with whatever values; what gives a type gives a value of that type."""
    tried = 0
    for form, one, other in itertools.product(FORMS, NAMES, NAMES):
        try:
            made = compile(form.format(one, other))
        except ExpressionError:
            continue  # of constants alone, and told by the text
        clash = [each for each in clashes(made, KNOWN) if not each.never]
        gives = type_of(made, KNOWN)
        choices = [[(name, value) for value in VALUES[name]] for name in made.names]
        for scope in map(dict, itertools.product(*choices)):
            tried += 1
            try:
                value = made.evaluate(scope)
            except ExpressionError:
                continue
            assert not clash, f"{made.text} with {scope} gives {value!r}, and {clash} was said"
            assert gives is None or flows(type_name(value), gives), f"{made.text} gives {value!r}, not {gives}"
    assert tried > 2000
