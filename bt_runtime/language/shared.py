"""Reads what a tree's head says of the entries that all robots of a fleet share."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.head_schema import SHARING
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.source import Node, Scalar, YamlMap
from bt_runtime.language.spec import ABSENT, Port, TreeSpec
from bt_runtime.types import Json

STALE = ("warn", "default", "halt")
SCHEMA: dict[str, Schema] = {
    "shared": {"enum": ["fleet"], "description": "`fleet`: one entry for all robots of a fleet."},
    "stale_after": {"type": "number", "exclusiveMinimum": 0,
                    "description": "Seconds without word of the fleet, after which the value is too old."},
    "when_stale": {"enum": list(STALE),
                   "description": "Then a line of the log says so, it is its `default`, or the run halts."},
}  # fmt: skip
_HELP = "a fleet's entry is `{shared: fleet, stale_after: 5, when_stale: halt}`"


class Shared(NamedTuple):
    """How an entry is shared."""

    stale_after: float | None = None  # seconds without word of the fleet, after which its value is too old
    when_stale: str = "warn"


def read(top: YamlMap, spec: TreeSpec, diagnostics: Diagnostics) -> None:
    """Marks the shared entries of a tree, and adds for each with `stale_after` the entry that tells its age."""
    found: dict[str, Port] = {}
    section = top.get("blackboard")
    for name, value in section if isinstance(section, YamlMap) else ():
        given = {key.text: node for key, node in value if key.text in SHARING} if isinstance(value, YamlMap) else {}
        port = spec.entries.get(name.text)
        if given and port is not None:
            for key, message, help in _faults(port, given):
                diagnostics.error("BT048", message, spec.file, given[key].span, help=help)
            found |= _shared(name, port, {key: node.data() for key, node in given.items()})
    spec.entries = {**spec.entries, **found}
    spec.shared |= found


def _shared(name: Scalar, port: Port, said: dict[str, Json]) -> dict[str, Port]:
    after, when = said.get("stale_after"), said.get("when_stale")
    seconds = float(after) if isinstance(after, int | float) and after > 0 else None
    shared = Shared(seconds, str(when) if when in STALE else "warn")
    aged = Port(f"{name.text}_stale", "boolean", True, f"Is `{name.text}` too old?", span=port.span, shared=Shared())
    found = {name.text: port._replace(shared=shared)}
    return {**found, aged.name: aged} if "stale_after" in said else found


def _faults(port: Port, given: dict[str, Node]) -> list[tuple[str, str, str]]:
    """Returns what is wrong: the key, the message and what to write."""
    said = {key: node.data() for key, node in given.items()}
    after, when = said.get("stale_after", 1), said.get("when_stale", "warn")
    wrong = [
        ("shared", said.get("shared", "fleet") != "fleet", f"is fleet, not `{said.get('shared')}`"),
        ("stale_after", "shared" not in given, "needs `shared: fleet` beside it"),
        (
            "stale_after",
            not (isinstance(after, int | float) and after > 0),
            f"takes seconds, more than 0, not `{after}`",
        ),
        ("when_stale", "stale_after" not in given, "needs `stale_after` beside it"),
        ("when_stale", when not in STALE, f"is one of {', '.join(STALE)}, not `{when}`"),
        ("when_stale", when == "default" and port.default is ABSENT, "is default, and the entry has no `default`"),
    ]
    return [
        (key, f"`{key}` of `{port.name}` {text}", _HELP) for key, at_fault, text in wrong if key in given and at_fault
    ]
