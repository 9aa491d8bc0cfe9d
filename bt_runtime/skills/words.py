"""Describes a skill's result to an agent: by its `says`, else output by output."""

from __future__ import annotations

from collections.abc import Mapping

from py_trees.common import Status

from bt_runtime.language.expression import ExpressionError, Template
from bt_runtime.language.faults.diagnostic import message_of
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import spoken
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.types import Json, Observation

DONE, FAILED = "Done.", "It failed."
MOST = 2_000  # characters of one answer


def words(kind: Kind, params: Mapping[str, Json], done: EndedAnswer) -> Observation:
    """Returns the result as text; without outputs, that the action succeeded or failed."""
    if isinstance(done.value, Observation):
        return done.value
    ok, given = done.status is Status.SUCCESS, outputs(kind, done)
    said = _template(kind, {**_defaults(kind), **params, **given}) if ok else ""
    text = said or _line(done.feedback) or _lines(given or done.value) or (DONE if ok else FAILED)
    return Observation(text[:MOST], ok, "" if ok else text[:MOST])


def outputs(kind: Kind, done: EndedAnswer) -> dict[str, Json]:
    """The values by output name; a single value belongs to the first output."""
    names = [f.name for f in kind.fields if f.writes]
    if done.value is None or not names:
        return {}
    if isinstance(done.value, dict):
        return {name: done.value[name] for name in names if name in done.value}
    return {names[0]: done.value} if not isinstance(done.value, bool) else {}


def raised(error: Exception) -> str:
    """Describes an exception; a replay gives the identical text."""
    return _line(message_of(error))


def _template(kind: Kind, names: Mapping[str, Json]) -> str:
    says = kind.data["entry"].agent_options.says
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
    """Returns a value on one line, so that a skill's text cannot pass for a step of the agent."""
    return " ".join(str(value).split())
