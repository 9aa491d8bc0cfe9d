"""Proves a tree's properties, or returns the shortest story that breaks one, as a test.

    [result] = check("door", never="open and locked")
    assert result.finding is None, result.finding

The model of a tree is decided on; a story counts only when the engine goes through it tick by tick.
"""

from __future__ import annotations

import hashlib
import json
import math
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import bt_runtime
from bt_author.proof.decide import Asked, Verdict, assumption, decide
from bt_author.proof.search import STATES, Limits
from bt_author.proof.story import words
from bt_author.proof.story_case import counterexample, follows
from bt_runtime._version import __version__
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.project import disk
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import Port
from bt_runtime.run.run import Tree
from bt_runtime.testing.case import Finding, Subject
from bt_runtime.testing.casting import skills_of, trees_of
from bt_runtime.testing.story_file import StoryFile
from bt_runtime.testing.values import ChosenValues
from bt_runtime.types import Json

FROM_PYTHON = "check(…)"
KEPT = ("states", "doubts", "remarks", "assumes", "trusts")  # fields of a proof that are kept for the next check


@dataclass(frozen=True)
class Result(Verdict):
    """The verdict on one property, with its story."""

    story: tuple[str, ...] = ()  # in words, a line for each tick
    finding: Finding | None = None
    played: StoryFile | None = None  # the story as a file
    kept: bool = False  # known from an earlier check of the same text

    def whole(self) -> bool:
        """True when it is decided, and takes nothing for granted."""
        return self.outcome != "open" and not self.assumes and not self.trusts

    def words(self) -> str:
        """The outcome in words, with what a proof takes for granted."""
        said = {"proved": "proved", "refuted": "broken", "open": "not decided"}[self.outcome]
        return f"{said}{assumption(self.assumes)[0]}{''.join(f', if {each}' for each in self.trusts)}"

    def help(self) -> str:
        """How an author decides what a proof takes for granted, or ""."""
        return assumption(self.assumes)[1]

    def lines(self) -> Iterator[str]:
        """What is said below the outcome: remarks, what was not covered, the story, and what an author can do."""
        yield from (f"note: {remark}" for remark in self.remarks)
        yield from (f"not covered: {doubt}" for doubt in self.doubts)
        yield from self.story
        if self.finding is not None:
            yield self.finding.why
        if self.assumes:
            yield f"help: {self.help()}"


def check(
    tree: str | Path | Tree,
    *,
    never: str | Iterable[str] = (),
    always: str | Iterable[str] = (),
    ltl: str | Iterable[str] = (),
    properties: Iterable[str] | None = None,
    inputs: Mapping[str, Json] | None = None,
    values: Mapping[str, Sequence[Json]] | None = None,
    project: Path | str | None = None,
    states: int = STATES,
    seconds: float = math.inf,
    skills_end: bool = False,
    found_by: str = "",
    told: Callable[[int, int], object] = lambda states, left: None,
    cache: bool = False,
) -> list[Result]:
    """Decides the promises that are given and the tree's own properties (`properties`: those of these names)."""
    return list(
        Checking(
            tree, never, always, ltl, properties, project, inputs or {}, values or {}, skills_end, found_by
        ).results(states, seconds, told, cache)
    )


