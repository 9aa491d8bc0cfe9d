"""Faults of unknown keys in a manifest: a skill is offered the keys of its own implementation alone."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.language import impls
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.types import Json

OFFER = "it has: "


def offered(path: tuple[str | int, ...], fault: Diagnostic, data: Json, more: Mapping[str, object]) -> Diagnostic:
    """Returns the fault without the keys in `more`, those of all implementations, that this skill cannot have."""
    if len(path) != 2 or path[0] != "kinds" or not fault.help.startswith(OFFER) or not isinstance(data, dict):
        return fault
    impl = data["kinds"][path[1]].get("impl") or data.get("impl") or ""
    foreign = more.keys() - impls.keys_of(filter(impls.named_so, (str(impl),)))
    known = [name for name in fault.help.removeprefix(OFFER).split(", ") if name not in foreign]
    label = "" if any(fault.label == f"did you mean `{name}`?" for name in foreign) else fault.label
    return fault._replace(help=OFFER + ", ".join(known), label=label)
