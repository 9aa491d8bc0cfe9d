"""The skills that custom nodes of BehaviorTree.CPP become, from their models."""

from __future__ import annotations

import re

from bt_robots.btcpp.model import CPP, Model, Port, entry_of, literal
from bt_robots.imports.names import parameter
from bt_robots.imports.skill_files import SkillStub
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


def stub(model: Model, kind: str) -> SkillStub:
    """Returns what the project's files say of a model."""
    ports = model.ports.values()
    params = {parameter(p.name): param(p) for p in ports if p.direction != "out"}
    outputs = {parameter(p.name): param(p, writes=True) for p in ports if p.direction == "out"}
    outputs |= {f"{parameter(p.name)}_out": param(p, writes=True) for p in ports if p.direction == "both"}
    gives = [parameter(p.name) + ("_out" if p.direction == "both" else "") for p in ports if p.direction != "in"]
    what = "Does it." if model.sort == "Action" else "Says whether it holds."
    return SkillStub(
        kind,
        params,
        outputs,
        [parameter(p.name) for p in ports if p.follow],
        model.instant,
        "Gives: " + ", ".join(gives) + "." if gives else what,
    )
