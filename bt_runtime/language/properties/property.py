"""A property: its name, its condition, and what happens when the condition is broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bt_runtime.language.properties import formula
from bt_runtime.language.properties.atom import Atom, read
from bt_runtime.language.properties.formula import Formula, atom
from bt_runtime.types import Json, Span

PENDING, LATE = "within: pending", "within: late"  # the atoms of a clocked property; no expression has such a text
ENDED = "tree is success or tree is failure"


class Property(NamedTuple):
    name: str
    word: str
    given: Mapping[str, Json]  # its texts and numbers by keyword; a bare one under the property's word
    about: str = ""
    assuming: str = ""
    on_violation: str = "warn"
    undecided: str = "refuse"
    file: str = ""
    span: Span | None = None
    origin: str = "tree"  # `tree`, a manifest, or the project

    @property
    def formula(self) -> Formula:
        """The condition as a formula of linear temporal logic. A `within` uses atoms of its clock."""
        given = {name: str(text) for name, text in self.given.items()}
        match self.word:
            case "never":
                made: Formula = formula.always(("not", atom(given["never"])))
            case "always":
                made = formula.always(atom(given["always"]))
            case "eventually":
                made = formula.eventually(atom(given["eventually"]))
            case "leads_to":
                made = formula.always(("implies", atom(given["from"]), formula.eventually(atom(given["to"]))))
            case "within":
                made = formula.always(("not", ("atom", LATE)))
            case "at_most":
                made = ("not", _rises(atom(given["of"]), int(given["times"]) + 1))
            case "before":
                made = formula.weak_until(("not", atom(given["then"])), atom(given["first"]))
            case _:
                made = formula.parse(given["ltl"])
        return formula.normal(made)

    @property
    def seconds(self) -> float | None:
        """The time limit of a `within`."""
        found = self.given.get("seconds")
        return float(found) if self.word == "within" and isinstance(found, int | float) else None

    @property
    def texts(self) -> list[str]:
        """The expressions that it reads."""
        if self.word == "within":
            return [str(self.given.get("to", ENDED)), *([str(self.given["from"])] if "from" in self.given else [])]
        return list(dict.fromkeys(formula.atoms(self.formula)))

    @property
    def atoms(self) -> list[Atom]:
        return [read(text) for text in self.texts]

    def __repr__(self) -> str:
        return f"{self.name}: {self.words}"

    @property
    def words(self) -> str:
        """Describes the condition in one line."""
        g = self.given
        match self.word:
            case "leads_to":
                return f"`{g['from']}` leads to `{g['to']}`"
            case "within":
                since = f" after `{g['from']}`" if "from" in g else ""
                return f"`{g.get('to', 'the end')}` within {g['seconds']} s{since}"
            case "at_most":
                return f"`{g['of']}` at most {g['times']} times"
            case "before":
                return f"`{g['first']}` before `{g['then']}`"
        return f"{self.word} `{g[self.word]}`"


def _rises(of: Formula, times: int) -> Formula:
    """A formula: `of` holds in at least this many separate stretches."""
    made = formula.eventually(of)
    for _ in range(times - 1):
        made = formula.eventually(("and", of, formula.eventually(("and", ("not", of), made))))
    return made


def of(word: str, text: str, name: str = "") -> Property:
    """Makes a property of an expression on the command line."""
    return Property(name or f"{word} {text}", word, {word: text})
