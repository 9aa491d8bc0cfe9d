"""The messages of VDA 5050, version 2, as far as they are read and written here, as JSON Schemas.

Fields that are not listed are allowed, as the specification asks, and are not read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from bt_fleet.standards.schema_faults import faults_of
from bt_runtime.types import Json

VERSION = "2.0.0"
MAJOR = "2"
Topic = Literal["order", "instantActions", "state", "connection", "factsheet"]
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


_HEADER = {"headerId": COUNT, "timestamp": TEXT, "version": TEXT, "manufacturer": TEXT, "serialNumber": TEXT}
_PARAMETER = _object({"key": TEXT, "value": {"type": ["array", "boolean", "number", "string", "object"]}})
_ACTION = _object(
    {"actionType": TEXT, "actionId": TEXT, "blockingType": _one_of("NONE", "SOFT", "HARD")},
    {"actionDescription": TEXT, "actionParameters": _list(_PARAMETER)},
)
_POSITION = _object({"x": NUMBER, "y": NUMBER, "mapId": TEXT}, {"theta": NUMBER, "allowedDeviationXY": NUMBER})
_NODE = _object(
    {"nodeId": TEXT, "sequenceId": COUNT, "released": FLAG, "actions": _list(_ACTION)}, {"nodePosition": _POSITION}
)
_EDGE = _object(
    {"edgeId": TEXT, "sequenceId": COUNT, "released": FLAG, "startNodeId": TEXT, "endNodeId": TEXT,
     "actions": _list(_ACTION)},
    {"maxSpeed": NUMBER, "orientation": NUMBER},
)  # fmt: skip
_REFERENCE = _object({"referenceKey": TEXT, "referenceValue": TEXT})
_ERROR = _object(
    {"errorType": TEXT, "errorLevel": _one_of("WARNING", "FATAL")},
    {"errorDescription": TEXT, "errorReferences": _list(_REFERENCE)},
)
_INFORMATION = _object(
    {"infoType": TEXT, "infoLevel": _one_of("INFO", "DEBUG")},
    {"infoDescription": TEXT, "infoReferences": _list(_REFERENCE)},
)
_PHYSICAL = ("speedMin", "speedMax", "accelerationMax", "decelerationMax", "heightMax", "width", "length")
_SCOPES = _list(_one_of("INSTANT", "NODE", "EDGE"))
_MODE = _one_of("AUTOMATIC", "SEMIAUTOMATIC", "MANUAL", "SERVICE", "TEACHIN")
_STOP = _one_of("AUTOACK", "MANUAL", "REMOTE", "NONE")
ACTION_STATES = ("WAITING", "INITIALIZING", "RUNNING", "PAUSED", "FINISHED", "FAILED")
_ACTION_STATE = _object(
    {"actionId": TEXT, "actionStatus": _one_of(*ACTION_STATES)}, {"actionType": TEXT, "resultDescription": TEXT}
)

SCHEMAS: dict[Topic, Schema] = {
    "order": _object(
        {**_HEADER, "orderId": TEXT, "orderUpdateId": COUNT,
         "nodes": {**_list(_NODE), "minItems": 1}, "edges": _list(_EDGE)},
        {"zoneSetId": TEXT},
    ),
    "instantActions": _object({**_HEADER, "actions": _list(_ACTION)}),
    "connection": _object({**_HEADER, "connectionState": _one_of("ONLINE", "OFFLINE", "CONNECTIONBROKEN")}),
    "state": _object(
        {**_HEADER, "orderId": TEXT, "orderUpdateId": COUNT, "lastNodeId": TEXT, "lastNodeSequenceId": COUNT,
         "nodeStates": _list(_object({"nodeId": TEXT, "sequenceId": COUNT, "released": FLAG})),
         "edgeStates": _list(_object({"edgeId": TEXT, "sequenceId": COUNT, "released": FLAG})),
         "driving": FLAG, "actionStates": _list(_ACTION_STATE),
         "batteryState": _object({"batteryCharge": NUMBER, "charging": FLAG}),
         "operatingMode": _MODE,
         "errors": _list(_ERROR),
         "safetyState": _object({"eStop": _STOP, "fieldViolation": FLAG})},
        {"paused": FLAG, "newBaseRequest": FLAG, "information": _list(_INFORMATION)},
    ),
    "factsheet": _object({
        **_HEADER,
        "typeSpecification": _object({
            "seriesName": TEXT, "agvKinematic": _one_of("DIFF", "OMNI", "THREEWHEEL"),
            "agvClass": _one_of("FORKLIFT", "CONVEYOR", "TUGGER", "CARRIER"), "maxLoadMass": NUMBER,
            "localizationTypes": _list(TEXT), "navigationTypes": _list(TEXT)}),
        "physicalParameters": _object(dict.fromkeys(_PHYSICAL, NUMBER)),
        "protocolLimits": _object({
            "maxStringLens": _object({}), "maxArrayLens": _object({}),
            "timing": _object({"minOrderInterval": NUMBER, "minStateInterval": NUMBER})}),
        "protocolFeatures": _object({
            "optionalParameters": _list(_object({"parameter": TEXT, "support": _one_of("SUPPORTED", "REQUIRED")})),
            "agvActions": _list(_object({"actionType": TEXT, "actionScopes": _SCOPES}))}),
        "agvGeometry": _object({}), "loadSpecification": _object({}),
    }),
}  # fmt: skip


# What a vehicle knows of itself: outputs of the project's tree. Those in FIELD_OF fill fields that a state must have.
FACTS: dict[str, Schema] = {
    "battery_charge": {"type": "number", "minimum": 0, "maximum": 100},
    "charging": FLAG,
    "operating_mode": _MODE,
    "e_stop": _STOP,
    "field_violation": FLAG,
    "driving": FLAG,
    "position": _object({"x": NUMBER, "y": NUMBER, "theta": NUMBER, "mapId": TEXT}),
    "velocity": _object({}, {"vx": NUMBER, "vy": NUMBER, "omega": NUMBER}),
    "loads": _list(_object({}, {"loadId": TEXT, "loadType": TEXT, "loadPosition": TEXT})),
    "distance": {"type": "number", "minimum": 0},
}
FIELD_OF = {
    "battery_charge": "batteryState.batteryCharge", "charging": "batteryState.charging",
    "operating_mode": "operatingMode", "e_stop": "safetyState.eStop", "field_violation": "safetyState.fieldViolation",
    "driving": "driving",
}  # fmt: skip


@cache
def _validator(topic: Topic) -> Any:
    return validator(SCHEMAS[topic])


def validator(schema: Schema) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def faults(topic: Topic, message: Json) -> list[str]:
    """Returns what is wrong with a message, each with its place; [] for a sound one."""
    found = faults_of(_validator(topic), message)
    if not found and isinstance(message, dict) and str(message["version"]).partition(".")[0] != MAJOR:
        found = [f"$.version: {message['version']!r}: this adapter speaks version {MAJOR}"]
    return found


# What changes a vehicle's way, and is used by no drive here: an order that names one of them is refused.
_OF_ORDERS = ("zoneSetId",)
_OF_EDGES = ("trajectory", "corridor", "direction", "orientation", "rotationAllowed", "maxRotationSpeed", "maxHeight",
             "minHeight")  # fmt: skip


def unusable(order: Mapping[str, Any]) -> list[str]:
    """Returns the fields of a sound order that no vehicle here can use, each with its place."""
    found = [name for name in _OF_ORDERS if order.get(name)]
    for number, edge in enumerate(order["edges"]):
        found += [f"edges[{number}].{name}" for name in _OF_EDGES if edge.get(name) is not None]
    return found