class Checking:
    """Checks the properties of one tree."""

    def __init__(
        self, tree: str | Path | Tree, never: Any = (), always: Any = (), ltl: Any = (),
        properties: Iterable[str] | None = None, project: Path | str | None = None,
        inputs: Mapping[str, Json] = {}, values: Mapping[str, Sequence[Json]] = {}, skills_end: bool = False,
        found_by: str = "",
    ) -> None:  # fmt: skip
        texts = [[text] if isinstance(text, str) else list(text) for text in (never, always, ltl)]
        self.subject = Subject(tree, texts[0], texts[1], project, texts[2], ())
        spec = self.subject.tree.spec
        wanted = [each.name for each in spec.properties] if properties is None else list(properties)
        self.whole = Subject(self.subject.tree, project=project, properties=wanted)
        self.properties = [*self.subject.promises.all, *self.whole.promises.all]
        if skills_end:
            self.properties = [each._replace(assuming="skills_end") for each in self.properties]
        self.inputs, self.values, self.found_by = dict(inputs), self.fitting(values), found_by or FROM_PYTHON
        self.given = tree

    def fitting(self, given: Mapping[str, Sequence[Json]]) -> Mapping[str, Sequence[Json]]:
        """Returns the listed values, converted to the types of their entries or outputs."""
        spec = self.subject.tree.spec
        values = ChosenValues(spec, given)
        outputs = [f for kind in skills_of(spec).values() for f in kind.fields if f.writes]
        values.unused(f.name for f in outputs)
        ports: list[Port | Field] = [*spec.ports.values(), *outputs]
        for port in ports:
            if port.name in values.given:
                values.bounded(port)
        return values.given

    def results(
        self, states: int = STATES, seconds: float = math.inf, told: Callable[[int, int], object] = lambda a, b: None,
        cache: bool = False,
    ) -> Iterator[Result]:  # fmt: skip
        if not self.properties:
            raise BtError(
                "nothing is promised of the tree",
                "say what is to be checked: --never EXPR, --always EXPR, --ltl FORMULA, or `properties:` in its head",
            )
        end = time.monotonic() + seconds
        for property in self.properties:
            place = self.place(property) if cache else None
            known = self.known(property, place) if place is not None else None
            yield known or self.one(property, Limits(states, end, told), place)

    def one(self, property: Property, limits: Limits, place: Path | None) -> Result:
        asked = Asked(self.subject.tree.spec, self.inputs, self.values, limits)
        subject = self.alone(property)
        verdict = decide(asked, property, lambda telling: follows(subject, telling, self.inputs, property))
        story, found, played = tuple[str, ...](), None, None
        if verdict.telling is not None:
            story = tuple(words(verdict.telling))
            by = f"{self.found_by}{self.option(property)}"
            found, played = counterexample(subject, verdict.telling, self.inputs, property, by)
        result = Result(**vars(verdict), story=story, finding=found, played=played)
        if place is not None and result.outcome == "proved":
            kept = {name: getattr(result, name) for name in KEPT}
            disk.write(place, json.dumps(kept))
        return result

    def option(self, property: Property) -> str:
        """Returns the command-line option of a property."""
        if self.found_by == FROM_PYTHON:
            return ""
        if any(property.name == each.name for each in self.whole.promises.all):
            return f" --property {property.name}"
        return f" --{property.word} {shlex.quote(str(property.given[property.word]))}"

    def alone(self, property: Property) -> Subject:
        """Returns the tree with this promise only."""
        if any(property.name == each.name for each in self.whole.promises.all):
            given: dict[str, Any] = {"properties": [property.name]}
        else:
            given = {property.word: [property.given[property.word]]}
        return Subject(self.subject.tree, text=self.given, **given)

    # What is known --------------------------------------------------------------------------

    def place(self, property: Property) -> Path:
        """Returns the file that stores a proof, named by a digest of all it depends on."""
        tree = self.subject.tree
        texts = [each.text for each in trees_of(tree.spec)]
        texts += [text for path, text in sorted(tree.first.files.items())]
        about = [
            __version__,
            *texts,
            property.word,
            property.given,
            property.assuming,
            self.inputs,
            self.values,
            _code(),
        ]
        return disk.cache("proofs") / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:40]}.json"

    def known(self, property: Property, place: Path) -> Result | None:
        text = disk.read_or_nothing(place)
        try:
            kept = json.loads(text) if text else None
            if kept is None:
                return None
            told: dict[str, Any] = {name: tuple(kept[name]) for name in KEPT if name != "states"}
            return Result(property, "proved", states=kept["states"], kept=True, **told)
        except (ValueError, KeyError, TypeError):
            return None


@cache
def _code() -> str:
    """Returns a digest of the checker's code and of the engine that it runs: other code may give another result."""
    runtime = Path(bt_runtime.__file__).parent
    rooms = (Path(__file__).parent, *(runtime / room for room in ("language", "tree", "skills", "run/monitoring")))
    made = hashlib.sha256()
    for path in [*(file for room in rooms for file in sorted(room.rglob("*.py"))), runtime / "agents" / "facts.py"]:
        made.update(disk.read_or_nothing(path))
    return made.hexdigest()
