"""Converts a proof's story to a case that the engine runs tick by tick, and to a test that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bt_author.proof.choices import BAD, BREAKS, OK
from bt_author.proof.story import Telling, times, words
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.outside import entries_of
from bt_runtime.language.properties.property import Property
from bt_runtime.testing.case import BROKEN, Case, Finding, Move, Subject, moved, played
from bt_runtime.testing.promise import Broken, promised
from bt_runtime.testing.story_file import StoryFile, story_of
from bt_runtime.testing.trial import Trial
from bt_runtime.testing.values import ChosenValues
from bt_runtime.tree.node import FAILURE, INVALID, SUCCESS, path_of
from bt_runtime.types import Json


def case_of(subject: Subject, telling: Telling, inputs: Mapping[str, Json]) -> tuple[Case, list[int]] | None:
    """Returns the case, and the number of its moves before each tick's end; None when its ticks have no possible
    times."""
    when = times(telling)
    if when is None:
        return None
    given, moves, ends = dict(inputs), list[Move](), list[int]()
    starts: dict[str, list[list[Any]]] = {}
    open_: dict[str, list[Any]] = {}
    values: dict[str, Json] = {}
    for at, moment in enumerate(telling.moments):
        for event in moment.events:
            match event:
                case ("input", name, value):
                    given[name] = value
                case ("wrote", name):  # a node did: what comes from outside is set again
                    values.pop(name, None)
                case ("write", name, value):
                    moves.append(("set", name, value)) if at else given.update({name: value})
                case ("set", name, value) if values.get(name, _OTHER) != value or type(values[name]) is not type(value):
                    values[name] = value
                    if at:
                        moves.append(("set", name, value))
                    else:
                        given[name] = value
                case ("begin", name, path):
                    open_[path] = [0, None]
                    starts.setdefault(name, []).append(open_[path])
                case ("poll", name, path, status, outputs):
                    record = open_[path]
                    if status in (OK, BAD, BREAKS):
                        record[1] = (dict(outputs) or SUCCESS) if status == OK else FAILURE
                        record[1] = RuntimeError(BROKEN) if status == BREAKS else record[1]
                    else:
                        record[0] += 1
        passes = (when[at] - when[at - 1]) / 1000 if at else 0
        moves.append(("advance", passes) if passes else ("tick", 1))
        ends.append(len(moves))
    if telling.repeats is not None and telling.repeats < len(telling.moments):
        moves.append(("repeats", len(telling.moments) - telling.repeats))
    skills = {name: [played(*each) for each in records] for name, records in starts.items()}
    return _complete(Case(given, skills, {}, tuple(moves)), subject), ends


_OTHER = object()


def follows(subject: Subject, telling: Telling, inputs: Mapping[str, Json], property: Property) -> bool:
    """True when the engine shows the same after each tick, and breaks the property in the end."""
    made = case_of(subject, telling, inputs)
    if made is None:
        return False
    (case, ends), at = made, 0
    with subject.trial(case) as trial:
        for number, move in enumerate(case.moves):
            try:
                moved(trial, move)
            except Broken as broken:
                return promised(broken.promise) == promised(property)
            if at < len(ends) and number + 1 == ends[at]:
                if not _alike(trial, telling, at):
                    return False
                at += 1
    return False


def _alike(trial: Trial, telling: Telling, at: int) -> bool:
    moment = telling.moments[at]
    if ("idle" if trial.status is INVALID else trial.status.name.lower()) != moment.status:
        return False
    shown: dict[str, str] = {}
    for node in trial.run.nodes():
        shown.setdefault(path_of(node), "idle" if node.status is INVALID else node.status.name.lower())
    return all(shown.get(path, "idle") == word for path, word in moment.shown.items())


def counterexample(
    subject: Subject, telling: Telling, inputs: Mapping[str, Json], property: Property, found_by: str
) -> tuple[Finding, StoryFile]:
    """Returns the story as a test that fails until the tree is fixed, and as a file that a page or a test plays."""
    made = case_of(subject, telling, inputs)
    assert made is not None
    found = subject.finding(made[0], found_by)
    return found, story_of(subject.tree.name, promised(property), found.why, *made, tuple(words(telling)),
                           subject.given_promises, found.found_by)  # fmt: skip


def _complete(case: Case, subject: Subject) -> Case:
    """Adds a value for each required entry that the story does not read, and where one is written whose value does not
    matter."""
    spec = subject.tree.spec
    values = ChosenValues(spec)
    ports = {**spec.inputs, **entries_of(spec)}
    open_ = {name for name, value in case.inputs.items() if value is UNKNOWN}
    lacking = {n: values.some(p)[0] for n, p in ports.items() if n in open_ or (p.required and n not in case.inputs)}
    moves = [
        ("set", move[1], values.some(ports[move[1]])[0]) if move[0] == "set" and move[2] is UNKNOWN else move
        for move in case.moves
    ]
    return replace(case, inputs={**case.inputs, **lacking}, moves=tuple(moves))
