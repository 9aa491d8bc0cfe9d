"""Checks a run's inputs before the run opens anything, and entries that a program writes later."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from bt_runtime.events import Grown, Notice
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import Diagnostic, Faults, did_you_mean, nearest
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.tree.node import literal
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context

MOST_DOUBTS = 100  # new entries that are compared with the names of the tree
_NUMBER = "_0123456789"


def starting_values(spec: TreeSpec, inputs: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the initial entries of a run: inputs and defaults. Raises Faults with all faults."""
    fleet = {name: port for name, port in spec.shared.items() if port is not None and name in inputs}
    found = [_unknown(spec, name) for name in inputs if name not in {*spec.inputs, *spec.entries, *fleet}]
    values: dict[str, Json] = {}
    for name, port in {**fleet, **spec.ports}.items():
        if name in inputs:
            try:
                ports.check(port, inputs[name])
                values[name] = inputs[name]
            except ports.PortFault as fault:
                found.append(Diagnostic("BT021", fault.message, spec.file, port.span))
        elif not port.required:
            values[name] = literal(port.default)
        elif name in spec.inputs:
            found.append(_missing(spec, port))
    if found:
        raise Faults(found, {spec.file: spec.text})
    return values


def _unknown(spec: TreeSpec, name: str) -> Diagnostic:
    known = [*spec.inputs, *spec.entries]
    label, help = did_you_mean(str(name), known), f"inputs: {', '.join(known) or 'none'}"
    return Diagnostic("BT022", f"`{spec.name}` has no input `{name}`", spec.file, label=label, help=help)


def _missing(spec: TreeSpec, port: Port) -> Diagnostic:
    name = port.name
    help = f"give it: `--set {name}=...`, or `inputs={{{name!r}: ...}}`"
    return Diagnostic("BT020", f"`{spec.name}` needs its input `{name}`", spec.file, port.span, help=help)


class Doubts:
    """Warns a program once for each entry that it writes under a probably misspelt name, or that is an input."""

    def __init__(self, context: Context, spec: TreeSpec) -> None:
        self.context, self.spec = context, spec
        self.inputs: Container[str] = spec.inputs
        self.seen: set[str] = set()
        self.grown = deque[NodeSpec](maxlen=MOST_DOUBTS)  # the latest grafts: names that they bring are known as well
        context.stream.listen(self.more, Grown)

    def more(self, grown: Grown) -> None:
        spec = getattr(grown.root, "spec", None)
        if isinstance(spec, NodeSpec):
            self.grown.append(spec)

    def tell(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.seen and len(self.seen) < MOST_DOUBTS:
                self.seen.add(name)
                text = self._input(name) if name in self.inputs else self._misspelt(name)
                if text:
                    self.context.emit(Notice("", "warning", text))

    def _input(self, name: str) -> str:
        return f"the input `{name}` was changed from outside; what changes in a run belongs under `blackboard:`"

    def _misspelt(self, name: str) -> str:
        from bt_runtime.tree.describe.facts import entries_of  # imported only when an entry is new

        known = {*self.spec.ports, *entries_of(self.spec.root, *self.grown)}
        close = None if name in known else nearest(str(name), sorted(known), 0.8)
        if close is None or name.strip(_NUMBER) == close.strip(_NUMBER):  # `goal_2` beside `goal_1` is meant
            return ""
        return f"no node or port of the tree names the entry `{name}`, written from outside: did you mean `{close}`?"
