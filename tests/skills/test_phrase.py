"""A skill's sentence with its slots: what is offered, what is written, and that both read back as what was meant."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.language.agent_options import formless
from bt_runtime.plugins import Field
from bt_runtime.skills.phrase import MOST_BEGUN, Phrase, phrase_of


def phrase(template: str, *fields: Field, **given: Any) -> Phrase | None:
    return phrase_of("skill", template, fields, given)


def slot(name: str, type: Any = "string", **about: Any) -> Field:
    return Field(name, type, "", True, **about)


def test_slots_with_choices_bounds_or_a_source_are_offered_one_by_one() -> None:
    fields = (slot("side", choices=("left", "right")), slot("n", "integer", minimum=1, maximum=2), slot("thing"))
    found = phrase("turn {side} {n} to {thing}", *fields, thing=["cup", 3, "a\nb", " x", "plate"])
    assert found is not None and not found.open
    assert [said for said, _ in found.beginnings()][:3] == [
        "turn left 1 to cup", "turn left 1 to plate", "turn left 2 to cup",
    ]  # fmt: skip
    assert len(found) == 8


def test_a_free_slot_and_all_behind_it_are_written() -> None:
    found = phrase("put {thing} at {x} {y}", slot("thing"), slot("x", "number"), slot("y", "number"), thing=["cup"])
    assert found is not None
    assert [*found.beginnings()] == [("put cup at ", {"thing": "cup"})]
    assert re.fullmatch(found.pattern(), " 0.5 -1\n")
    assert not re.fullmatch(found.pattern(), " 0.5 far\n")
    assert found.read({"thing": "cup"}, "0.5 -1") == {"thing": "cup", "x": 0.5, "y": -1.0}


def test_a_free_text_with_a_form_is_written_and_read_in_that_form_alone() -> None:
    found = phrase_of(
        "skill", "note {code} for {who}", (slot("code"), slot("who")), {}, {"code": "[A-Z]{2}-[0-9]{1,3}"}
    )
    assert found is not None and found.open
    assert re.fullmatch(found.pattern(), " AB-12 for Ada\n") and not re.fullmatch(found.pattern(), " ab-12 for Ada\n")
    assert found.read({}, "AB-12 for Ada") == {"code": "AB-12", "who": "Ada"}
    assert found.read({}, "AB-1234 for Ada") is None, "a model without grammars may write it"
    assert re.fullmatch(found.quoted(), "note AB-1 for Ada") and not re.fullmatch(found.quoted(), "note A for Ada")


@pytest.mark.parametrize(
    ("text", "why"),
    [("/[A-Z]{3}(-[0-9]{1,4})?/", ""), ("seen", ""), (r"/\d{2}\.\d/", ""), ("/a|b/", ""),
     ("/[A-Z]+/", "`+`"), ("/.{3}/", "`.`"),
     ("/[^a]{3}/", "`[`"), ("/a{2/", "`{`"), ('/"{2}/', '`"`'), ("/(a/", "missing")],
)  # fmt: skip
def test_a_form_is_bounded_and_breaks_out_of_no_quotes(text: str, why: str) -> None:
    told = formless(text)
    assert (why in told) if why else not told, told


def test_too_many_beginnings_are_cut_at_a_slot_whose_fillers_are_then_alternatives() -> None:
    names = [f"thing {i}" for i in range(40)]
    found = phrase("swap {a} with {b}", slot("a"), slot("b"), a=names, b=names)
    assert found is not None and found.open
    assert len(found) == 40 <= MOST_BEGUN
    assert re.fullmatch(found.pattern(), " thing 7\n")
    assert not re.fullmatch(found.pattern(), " thing 77\n")
    assert found.read({"a": "thing 1"}, "thing 7") == {"a": "thing 1", "b": "thing 7"}


@pytest.mark.parametrize(
    "template, fields, given",
    [
        ("go", [slot("place")], {}),  # what must be given stands not in it
        ("go to {place}", [slot("place")], {"place": []}),
        ("go to {plce}", [slot("place")], {}),
    ],
)
def test_what_cannot_be_said_is_not_offered(template: str, fields: list[Field], given: Any) -> None:
    assert phrase(template, *fields, **given) is None


def test_a_sentence_that_begins_with_a_free_slot_is_begun_by_the_name_of_its_skill() -> None:
    found = phrase("{text} is said {side}", slot("text"), slot("side", choices=("loudly", "softly")))
    assert found is not None
    assert [*found.beginnings()] == [("skill: ", {})]
    assert re.fullmatch(found.pattern(), " hello there is said softly\n")
    assert found.read({}, "hello there is said softly") == {"text": "hello there", "side": "softly"}


WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=8)
VALUES = {"string": WORDS, "integer": st.integers(-999, 999), "number": st.floats(-99, 99).map(lambda x: round(x, 3))}
TYPES = st.sampled_from([*VALUES])


@given(st.data())
def test_what_is_offered_and_written_reads_back_as_it_was_meant(data: st.DataObject) -> None:
    """Whatever the types: a filler of a source keeps its value, a written one its type."""
    kinds = data.draw(st.lists(st.tuples(TYPES, st.booleans()), min_size=1, max_size=3))
    fields = [slot(f"s{i}", type) for i, (type, _) in enumerate(kinds)]
    template = "do " + " and ".join(f"{{s{i}}}" for i in range(len(kinds)))
    values = {f"s{i}": data.draw(VALUES[type]) for i, (type, _) in enumerate(kinds)}
    sources = {f"s{i}": [values[f"s{i}"]] for i, (_, sourced) in enumerate(kinds) if sourced}
    found = phrase(template, *fields, **sources)
    assert found is not None
    ((said, begun),) = found.beginnings()
    whole = found.sentence.say(values)
    rest = whole.removeprefix(said.strip())
    if any(isinstance(v, str) and " and " in v for v in values.values()):
        return
    if found.open and not re.fullmatch(found.pattern(), f"{rest}\n"):
        assert any("e" in str(v) for v in values.values() if isinstance(v, float)), whole  # 1e-05 is not written so
        return
    assert found.read(begun, rest.strip()) == values
