"""The forms of the fleet's messages, as JSON Schemas. Fields that a form does not name are allowed, and are not read.

Names of robots stand in no form: they are read from the subject, which the server checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from bt_runtime.types import Json

Schema: TypeAlias = dict[str, Any]
KB, MB = 1024, 1024 * 1024
REPORTS, WISHES_OFTEN = 200, 200  # messages a second of one robot, and of one operator


class Form(NamedTuple):
    """What a message must be: a JSON Schema, and at most so many bytes."""

    what: str  # the message's name for people
    schema: Schema
    largest: int = 64 * KB
    often: int = 0  # messages a second of one sender that are taken, ten times as many at once; 0: any number


def mapping(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, **more: Json) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}, **more}


def maybe(form: Schema) -> Schema:
    """The same form, or null."""
    return {**form, "type": [form["type"], "null"]}


def listed(items: Schema, most: int = 10_000) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def keyed(values: Schema, most: int = 10_000) -> Schema:
    """A mapping whose keys are names."""
    return {"type": "object", "propertyNames": NAME, "additionalProperties": values, "maxProperties": most}


def one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


NAME: Schema = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z"}  # as `names.named` has it
TEXT: Schema = {"type": "string", "maxLength": 20_000}
LINE: Schema = {"type": "string", "maxLength": 500}
DIGEST: Schema = {"type": "string", "pattern": r"^[0-9a-f]*\Z", "maxLength": 128}
ANY: Schema = {}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53}
NUMBER: Schema = {"type": "number", "minimum": -1e15, "maximum": 1e15}
SECONDS: Schema = {"type": "number", "minimum": 0, "maximum": 1e15}
PLACE: Schema = {"type": "array", "items": {"type": "number", "minimum": -1e9, "maximum": 1e9},
                 "minItems": 2, "maxItems": 2}  # fmt: skip
FACT: Schema = {"type": ["string", "number", "boolean", "null"], "maxLength": 500}
MAP: Schema = {"type": "object", "maxProperties": 10_000}
_FACTS: Schema = {"type": "object", "additionalProperties": FACT, "maxProperties": 200}
POLICY = one_of("repeat", "moves", "stays")

TASK_FIELDS: Schema = mapping(
    {"id": NAME, "tree": LINE},
    {"inputs": MAP, "needs": LINE, "to": maybe(NAME), "at": maybe(NUMBER), "by": maybe(NUMBER),
     "priority": {"type": "integer", "minimum": -(10**9), "maximum": 10**9}, "world": MAP, "digest": maybe(DIGEST),
     "sender": LINE},
)  # fmt: skip

# What a robot sends.
BEAT = Form("heartbeat", mapping(
    {},
    {"running": maybe(NAME), "plan": COUNT, "place": maybe(PLACE), "runs": TEXT, "halted": maybe(TEXT),
     "draining": FLAG, "facts": _FACTS,
     "holds": keyed({"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 2, "maxItems": 2})},
), MB, often=20)  # fmt: skip
_ENDED = {"if": {"properties": {"what": {"const": "ended"}}}, "then": {"required": ["verdict"]}}
REPORT = Form("report", mapping(
    {"what": one_of("started", "ended", "returned", "doubt", "fenced"), "term": COUNT},
    {"verdict": one_of("success", "failure", "cancelled", "expired"), "reason": TEXT, "at": NUMBER, "seconds": SECONDS,
     "refused": FLAG, "outputs": ANY, "id": ANY},
    **_ENDED,
), MB, often=REPORTS)  # fmt: skip
REPORTED: Iterable[str] = REPORT.schema["properties"]  # the fields of a report that are kept
_JOB: Schema = {"type": "array", "minItems": 7, "maxItems": 7}
BID = Form("bid", mapping(
    {"free": SECONDS, "place": maybe(PLACE), "speed": {"type": "number", "minimum": 1e-6, "maximum": 1e6},
     "jobs": listed(_JOB, 2000), "known": listed({"type": "array", "minItems": 4, "maxItems": 5}, 2000),
     "costs": {"type": "object", "additionalProperties": COUNT, "maxProperties": 2000},
     "cannot": {"type": "object", "additionalProperties": TEXT, "maxProperties": 2000}},
), MB, often=100)  # fmt: skip
_ROWS: Schema = {"type": "array", "items": {"type": "array", "maxItems": 20}}
PIECE = Form("piece of a journal", mapping(
    {},
    {"rows": {"type": "object", "additionalProperties": _ROWS, "maxProperties": 4}, "whole": FLAG, "fence": FLAG,
     "head": {"type": "object", "additionalProperties": {"type": ["string", "number"]}, "maxProperties": 200}},
), 8 * MB)  # fmt: skip
HALTED = Form("answer to a halt", mapping({"halted": maybe(TEXT)}), often=50)
ASKS = Form("question", mapping(
    {"id": {"type": "string", "minLength": 1, "maxLength": 100}, "text": TEXT, "open": FLAG},
    {"tree": LINE, "confirms": FLAG},
), often=100)  # fmt: skip
ENTRY = Form("shared entry", mapping({"value": ANY}, {"id": LINE}), MB)
PLACED = Form("claim on a place", mapping({}, {"process": NAME, "wants": listed(NAME, 1000), "note": LINE}))
CLAIM = Form("claim", mapping({"by": {"type": "string", "maxLength": 64}}))

# What a coordinator sends.
GREETING = Form("answer to a heartbeat", mapping(
    {"now": SECONDS}, {"lease": SECONDS, "halt": maybe(TEXT), "own": maybe(TEXT), "drain": FLAG, "seen": COUNT,
                      "drop": listed(NAME)}
), MB)  # fmt: skip
_CALLED: Schema = {**TASK_FIELDS, "required": ["id", "tree", "refused"],
                   "properties": {**TASK_FIELDS["properties"], "refused": listed(NAME)}}  # fmt: skip
CALL = Form("call", mapping({"call": NAME, "tasks": listed(_CALLED, 2000)}), 8 * MB)
ORDER = Form("order", mapping(
    {"term": COUNT},
    {"do": TASK_FIELDS, "policy": POLICY, "takes": SECONDS, "at": NUMBER,
     "resume": {"type": ["array", "null"], "items": {"type": ["integer", "string"]}, "minItems": 2, "maxItems": 2},
     "stop": one_of("cancel", "return", "drop"), "task": NAME, "reason": TEXT},
    dependencies={"do": {"required": ["policy", "takes"]}, "stop": {"required": ["task"]}},
), MB + 64 * KB)  # fmt: skip

# What a person sends, and what is kept.
ANSWER = Form("answer", mapping({"id": LINE, "text": TEXT}, {"by": LINE}), often=50)
_BY: dict[str, Schema] = {"by": LINE, "reason": LINE}
WISHES = {
    "send": Form("task that is sent", mapping({"task": TASK_FIELDS}, _BY), MB, WISHES_OFTEN),
    "cancel": Form("cancel", mapping({"task": NAME}, _BY), often=WISHES_OFTEN),
    "settle": Form("settling", mapping({"task": NAME, "how": one_of("again", "success", "failure")}, _BY),
                   often=WISHES_OFTEN),
    "deploy": Form("deployment that is asked for", mapping(
        {"tree": LINE, "digest": DIGEST}, {"share": {"type": "number", "minimum": 0, "maximum": 1}, "back": FLAG, **_BY}
    ), often=20),
}  # fmt: skip
DONE = Form("answer to a wish", mapping({}, {"new": FLAG, "error": TEXT, "hint": TEXT}))
TASK = Form("task", TASK_FIELDS, MB)
RECORD = Form("record of a task", mapping(
    {"task": TASK_FIELDS},
    {"state": one_of("waiting", "assigned", "started", "in doubt", "done"), "term": COUNT, "robot": maybe(NAME),
     "policy": POLICY, "since": NUMBER, "sent": NUMBER, "cancel": FLAG,
     "verdict": maybe(one_of("success", "failure", "cancelled", "expired")), "reason": TEXT,
     "resume": {"type": ["array", "null"], "items": {"type": ["integer", "string"]}, "minItems": 2, "maxItems": 2},
     "refused": listed(NAME), "version": DIGEST, "had": listed(LINE), "history": listed(TEXT, 100)},
), 4 * MB)  # fmt: skip
VERDICT = Form("verdict", mapping(
    {"verdict": REPORT.schema["properties"]["verdict"]}, {"robot": maybe(NAME), "reason": TEXT, "term": COUNT}
), MB)  # fmt: skip
CARD = Form("card of a robot", mapping({}, {"facts": _FACTS, "joined": NUMBER}), MB)
SWITCH = Form("halt or drain", mapping({"on": FLAG}, {"reason": LINE, "by": LINE}))
DEPLOYMENT = Form("deployment", mapping(
    {"tree": LINE},
    {"stable": DIGEST, "candidate": DIGEST, "share": {"type": "number", "minimum": 0, "maximum": 1}, "since": NUMBER,
     "by": LINE, "number": COUNT, "notes": listed(TEXT, 100)},
), MB)  # fmt: skip
