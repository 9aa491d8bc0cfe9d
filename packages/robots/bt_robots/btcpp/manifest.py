"""Writes the manifest of an import's custom nodes, and a Python file with a function to fill in for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bt_robots.btcpp.model import CPP, Model, Port, entry_of, literal, parameter
from bt_robots.btcpp.yaml import document
from bt_runtime.types import Json

_FOREIGN = re.compile(r"C\+\+ type ([^;]+)(?:; (.*))?", re.DOTALL)


def about_of(port: Port, type: str) -> str:
    foreign = port.foreign or (CPP.get(port.type, "") if type == "any" and port.type != "any" else "")
    return f"C++ type {foreign}" + (f"; {port.about}" if port.about else "") if foreign else port.about


def foreign_of(about: str) -> tuple[str, str]:
    """Splits `about` into the C++ type that it names and the rest."""
    found = _FOREIGN.fullmatch(about)
    return (found[1], found[2] or "") if found else ("", about)


def param(port: Port, writes: bool = False) -> Json:
    """A port's parameter in the manifest."""
    type, default, left_out = port.type, None, False
    if port.default is not None and not writes:
        left_out = True
        default = literal(port.default, port.type) if port.default and entry_of(port.default) is None else None
        if default is None or (type != "any" and isinstance(default, str) and type != "string"):
            type, default = "any", default
    about = about_of(port, type)
    made: dict[str, Json] = {
        "type": type,
        **({"about": about} if about else {}),
        **({"default": default} if left_out else {}),
    }
    return made if len(made) > 1 else type


def text(stem: str, models: Sequence[Model], kinds: Mapping[str, str]) -> str:
    listed: dict[str, Json] = {}
    for model in models:
        taken = {parameter(p.name): param(p) for p in model.ports.values() if p.direction != "out"}
        given = {parameter(p.name): param(p, writes=True) for p in model.ports.values() if p.direction == "out"}
        given |= {
            f"{parameter(p.name)}_out": param(p, writes=True) for p in model.ports.values() if p.direction == "both"
        }
        open_ = {name for name, said in taken.items() if isinstance(said, dict) and said.get("default", 0) is None}
        slots = "".join(f" {{{name}}}" for name in taken if name not in open_)
        listed[kinds[model.id]] = {
            **({"sentence": kinds[model.id] + slots} if open_ else {}),  # what may be left out has no place in it
            "impl": f"{stem}.py:{kinds[model.id]}",
            **({"instant": True, "on_resume": "repeat"} if model.instant else {}),
            **({"params": taken} if taken else {}),
            **({"outputs": given} if given else {}),
            **({"follow": follow} if (follow := [parameter(p.name) for p in model.ports.values() if p.follow]) else {}),
        }
    return document({"version": 1, "skills": stem, "kinds": listed})


def stubs(stem: str, models: Sequence[Model], kinds: Mapping[str, str]) -> str:
    lines = [f'"""What the nodes of {stem} do: say it here, one after the other."""', "", "from typing import Any"]
    for model in models:
        names = [parameter(p.name) for p in model.ports.values() if p.direction != "out"]
        left = {parameter(p.name): param(p) for p in model.ports.values() if p.default is not None}
        names.sort(key=left.__contains__)
        params = ", ".join(f"{n}: Any = {_default(left[n])!r}" if n in left else f"{n}: Any" for n in names)
        gives = [
            parameter(p.name) + ("_out" if p.direction == "both" else "")
            for p in model.ports.values()
            if p.direction != "in"
        ]
        what = (
            "Gives: " + ", ".join(gives) + "."
            if gives
            else "Says whether it holds."
            if model.sort != "Action"
            else "Does it."
        )
        lines += ["", "", f"def {kinds[model.id]}({params}) -> Any:", f'    """{what}"""']
        lines += [f'    raise NotImplementedError("say in skills/{stem}.py what {kinds[model.id]} does")']
    return "\n".join(lines) + "\n"


def _default(param: Json) -> Json:
    return param.get("default") if isinstance(param, dict) else None
