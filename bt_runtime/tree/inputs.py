"""What a run is given, checked before anything of it is there: a run with wrong inputs opens nothing."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.faults.diagnostic import Diagnostic, Faults
from bt_runtime.language import ports
from bt_runtime.language.findings import did_you_mean
from bt_runtime.language.spec import Port, TreeSpec
from bt_runtime.types import Json


def starting_values(spec: TreeSpec, inputs: Mapping[str, Json]) -> dict[str, Json]:
    """The entries with which a run of this tree begins: its inputs, and defaults. Raises Faults, all of them."""
    found = [_unknown(spec, name) for name in inputs if name not in spec.inputs and name not in spec.entries]
    values: dict[str, Json] = {}
    for name, port in spec.ports.items():
        if name in inputs:
            try:
                ports.check(port, inputs[name])
                values[name] = inputs[name]
            except ports.PortFault as fault:
                found.append(Diagnostic("BT021", fault.message, spec.file, port.span))
        elif not port.required:
            values[name] = port.default
        elif name in spec.inputs:
            found.append(_missing(spec, port))
    if found:
        raise Faults(found, {spec.file: spec.text})
    return values


def _unknown(spec: TreeSpec, name: str) -> Diagnostic:
    known = [*spec.inputs, *spec.entries]
    return Diagnostic(
        "BT022",
        f"`{spec.name}` has no input `{name}`",
        spec.file,
        label=did_you_mean(name, known),
        help=f"inputs: {', '.join(known) or 'none'}",
    )


def _missing(spec: TreeSpec, port: Port) -> Diagnostic:
    name = port.name
    return Diagnostic(
        "BT020",
        f"`{spec.name}` needs its input `{name}`",
        spec.file,
        port.span,
        help=f"give it: `--set {name}=...`, or `inputs={{{name!r}: ...}}`",
    )
