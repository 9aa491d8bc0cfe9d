"""The parts of a goal in words, which values each names, and what it leaves out. The English words that a goal is taken
apart by stand here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from bt_runtime.types import Json

_BETWEEN = re.compile(r",? and then |,? then |,? and |, ", re.IGNORECASE)  # between single blanks
_EVERY = re.compile(r"\b(?:all|every|each|both)\b", re.IGNORECASE)
_EXCEPT = re.compile(r"\b(?:except|apart from|but)\b", re.IGNORECASE)
_FORBIDS = re.compile(r"(?:please\s+)?(?:do not|don't|never)\b", re.IGNORECASE)
_POLITE = re.compile(r"^please\s+", re.IGNORECASE)
_UNSAYABLE = re.compile(r"\b(?:until|when|whenever|otherwise|else)\b", re.IGNORECASE)
_LATER = re.compile(r"(?:and |only )?(?:then|after that|afterwards),? ", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.;!?]) ")
_IF_FIRST = re.compile(r"(?P<word>if|unless) (?P<test>.+?)(?:, (?:then )?| then )(?P<rest>.+)", re.IGNORECASE)
_IF_LAST = re.compile(r"(?P<rest>.+?),? (?P<word>if|unless) (?P<test>.+)", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)  # tried where no other pattern fits
_DENIES = re.compile(r"\b(?:not|no longer) |n't\b", re.IGNORECASE)
_FILLING = re.compile(
    r"(?:the|an?|of|to|at|on|in|into|also|please|every|all|each|both|some|one|1|too)\b", re.IGNORECASE
)
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
_COUNTS = {form: number for number, word in enumerate(_COUNTED, 2) for form in (word, str(number))}
_COUNT = re.compile(rf"\b({'|'.join(_COUNTS)})(?:\s+\w+)?\s+\w+s\b|\b({'|'.join(_COUNTED)})\s+\w+", re.IGNORECASE)
_THEM = re.compile(r"\bthem\b", re.IGNORECASE)
_REFERS = re.compile(r"\b(?:it|them)\b(?! (?:is|was|has|will)\b)", re.IGNORECASE)
_ARTICLES = {"the", "a", "an", "of", "no", "some", "all", "every", "each", "both"}
_PARTICLES = {"on", "off", "up", "down", "in", "out", "away", "back"}  # directly behind a verb, or at the end
_PLAIN_VERBS = {"switch": "turn", "shut": "close", "start": "turn on", "run": "turn on", "stop": "turn off"}
STEM = 4  # letters that two forms of a word share at least
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r" \d+$")


class GoalPart(NamedTuple):
    """A part of a goal that asks for one fact, or for one of every thing."""

    text: str  # the part's demand in words
    left_out: str  # the words behind `except`
    others: str  # the goal's other parts
    test: str = ""  # what must hold, else nothing is demanded
    denied: bool = False  # … or must not be so
    later: bool = False  # must come after the part before

    @property
    def sentence(self) -> str:
        return f"{self.text[0].upper()}{self.text[1:]}."

    @property
    def every(self) -> bool:
        return _EVERY.search(self.text) is not None

    def plural(self, noun: str) -> bool:
        """Returns whether it says the plural of a noun, or counts it: `two apple`."""
        words = _WORD.findall(self.text.lower())
        counted = {after for word, after in pairwise(words) if word in _COUNTED}
        return bool(noun) and (plural_of(noun.lower()) in words or noun.lower() in counted)

    @property
    def refers(self) -> bool:
        """True when it speaks of what another part names: `start it`."""
        return _REFERS.search(self.text) is not None

    @property
    def refers_to_several(self) -> bool:
        return _THEM.search(self.text) is not None

    @property
    def many(self) -> int | None:
        """How many it asks for: `two apples`; None where it does not say."""
        found = None if self.every else _COUNT.search(self.text)
        return _COUNTS[(found[1] or found[2]).lower()] if found is not None else None

    def says(self, action: str, values: Iterable[Json]) -> int:
        """How many words of an action of these values it says, as an order: `put a hot bread in the sink`. 0 where it
        begins otherwise, leaves one out, or names not all of the values and does not refer to one by `it`."""
        every = [*values]
        if not self.refers and not all(meant(self.text, [value]) for value in every):
            return 0
        said, words = _words(_POLITE.sub("", self.text)), own_words(action, every)
        begins = bool(said) and said[0] in words and said[0] == _words(action)[0]
        return len(words) if begins and words <= {"the", "a", "an", *said} else 0

    def says_verb(self, action: str, values: Iterable[Json]) -> bool:
        """True when it says the verb of an action with its particle, whatever the ending: `the crane shall be towed`,
        `switch it on`. A word behind an article or `every` is a noun: `the paint` says nothing of `paint {wall}`."""
        told = {word for value in values for word in _words(value)}
        said = [word for before, word in pairwise(["", *_words(self.text)]) if before not in _ARTICLES]
        own = _words(action)
        verb, *particles = (*_plain(own[0]), *(word for word in (*own[1:2], *own[-1:]) if word in _PARTICLES))
        forms = [form for word in said if word not in told for form in _plain(word)]
        return any(same_stem(verb, form) for form in forms) and {*particles} <= {*forms}

    def only_names(self, values: Iterable[Json]) -> bool:
        """True when nothing but these values stands in it: `the fern`."""
        names = [form for value in values for form in (value, *_forms(value))]
        known = {*_COUNTS, *(word for name in names for word in _words(name))}
        return all(word in known or _FILLING.fullmatch(word) for word in _words(self.text))


def parts(goal: str) -> list[GoalPart]:
    """The goal's parts, in order. What must not be done asks for no fact, and is left out."""
    every = [part for part in _apart(goal) if part.text.strip()]
    texts = [part.text for part in every]
    found = []
    for number, part in enumerate(every):
        if not _FORBIDS.match(part.text):
            cut = _EXCEPT.search(part.text)
            at = cut.start() if cut and cut.start() else len(part.text)
            others = [*texts[:number], *texts[number + 1 :], part.test]
            main, left_out = part.text[:at].strip(), part.text[at:]
            found.append(part._replace(text=main, left_out=left_out, others=". ".join(filter(None, others))))
    return found


