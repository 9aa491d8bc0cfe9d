"""The hover text of a name, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bt_runtime.language.emit.editor import hover
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.ports import range_of
from bt_runtime.language.spec import Port, TreeSpec


def kind_about(kind: Kind) -> str:
    """A kind with its rules, or a skill with its sentence."""
    if kind.family != "skill":
        return f"**{kind.name}** ({kind.family})\n\n{hover(kind)}"
    entry = kind.data.get("entry")
    said = [f"**{kind.name}** (skill)", kind.about]
    if entry is not None:
        said.append(f"Sentence: *{entry.sentence}*")
        said += [f"Needs: {', '.join(entry.needs)}"] if entry.needs else []
        said += [f"Brings: {', '.join(entry.brings)}"] if entry.brings else []
        said += [f"Takes about {entry.takes:g} s."] if entry.takes else []
        said.append(f"After an interruption: {entry.on_resume}. Done by `{entry.impl}`.")
    said.append("\n".join(f"- {field_about(field)}" for field in kind.fields))
    return "\n\n".join(part for part in said if part)


def field_about(field: Field) -> str:
    said = [f"`{field.name}`: {field.type}{', an output' if field.writes else ''}"]
    if field.required:
        said.append("needed")
    if field.default is not None:
        said.append(f"default `{json.dumps(field.default, ensure_ascii=False, default=str)}`")
    if field.minimum is not None or field.maximum is not None:
        said.append(range_of(field))
    if field.choices:
        said.append("one of " + ", ".join(f"`{each}`" for each in field.choices))
    return ", ".join(said) + (f". {field.about}" if field.about else "")


def tree_about(tree: TreeSpec) -> str:
    lines = [f"**{tree.name}** (tree)", tree.about]
    for said, ports in (("Inputs", tree.inputs), ("Outputs", tree.outputs)):
        lines += [f"{said}:\n" + "\n".join(f"- {port_about(port)}" for port in ports.values())] if ports else []
    return "\n\n".join(line for line in lines if line)


def port_about(port: Port) -> str:
    more = [] if port.required else [f"default `{json.dumps(port.default, ensure_ascii=False, default=str)}`"]
    more += [f"one of {', '.join(f'`{c}`' for c in port.choices)}"] if port.choices else []
    return f"`{port.name}`: {', '.join([str(port.type), *more])}" + (f". {port.about}" if port.about else "")


def entry_about(name: str, type: str, writers: Iterable[str]) -> str:
    listed = list(writers)
    written = "\n".join(f"- {each}" for each in listed)
    return f"`{name}`: {type} (entry)\n\n" + (f"Written by:\n{written}" if listed else "Nothing here writes it.")
