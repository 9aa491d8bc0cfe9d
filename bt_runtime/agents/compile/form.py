"""A form of sentences: words with slots in angle brackets, `pick up <thing>`. `<number>` matches digits only, and
`<thing>s` the plural of a thing."""

from __future__ import annotations

import re
from functools import lru_cache

from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

_SLOT = re.compile(r"<(\w+)>")
_PLURAL = re.compile(r"<(\w+)>s(?!\w)")
_LONG = re.compile(r"(?:ss|x|zz|ch|sh)es$")  # plurals that end on one syllable more
MOST = 4_000  # characters of a text that is compared with a form


class GoalForm:
    """A form. Slots called `number…` hold whole numbers, all others text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plurals = frozenset(_PLURAL.findall(text))
        slots = _SLOT.findall(text)
        self.sentence = Sentence(
            _SLOT.sub(r"{\1}", _PLURAL.sub(r"<\1>", text.replace("{", "(").replace("}", ")"))),
            {name: "integer" for name in slots if name.startswith("number")},
        )
        self.slots = self.sentence.slots
        self.literal = len(_SLOT.sub("", text))  # characters that are no slot

    def read(self, text: str) -> dict[str, Json] | None:
        """Returns the slot values that give this text; None when the text has another form."""
        if len(text) > MOST:
            return None
        found = self.sentence.parse(text.replace("{", "(").replace("}", ")"))
        if found is None or any(not str(found[name]).endswith("s") for name in self.plurals):
            return None
        singles = {name: single(str(found[name])) for name in self.plurals}
        return {name: _plain(value) for name, value in (found | singles).items()}


@lru_cache(maxsize=512)
def form(text: str) -> GoalForm:
    return GoalForm(text)


def _plain(value: Json) -> Json:
    return value.strip() if isinstance(value, str) else value


def single(plural: str) -> str:
    """Returns the singular: `wine glass` of `wine glasses`, `plate` of `plates`; other texts are unchanged."""
    return plural[:-2] if _LONG.search(plural) else plural.removesuffix("s")


def base(value: str) -> str:
    """Returns a thing without its number: `kitchen cabinet` of `kitchen cabinet 3`."""
    head, _, tail = value.rpartition(" ")
    return head if head and tail.isdigit() else value
