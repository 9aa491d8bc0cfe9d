"""A manifest for tools that exist elsewhere: one skill each, with a sentence that a person can edit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from bt_author.mcp.leaf.schema import Held, Unheld, flow, held, key_of, one_line
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.tidy import tidy
from bt_runtime.types import Json

_NAMEABLE = re.compile(r"[A-Za-z0-9_.\-]{1,128}")  # as in `impl: mcp/SERVER/TOOL`
TEXT = "text"  # the output of a tool that does not say what it gives


class Foreign(NamedTuple):
    """A tool of somebody else, as its owner describes it."""

    name: str
    about: str
    params: Any  # JSON Schema
    outputs: Any = None  # schema of its outputs, or None
    repeatable: bool = False  # once more does no harm
    seen: str = ""  # digest of the tool as it was seen


class Written(NamedTuple):
    text: str
    skills: list[str]
    notes: list[str]  # what was left out or refused, in words


def manifest(name: str, about: str, impl: str, tools: Iterable[Foreign], known: Registry, schema: str = "") -> Written:
    """The text of a manifest. `impl`: where a tool is done, with {tool} for its name."""
    lines = [f"# yaml-language-server: $schema={schema}"] if schema else []
    lines += ["version: 1", f"skills: {name}", f"about: {flow(about)}", "kinds:"]
    taken: list[str] = []
    notes: list[str] = []
    for tool in tools:
        kind = _named(tool.name, name, {*known.kinds, *taken})
        try:
            body, left = _skill(tool, kind, impl)
        except Unheld as fault:
            notes.append(f"{tool.name}: refused: {fault.message}")
            continue
        taken.append(kind)
        notes += [f"{tool.name}: {note}" for note in left]
        lines += body
    if not taken:
        raise BtError(f"no tool of `{name}` can be a skill", "; ".join(notes)[:500] or "it has none")
    text = "\n".join(lines) + "\n"
    return Written(tidy(text) or text, taken, notes)


def _named(tool: str, server: str, taken: set[str]) -> str:
    plain = re.sub(r"\W+", "_", tool, flags=re.ASCII).strip("_").lower() or "tool"
    plain = plain if not plain[0].isdigit() else f"_{plain}"
    name = plain if plain not in taken else f"{server}_{plain}"
    number = 2
    while name in taken:
        name, number = f"{server}_{plain}_{number}", number + 1
    return name


def _skill(tool: Foreign, kind: str, impl: str) -> tuple[list[str], list[str]]:
    if impl and not _NAMEABLE.fullmatch(tool.name):
        raise Unheld("its name has other signs than letters, digits, `_`, `-` and `.`")
    params = held(tool.params)
    outputs = _outputs(tool.outputs, params)
    slots = [f"{{{name}}}" for name in params.required]
    said = " ".join([kind.replace("_", " ").strip(), *slots])
    lines = [f"  {kind}:", f"    sentence: {flow(said)}"]
    if tool.about.strip():
        lines.append(f"    about: {flow(one_line(tool.about))}")
    lines += _section("params", params) + _section("outputs", outputs)
    lines.append(f"    on_resume: {'repeat' if tool.repeatable else 'fail'}")
    if impl:
        lines.append(f"    impl: {impl.format(tool=tool.name)}")
    if tool.seen:
        lines.append(f"    seen: {flow(tool.seen)}")
    return lines, params.notes + outputs.notes


def _outputs(schema: Any, params: Held) -> Held:
    if not isinstance(schema, dict) or not schema.get("properties"):
        return Held({} if TEXT in params.fields else {TEXT: {"type": "string"}})
    try:
        found = held(schema, optional_null=False)
    except Unheld as fault:
        return Held({TEXT: {"type": "string"}}, notes=[f"its outputs are kept as text: {fault.message}"])
    for name in [name for name in found.fields if name in params.fields]:
        del found.fields[name]
        found.notes.append(f"the output `{name}` is left out: a parameter is called so")
    for about in found.fields.values():
        about.pop("default", None)
    found.notes = [note for note in found.notes if "the server itself checks" not in note]
    return found


def _section(name: str, fields: Held) -> list[str]:
    rows = [f"      {key_of(key)}: {flow(_short(about))}" for key, about in fields.fields.items()]
    return [f"    {name}:", *rows] if rows else []


def _short(about: dict[str, Json]) -> Json:
    return about["type"] if set(about) == {"type"} else about