def _apart(goal: str) -> Iterator[GoalPart]:
    """Splits a goal at its joints. `If` before a sentence is of all its parts, behind a part of that one."""
    for sentence in _SENTENCES.split(" ".join(goal.split())):
        text = sentence.strip(" .!?;,")
        after = _LATER.match(text)
        text = text[after.end() :] if after else text
        first = _IF_FIRST.fullmatch(text)
        pieces = _pieces(first["rest"] if first else text)
        for number, (piece, later) in enumerate(pieces):
            own = None if first else _IF_LAST.fullmatch(piece)
            said = first or own
            test, word = (said["test"], said["word"].lower()) if said else ("", "")
            denied = (word == "unless") != (_DENIES.search(test) is not None)
            yield GoalPart(
                own["rest"] if own else piece,
                "",
                "",
                _DENIES.sub("", test),
                denied,
                later or (after is not None and not number),
            )


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The pieces between the joints, and whether each comes after the one before it. A comma is a joint only where an
    `and` follows: `the fern, the basil and the orchid`."""
    last, begin, later, found = text.lower().rfind(" and "), 0, False, []
    for joint in _BETWEEN.finditer(text):
        if joint[0] != ", " or joint.start() < last:
            found.append((text[begin : joint.start()], later))
            begin, later = joint.end(), "then" in joint[0].lower()
    return [*found, (text[begin:], later)]


def unsayable(goal: str) -> str:
    """The word that makes the goal one that no list of facts can say; "" when there is none."""
    found = _UNSAYABLE.search(goal) or next(filter(None, (_IF.search(part.text) for part in parts(goal))), None)
    return found[0] if found is not None else ""


def named(text: str, values: Sequence[Json]) -> list[Json]:
    """The values that stand in a text as whole words; of two that overlap, the longer."""
    found = [value for value in values if _within(value, text)]
    return [v for v in found if not any(v != longer and _within(v, longer) for longer in found)]


def meant(text: str, values: Sequence[Json]) -> list[Json]:
    """The named values; where there are none, those named without their number: `pudding 1` by `the pudding`."""
    if found := named(text, values):
        return found
    kinds = named(text, [*dict.fromkeys(form for v in values if _NUMBER.search(str(v)) for form in _forms(v))])
    return [value for value in values if _NUMBER.search(str(value)) and {*kinds} & {*_forms(value)}]


def named_by_half(text: str, values: Sequence[Json], told: Iterable[Json]) -> list[Json]:
    """The values of several words of which one stands in the text that no other value has: `day crew` by `the people of
    the day shift`. Words of what is named in full (`told`) are no sign."""
    said = {*_words(text)} - {word for value in told for word in _words(value)}
    kinds = {value: {word for word in _words(_NUMBER.sub("", str(value))) if len(word) > 2} for value in values}
    others = [*{frozenset(words) for words in kinds.values()}]
    return [
        value for value, words in kinds.items()
        if len(words) > 1 and any(sum(word in other for other in others) == 1 for word in words & said)
    ]  # fmt: skip


def noun(value: Json) -> str:
    """The last word of a value, without its number; "" where that is no word."""
    words = _words(_NUMBER.sub("", str(value)))
    return words[-1] if words and words[-1].isalpha() else ""


def nouns(slot: str, values: Iterable[Json]) -> set[str]:
    """The words whose plural stands for several values of a slot: its name, and the last word of each value."""
    return {slot, *(word for value in values if (word := noun(value)))}


def _forms(value: Json) -> tuple[str, str]:
    """A value without its number, and the plural of that."""
    kind = _NUMBER.sub("", str(value))
    return kind, plural_of(kind)


def own_words(action: str, values: Iterable[Json]) -> set[str]:
    """The words of an action without those of its values."""
    return {*_words(action)} - {word for value in values for word in _words(value)}


def plural_of(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun[-1:] == "y" and noun[-2:-1] not in "aeiou" else f"{noun}s"


def _plain(word: str) -> list[str]:
    """A verb by the one that stands for all of its kind."""
    return _PLAIN_VERBS.get(word, word).split()


def same_stem(one: str, other: str) -> bool:
    """True of equal words, of those of four letters and more that differ by an ending of two letters, and of a short
    one with an ending: `peg` and `pegged`."""
    short, long = sorted((one, other), key=len)
    if len(short) < STEM:
        return long == short or re.fullmatch(rf"{short}{short[-1:]}?(?:s|d|ed|ing)", long) is not None
    return long[: max(STEM, len(short) - 2)] == short[: max(STEM, len(short) - 2)]


def _words(value: Json) -> list[str]:
    return _WORD.findall(str(value).lower())


def _within(value: Json, text: Json) -> bool:
    words = " ".join(_words(value))
    return bool(words) and f" {words} " in f" {' '.join(_words(text))} "
