"""Experiences as text files: JSON Lines in and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError, Faults
from bt_runtime.memory import starter
from bt_runtime.memory.experience import ENDS, Experience, from_json, lines, normalise, read_jsonl, wrong

Make = Callable[..., Any]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
anything = st.builds(
    Experience,
    goal=text.filter(str.strip),
    text=text,
    end=st.sampled_from(ENDS),
    namespace=text,
    task=text,
    run=text,
    place=text,
    verdict=st.sampled_from([True, False, None]),
    tokens=st.integers(0, 10**6),
    when=st.floats(0, 4e9),
)


@settings(max_examples=150, derandomize=True)
@given(st.lists(anything, max_size=4))
def test_a_file_gives_back_what_was_written(tmp_path_factory: Any, found: list[Experience]) -> None:
    """Export and import are inverse, whatever the text: line ends inside it, quotes, any script."""
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    starter.write(path, found)
    assert read_jsonl(path) == found
    assert [json.loads(line)["id"] for line in lines(found)] == [e.uid for e in found]


@settings(max_examples=150, derandomize=True)
@given(text)
def test_normalising_twice_is_normalising_once(goal: str) -> None:
    """A normalised goal is its own normal form, and differs in nothing but case and space."""
    once = normalise(goal)
    assert normalise(once) == once
    assert normalise(f"  {goal}\n") == once


def test_every_bad_line_is_named_at_once(tmp_path: Path) -> None:
    """One reading tells all faults of a file with their lines, and what was probably meant."""
    path = tmp_path / "bad.jsonl"
    good = '{"goal": "g", "text": "t", "end": "success"}'
    bad = [
        "{",
        "[1]",
        '{"goal": "g", "text": "t", "end": "done"}',
        '{"goal": "g", "text": "t", "end": "success", "verdit": true}',
        '{"goal": "g", "end": "success"}',
        '{"goal": "g", "text": "t", "end": "success", "tokens": true}',
        '{"goal": " ", "text": "t", "end": "success"}',
        '{"goal": "\\ud800", "text": "t", "end": "success"}',
        "[" * 100_000,
    ]
    path.write_text("\n".join([good, "", *bad, good]))
    with pytest.raises(Faults) as told:
        read_jsonl(path)
    found = told.value.diagnostics
    assert [d.span.line for d in found if d.span] == list(range(3, 3 + len(bad)))
    assert "did you mean `verdict`?" in str(found[3])
    assert [d.span.column for d in found if d.span][2:6] == [35, 46, 1, 56]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Missing files, folders and other encodings are errors in words."""
    (tmp_path / "latin").write_bytes(b'{"goal": "K\xfcche"}')
    for path, words in ((tmp_path / "no", "cannot read"), (tmp_path, "cannot read"), (tmp_path / "latin", "UTF-8")):
        with pytest.raises(BtError, match=words):
            read_jsonl(path)
    with pytest.raises(BtError, match="no file and no starter"):
        starter.read_named("nothing-of-this-name")


def test_the_id_follows_the_content(lived: Make) -> None:
    """What was lived decides the id; who counted its tokens and when does not."""
    one = lived()
    assert one.uid == lived(tokens=5, when=3.0).uid
    others = {"text": "b", "end": "expand", "namespace": "n", "task": "t", "run": "r", "place": "/", "verdict": None}
    assert len({one.uid, *(lived(**{name: value}).uid for name, value in others.items())}) == 1 + len(others)
    assert wrong(one.to_json()) is None
    assert from_json(one.to_json()) == one


def test_starters_are_good_examples() -> None:
    """Every shipped experience reads, is of a met task, ends as its text says, and shows all three endings."""
    found = [e for name in starter.shipped() for e in starter.read_named(name)]
    assert len(found) >= 30
    assert {e.end for e in found} == set(ENDS)
    assert len({e.uid for e in found}) == len(found)
    for e in found:
        last = e.text.split("\n")[-1]
        assert e.verdict is True
        assert f"Your task is to: {e.goal}" in e.text
        assert last == {"success": "Act: done", "failure": "Act: failure"}.get(e.end, last)
        assert (e.end == "expand") == ("Expand:" in e.text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", 10**30), ("tokens", -(10**400)), ("when", float("nan")), ("when", float("inf")),
        ("goal", "a" * 5_000_000), ("text", "a" * 3_000_000), ("kind", "k" * 2_000),
    ],
)  # fmt: skip
def test_a_number_or_a_text_that_no_store_can_hold_is_a_fault_of_its_line(name, value, tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"goal": "a", "text": "b", "end": "success", name: value}) + "\n")
    with pytest.raises(Faults) as raised:
        read_jsonl(path)
    assert f"`{name}`" in str(raised.value)


def test_beyond_a_hundred_bad_lines_the_rest_are_counted(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text("[]\n" * 100_000)
    with pytest.raises(Faults) as raised:
        read_jsonl(path)
    assert len(raised.value.diagnostics) == 100
    assert raised.value.diagnostics[-1].help == "and 99,900 more below; fix these first"
