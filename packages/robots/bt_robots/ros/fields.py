"""Maps a manifest to messages: how parameters fill a message, which fields are outputs; and checks this mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.language.expression import Expression, ExpressionError, Template, compile
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.types import Json

FORMS = ("goal", "request", "message", "value")  # options that are filled from parameters
PATHS = ("result", "feedback", "response", "fields")  # options that say where outputs come from
TEXTS = ("child", "frame")
_TURNED = ("orientation", "rotation")  # fields that are a quaternion; `{yaw: 1.57}` will do for one


class MessageForm:
    """A message with placeholders: `goal: {pose: "{place}"}`. Without it, each parameter fills the field of its
    name."""

    def __init__(self, said: Json, params: list[str]) -> None:
        self.made = _cut({name: "{" + name + "}" for name in params} if said is None else said)

    def filled(self, params: Mapping[str, Json]) -> Any:
        return _filled(self.made, params, "")


def _cut(said: Json) -> Any:
    if isinstance(said, str):
        template = Template(said)
        return said if template.constant else template
    if isinstance(said, Mapping):
        return {str(key): _cut(value) for key, value in said.items()}
    return [_cut(each) for each in said] if isinstance(said, list) else said


def _filled(made: Any, params: Mapping[str, Json], field: str) -> Any:
    if isinstance(made, Template):
        made = made.evaluate(params)
    if isinstance(made, Mapping):
        if field in _TURNED and set(made) == {"yaw"}:
            return quaternion(_filled(made["yaw"], params, "yaw"))
        return {key: _filled(value, params, key) for key, value in made.items()}
    return [_filled(each, params, field) for each in made] if isinstance(made, list) else made


def quaternion(yaw: Json) -> dict[str, float]:
    if isinstance(yaw, bool) or not isinstance(yaw, int | float):
        raise BtError(f"a yaw is a number of radians, not {yaw!r:.40}", "such as `orientation: {yaw: 1.57}`")
    return {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}


class Paths:
    """Maps outputs to message fields: `{left: distance_remaining}`. Without it, each output is the field of its
    name."""

    def __init__(self, said: Json, outputs: list[str]) -> None:
        self.names = outputs
        self.said = None if said is None else {str(name): compile(str(path)) for name, path in said.items()}

    def read(self, message: Mapping[str, Json] | None) -> dict[str, Json]:
        if message is None:
            return {}
        if self.said is None:
            return {name: message[name] for name in self.names if name in message}
        return {name: path.evaluate(message) for name, path in self.said.items()}


def _names(said: Json) -> Iterator[str]:
    if isinstance(said, str):
        yield from Template(said).names
    elif isinstance(said, Mapping):
        for value in said.values():
            yield from _names(value)
    elif isinstance(said, list):
        for each in said:
            yield from _names(each)


def check(kind: Kind) -> Iterator[tuple[str, str, str]]:
    """The faults in a manifest's mapping of messages; found without ROS."""
    options: Mapping[str, Json] = kind.data["entry"].options
    params, outputs = inputs_of(kind), outputs_of(kind)
    for option in filter(options.__contains__, (*FORMS, *TEXTS)):
        try:
            unknown = [name for name in _names(options[option]) if name not in params]
        except ExpressionError as error:
            yield option, error.message, error.hint
            continue
        for name in dict.fromkeys(unknown):
            yield option, f"`{option}` has a hole {{{name}}} that is not a parameter", _near(name, params, "`params`")
    for option in filter(options.__contains__, PATHS):
        said = options[option]
        for name, path in said.items() if isinstance(said, Mapping) else ():
            if name not in outputs:
                yield option, f"`{option}` fills `{name}`, which is not an output", _near(name, outputs, "`outputs`")
            try:
                compile(str(path))
            except ExpressionError as error:
                yield option, error.message, error.hint or "such as `pose.position.x`"
    for option in filter(options.__contains__, ("holds", "succeeds")):
        try:
            expression(options[option])
        except ExpressionError as error:
            yield option, error.message, error.hint or "such as `percentage > 0.2`"


def expression(said: Json) -> Expression | None:
    return None if said is None else compile(str(said))


def _near(name: str, known: list[str], section: str) -> str:
    return did_you_mean(name, known, f"name it under {section}")


def inputs_of(kind: Kind) -> list[str]:
    return [field.name for field in kind.fields if not field.writes]


def outputs_of(kind: Kind) -> list[str]:
    return [field.name for field in kind.fields if field.writes]
