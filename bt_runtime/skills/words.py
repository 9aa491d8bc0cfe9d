"""What a skill answered, in the words that an agent is told: as `says` has it, else what it gave, name by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from py_trees.common import Status

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import spoken
from bt_runtime.skills.activity import Ended
from bt_runtime.types import Json, Observation

DONE, FAILED = "Done.", "It failed."
MOST = 2_000  # characters of one answer
_RAISED = re.compile(r"(\w+)\((['\"])(.*)\2,?\)", re.DOTALL)  # an exception as Python shows it


def words(kind: Kind, params: Mapping[str, Json], done: Ended) -> Observation:
    """An answer without a word of its own is told as done, or as failed."""
    if isinstance(done.value, Observation):
        return done.value
    ok, given = done.status is Status.SUCCESS, outputs(kind, done)
    said = _template(kind, {**_defaults(kind), **params, **given}) if ok else ""
    text = said or _line(done.feedback) or _lines(given or done.value) or (DONE if ok else FAILED)
    return Observation(text[:MOST], ok, "" if ok else text[:MOST])


def outputs(kind: Kind, done: Ended) -> dict[str, Json]:
    """What it gave, by the names of its outputs; a single value is the first one's."""
    names = [f.name for f in kind.fields if f.writes]
    if done.value is None or not names:
        return {}
    if isinstance(done.value, dict):
        return {name: done.value[name] for name in names if name in done.value}
    return {names[0]: done.value} if not isinstance(done.value, bool) else {}


def raised(error: Exception) -> str:
    """An exception in words: the same when a journal tells of it."""
    message = error.message if isinstance(error, BtError) else repr(error)
    found = _RAISED.fullmatch(message)
    return _line(f"{found[1]}: {found[3]}" if found else message)


def _template(kind: Kind, names: Mapping[str, Json]) -> str:
    says = kind.data["entry"].acting.says
    try:
        return _line(Template(says).evaluate(names)) if says else ""
    except ExpressionError:
        return ""  # an output that it did not give


def _defaults(kind: Kind) -> dict[str, Json]:
    return {f.name: f.default for f in kind.fields if not f.required and not f.writes}


def _lines(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, Mapping):
        return "\n".join(f"{_line(name)}: {_said(each)}" for name, each in value.items())
    return _said(value)


def _said(value: Json) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_said(each) for each in value) or "nothing"
    return _line(spoken(value)) if value is not None else "nothing"


def _line(value: Json) -> str:
    """In one line: what a skill says must not read as a step of the agent's own."""
    return " ".join(str(value).split())
