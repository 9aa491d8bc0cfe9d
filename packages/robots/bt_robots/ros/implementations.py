"""The ROS implementations for a manifest, such as `impl: ros/action`, with the keys of each."""

from __future__ import annotations

from typing import Any

from bt_runtime.language.impls import Implementation
from bt_runtime.language.kinds.shape import SCALAR, Schema

NAME = r"^/?([A-Za-z_~][A-Za-z0-9_]*/)*[A-Za-z_][A-Za-z0-9_]*$"
WAIT = 5.0  # seconds for a server to be there, a service to answer
GRACE = 3.0  # seconds in which a server that has gone while it worked may come back
STOPPING = 10.0  # seconds for a cancelled goal to end


def _named(about: str) -> Schema:
    return {"type": "string", "pattern": NAME, "description": about,
            "errorMessage": "A name of ROS has letters, digits and _ between its /"}  # fmt: skip


def _text(about: str) -> Schema:
    return {"type": SCALAR, "description": about}


def _mapping(about: str) -> Schema:
    return {"type": "object", "description": about}


def _paths(about: str) -> Schema:
    return {"type": "object", "description": about, "additionalProperties": {"type": "string"}}


def _seconds(about: str) -> Schema:
    return {"type": "number", "minimum": 0, "description": about}


# several implementations have a `type`: what is checked is what any of them takes
_ANY_TYPE: Schema = {
    "type": "string", "pattern": r"^[a-z][a-z0-9_]*/(msg|srv|action)/[A-Z][A-Za-z0-9]*$",
    "description": "The type of the action, service or topic: `nav2_msgs/action/NavigateToPose`.",
    "errorMessage": "A type of ROS is written as `nav2_msgs/action/NavigateToPose`",
}  # fmt: skip
_WAIT = _seconds(f"How many seconds it waits for a server, and for its answer: {WAIT:g}.")
_WITHIN = _seconds("How many seconds old it may be. Without: as old as it is.")
_HOLDS = _text("An expression over the fields of the message: what must hold.")
_LATCHED: Schema = {"type": "boolean", "description": "Is the last message kept for who comes later (transient local)?"}
_QOS: Schema = {
    "anyOf": [
        {"type": "string", "enum": ["usual", "sensor", "latched"]},
        {"type": "object", "additionalProperties": False, "properties": {
            "reliability": {"type": "string", "enum": ["reliable", "best_effort"]},
            "durability": {"type": "string", "enum": ["volatile", "transient_local"]},
            "depth": {"type": "integer", "minimum": 1, "maximum": 10000},
        }},
    ],
    "description": "Quality of service: `sensor` (best effort, 5 messages), `latched` (the last message is kept for "
    "who comes later), or {reliability, durability, depth}. Without: reliable, 10 messages. One that asks for "
    "`reliable` does not hear a sensor that sends with best effort.",
    "errorMessage": "`qos` is sensor, latched, usual, or {reliability, durability, depth}",
}  # fmt: skip
_FIELDS = _paths("Outputs, and where they are in the message: `{x: pose.position.x}`. Without: fields of their names.")
_MESSAGES = {"topic": _named("The topic: `/battery_state`."), "type": _ANY_TYPE, "fields": _FIELDS, "within": _WITHIN,
             "latched": _LATCHED, "qos": _QOS}  # fmt: skip
_SKILLS, _CHECK = "bt_robots.ros.skills", "bt_robots.ros.fields:check"


def _made(about: str, name: str, keys: dict[str, Schema], required: tuple[str, ...], **more: Any) -> Implementation:
    return Implementation(about, f"{_SKILLS}:{name}", keys, required, _CHECK, **more)


IMPLEMENTATIONS = {
    "action": _made(
        "Sends a goal, follows it, cancels it when the tree moves on.", "action",
        {
            "action": _named("The action: `/navigate_to_pose`."),
            "type": _ANY_TYPE,
            "goal": _mapping("The goal's fields; texts may have holes. Without: parameters by their names."),
            "result": _paths("Outputs, and where they are in the result. Without: fields of their names."),
            "feedback": _paths("Outputs, and where they are in the feedback: they change while it runs."),
            "tells": _text("What people see while it runs: a template over the feedback's fields."),
            "wait": _WAIT,
            "grace": _seconds(f"How many seconds a server may be gone while it works: {GRACE:g}."),
            "stopping": _seconds(f"How many seconds a cancelled goal has to end: {STOPPING:g}."),
        },
        ("action", "type"),
    ),
    "service": _made(
        "Calls a service.", "service",
        {
            "service": _named("The service: `/clear_costmap`."),
            "type": _ANY_TYPE,
            "request": _mapping("The request's fields; texts may have holes. Without: parameters by their names."),
            "response": _paths("Outputs, and where they are in the response. Without: fields of their names."),
            "succeeds": _text("An expression over the response: was it done? Without: any answer will do."),
            "wait": _WAIT,
        },
        ("service", "type"),
    ),
    "publish": _made(
        "Sends a message.", "publish",
        {
            "topic": _MESSAGES["topic"],
            "type": _ANY_TYPE,
            "message": _mapping("Its fields; texts may have holes. Without: parameters by their names."),
            "latched": _LATCHED,
            "qos": _QOS,
        },
        ("topic", "type"), instant=True,
    ),
    "topic": _made(
        "Looks at the last message of a topic: is there one, young enough, and does something hold of it?", "topic",
        {**_MESSAGES, "holds": _HOLDS}, ("topic", "type"), instant=True,
    ),
    "subscribe": _made(
        "Keeps entries fresh: never ends, and writes its outputs with each message.", "subscribe",
        {key: schema for key, schema in _MESSAGES.items() if key != "within"}, ("topic", "type"),
    ),
    "parameter": _made(
        "Reads a parameter of a node, or with `value` sets it.", "parameter",
        {
            "node": _named("The node: `/controller_server`."),
            "parameter": _text("The parameter's name: `FollowPath.max_vel_x`."),
            "value": {"description": "What it is set to; a text may be a hole. Without: it is read, into an output."},
            "wait": _WAIT,
        },
        ("node", "parameter"),
    ),
    "tf": _made(
        "Where something is, as tf says it: `child` in `frame`. Outputs: x, y, z, yaw, pose, age.", "transform",
        {
            "frame": _text("In which frame: `map`. May have holes."),
            "child": _text("Where what is: `base_link`. May have holes."),
            "within": _WITHIN,
        },
        ("frame", "child"), instant=True,
    ),
}  # fmt: skip
