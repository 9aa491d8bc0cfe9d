"""The requests and answers of Open-RMF's task API that the fleet takes and gives, as JSON Schemas."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from bt_fleet.standards.schema_faults import faults_of
from bt_runtime.types import Json

Kind = Literal[
    "dispatch_task_request", "robot_task_request", "cancel_task_request", "dispatch_task_response",
    "cancel_task_response", "task_state",
]  # fmt: skip
Schema = dict[str, Any]

STATUS = (
    "uninitialized", "blocked", "error", "failed", "queued", "standby", "underway", "delayed", "skipped", "canceled",
    "killed", "completed",
)  # fmt: skip
DISPATCH = ("queued", "selected", "dispatched", "failed_to_assign", "canceled_in_flight")
_TEXT: Schema = {"type": "string", "maxLength": 500}
_MILLIS: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53}
_LABELS: Schema = {"type": "array", "items": _TEXT, "maxItems": 100}


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


_REQUEST = _object(
    {"category": _TEXT, "description": {}},
    {"unix_millis_earliest_start_time": _MILLIS, "unix_millis_request_time": _MILLIS,
     "priority": _object({}, {"type": _TEXT, "value": {"type": "integer", "minimum": -(10**9), "maximum": 10**9}}),
     "labels": _LABELS, "requester": _TEXT, "fleet_name": _TEXT},
)  # fmt: skip
_ERROR = _object({"code": {"type": "integer"}, "category": _TEXT, "detail": {"type": ["string", "object", "array"]}})
_BOOKING = _object(
    {"id": _TEXT},
    {"unix_millis_earliest_start_time": _MILLIS, "unix_millis_request_time": _MILLIS, "labels": _LABELS,
     "priority": {"type": ["object", "string"]}, "requester": _TEXT},
)  # fmt: skip
_STATE = _object(
    {"booking": _BOOKING},
    {"category": _TEXT, "detail": {"type": ["object", "array", "string"]}, "status": {"enum": list(STATUS)},
     "unix_millis_start_time": _MILLIS, "unix_millis_finish_time": _MILLIS,
     "assigned_to": _object({"group": _TEXT, "name": _TEXT}),
     "dispatch": _object({"status": {"enum": list(DISPATCH)}}, {"assignment": {"type": "object"},
                                                                  "errors": {"type": "array", "items": _ERROR}}),
     "cancellation": _object({"unix_millis_request_time": _MILLIS, "labels": _LABELS})},
)  # fmt: skip


def _typed(word: Kind, more: Schema, optional: Schema | None = None) -> Schema:
    return _object({"type": {"const": word}, **more}, optional)


def _answer(good: Schema) -> Schema:
    failed = _object({"success": {"const": False}, "errors": {"type": "array", "items": _ERROR}})
    return {"oneOf": [_object({"success": {"const": True}, **good}), failed]}


SCHEMAS: dict[Kind, Schema] = {
    "dispatch_task_request": _typed("dispatch_task_request", {"request": _REQUEST}),
    "robot_task_request": _typed("robot_task_request", {"robot": _TEXT, "fleet": _TEXT, "request": _REQUEST}),
    "cancel_task_request": _typed("cancel_task_request", {"task_id": _TEXT}, {"labels": _LABELS}),
    "dispatch_task_response": _answer({"state": _STATE}),
    "cancel_task_response": _answer({}),
    "task_state": _STATE,
}


@cache
def _validator(kind: Kind) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(SCHEMAS[kind])


def faults(kind: Kind, message: Json) -> list[str]:
    """Returns what is wrong with a message, each with its place; [] for a sound one."""
    return faults_of(_validator(kind), message)
