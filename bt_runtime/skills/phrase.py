"""A skill's sentence with the values for each slot, or a free slot written under a grammar. Up to its first free
slot a sentence is one of finitely many beginnings; the rest is generated in one go. A sentence that begins with a
free slot starts with its skill's name: `say: `, and then the sentence."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from bt_runtime.language.kinds.data import fits
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.sentence import Sentence, spoken
from bt_runtime.types import Json

MOST_COUNTED = 100  # integers between two bounds that are offered one by one
MOST_LETTERS = 200  # of an offered value; a longer one is not put into a sentence
MOST_BEGUN = 1_000  # beginnings of one sentence that are offered one by one, and chosen exactly
MOST_WRITTEN = 120  # characters of a free text
_NUMBER = {"integer": r"(0|-?[1-9][0-9]{0,8})", "number": r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?"}
_QUOTED = rf'[^"\\\x00-\x1f ][^"\\\x00-\x1f]{{0,{MOST_WRITTEN - 1}}}'
_TEXT = rf"[^\s][^\n\r]{{0,{MOST_WRITTEN - 1}}}"


class Slot(NamedTuple):
    name: str
    type: str
    fillers: tuple[Json, ...] | None = None  # allowed values; None: free text
    form: str = ""  # the pattern of a free text

    def pattern(self, text: str) -> str:
        """Returns a regular expression for the slot's values; `text` where any value is allowed."""
        if self.fillers is None:
            return f"({self.form})" if self.form else _NUMBER.get(self.type, text)
        return "(" + "|".join(re.escape(spoken(v)) for v in self.fillers) + ")"


def slot_of(field: Field, given: Sequence[Json] | None = None, form: str = "") -> Slot:
    """Returns a parameter's slot. `given`: its source's present values; None: the parameter's own limits apply.
    `form`: of the texts that may be written."""
    if given is None and field.choices:
        given = field.choices
    elif given is None and field.type == "boolean":
        given = (True, False)
    elif given is None and field.type == "integer" and field.minimum is not None and field.maximum is not None:
        low, high = math.ceil(field.minimum), math.floor(field.maximum)
        given = range(low, high + 1) if high - low < MOST_COUNTED else None
    if given is None:
        return Slot(field.name, field.type, None, form)
    return Slot(field.name, field.type, tuple(dict.fromkeys(v for v in given if _sayable(field, v))))


def _sayable(field: Field, value: Json) -> bool:
    """True when the value fits its slot and can be written in one line."""
    if isinstance(value, list | dict) or value is None or not fits(value, field.type):
        return False
    if field.choices and value not in field.choices:
        return False
    text = spoken(value)
    return 0 < len(text) <= MOST_LETTERS and text.isprintable() and text == text.strip()


class Phrase:
    """One skill's sentence. `beginnings` end with a blank where a free slot follows."""

    def __init__(self, skill: str, sentence: Sentence, slots: Mapping[str, Slot]) -> None:
        self.skill, self.sentence, self.slots = skill, sentence, slots
        self.pieces = sentence.pieces  # text, slot, text, slot, …, text
        names = self.pieces[1::2]
        free = self._first_free(names)
        self.chosen = tuple(dict.fromkeys(names if free is None else names[:free]))  # slots before the first free one
        self.rest = () if free is None else self.pieces[2 * free + 1 :]

    def _first_free(self, names: Sequence[str]) -> int | None:
        """Returns the first slot to be written freely: a free one, or one with too many combinations before it."""
        count, seen = 1, set()
        for i, name in enumerate(names):
            fillers = self.slots[name].fillers
            count *= 1 if name in seen or fillers is None else len(fillers)
            if fillers is None or count > MOST_BEGUN:
                return i
            seen.add(name)
        return None

    @property
    def open(self) -> bool:
        """True when the phrase has a slot that the model fills in freely."""
        return bool(self.rest)

    def __len__(self) -> int:
        """Returns the number of beginnings."""
        return math.prod(len(self.slots[name].fillers or ()) for name in self.chosen)

    def beginnings(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Each possible beginning of the sentence, with the parameters that it contains."""
        for values in itertools.product(*(self.slots[name].fillers or () for name in self.chosen)):
            params = dict(zip(self.chosen, values, strict=True))
            yield self.said(params), params

    def said(self, params: Mapping[str, Json]) -> str:
        head = self.pieces[: len(self.pieces) - len(self.rest)] if self.open else self.pieces
        text = "".join(spoken(params[p]) if i % 2 else p for i, p in enumerate(head))
        if self.open and not text.strip():
            return f"{self.skill}: "
        return f"{text.rstrip()} " if self.open else text

    def joined(self, begun: str, written: str) -> str:
        """Joins a sentence's beginning with the text written after it."""
        last = self.pieces[len(self.pieces) - len(self.rest) - 1]
        spaced = last.endswith(" ") or not last
        return f"{begun.rstrip()}{' ' if spaced else ''}{written.strip()}"

    def pattern(self) -> str:
        """Returns a regular expression for the text after a beginning, up to the end of the line."""
        said = "".join(self.slots[p].pattern(_TEXT) if i % 2 == 0 else re.escape(p) for i, p in enumerate(self.rest))
        return rf" ?{said}\n"

    def quoted(self) -> str:
        """Returns a regular expression for the whole sentence within the double quotes of a plan."""
        return "".join(
            self.slots[p].pattern(_QUOTED) if i % 2 else re.escape(json.dumps(p, ensure_ascii=False)[1:-1])
            for i, p in enumerate(self.pieces)
        )

    def read(self, begun: Mapping[str, Json], written: str) -> dict[str, Json] | None:
        """The parameters of a completed sentence; None when it cannot be parsed back."""
        if not self.open:
            return dict(begun)
        types = {name: slot.type for name, slot in self.slots.items()}
        rest = "".join(f"{{{p}}}" if i % 2 == 0 else p for i, p in enumerate(self.rest))
        read = Sentence(rest, types).parse(written)
        if read is None or any(name in begun and begun[name] != value for name, value in read.items()):
            return None
        named = {name: self._value(name, value) for name, value in read.items()}
        forms = ((slot.form, named[name]) for name, slot in self.slots.items() if slot.form and name in named)
        if any(re.fullmatch(form, spoken(value)) is None for form, value in forms):
            return None
        return {**begun, **named}

    def _value(self, name: str, value: Json) -> Json:
        """Converts a filler's text to its value: a number becomes a number, whatever the slot's type."""
        for filler in self.slots[name].fillers or ():
            if spoken(filler) == spoken(value):
                return filler
        return value


def writable(skill: str, template: str) -> Phrase:
    """True for a sentence whose slots are all free text."""
    sentence = Sentence(template)
    return Phrase(skill, sentence, {name: Slot(name, "string") for name in sentence.slots})


def phrase_of(
    skill: str, template: str, fields: Sequence[Field], given: Mapping[str, Sequence[Json]],
    forms: Mapping[str, str] = MappingProxyType({}),
) -> Phrase | None:  # fmt: skip
    """Returns the phrase of a sentence; None when it lacks a required parameter, or a slot has no value."""
    types = {f.name: f.type for f in fields}
    sentence = Sentence(template, types)
    named = {f.name: f for f in fields if not f.writes}
    if any(f.required and f.name not in sentence.slots for f in named.values()) or not {*sentence.slots} <= {*named}:
        return None
    slots = {name: slot_of(named[name], given.get(name), forms.get(name, "")) for name in sentence.slots}
    phrase = Phrase(skill, sentence, slots)
    return phrase if all(s.fillers is None or s.fillers for s in slots.values()) else None
