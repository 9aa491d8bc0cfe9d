"""`--set name=value`: parses a value by its port's type."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.ports import PortFault, an, check
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import Port, TreeSpec

SAMPLES = {"integer": "3", "number": "0.5", "boolean": "true", "list": '["a", "b"]', "object": '{"a": 1}'}


def given(pairs: Iterable[str], tree: TreeSpec) -> dict[str, Json]:
    """Parses inputs and blackboard entries from the command line; the last value of a name wins."""
    settable = {**tree.entries, **tree.inputs}
    values: dict[str, Json] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise BtError(f"--set {pair}: there is no `=`", "write it as --set name=value")
        if name not in settable:
            hint = did_you_mean(name, settable, f"it has: {', '.join(settable) or 'none'}")
            raise BtError(f"--set {pair}: `{tree.name}` has no input and no entry `{name}`", hint)
        values[name] = typed(settable[name], text)
    return values


def typed(port: Port, text: str) -> Json:
    """Parses one `--set` value: text for a string port, JSON for other types; `any` takes JSON, else text."""
    value: Json = text
    if port.type != "string":
        try:
            value = json.loads(text, parse_constant=_refused)
        except (ValueError, RecursionError):
            if port.type != "any":
                raise _wrong(port, text) from None
    try:
        check(port, value)
    except PortFault as fault:
        if port.choices and port.type in ("string", "any"):
            raise BtError(
                f"--set {fault.message}", did_you_mean(text, [str(c) for c in port.choices], port.about)
            ) from None
        raise _wrong(port, text, fault.message) from None
    return value


def _refused(word: str) -> Json:
    raise ValueError(word)  # NaN and Infinity are no JSON


def _wrong(port: Port, text: str, why: str = "") -> BtError:
    message = why or f"`{port.name}` takes {an(port.type)}, not `{text:.80}`"
    sample = port.choices[0] if port.choices else SAMPLES.get(port.type, "text")
    return BtError(f"--set {message}", f"for instance: --set '{port.name}={sample}'")
