"""The entries of a whole tree in its model: which stay as they are, which change from outside, and what is taken for
granted of them."""

from __future__ import annotations

from collections.abc import Container

from bt_runtime.language.outside import Names, assumed, entries_of, outside
from bt_runtime.language.spec import Port
from bt_runtime.proof.model.model import Model
from bt_runtime.proof.model.skill import Skill
from bt_runtime.proof.model.tick import UNKNOWN


def add_entries(model: Model, own: Names, used: Container[int]) -> None:
    """Models inputs, which are constant, and entries, of which some change from outside. `own`: what nodes write.
    `used`: the slots that nodes of the model, or properties, read."""
    tree, given = model.tree, model.options.inputs
    entries = entries_of(tree)
    free = {port.name for port in outside(tree, own, model.options.values)}
    free -= own & given.keys()  # a given value of an entry that a node writes is its first one
    alone = {port.name for port in assumed(tree, own, model.options.values)}
    for name, port in {**entries, **tree.ports}.items():
        slot = model.scope.slot(name)
        if name in entries and slot in used:
            _assume(model, port, alone)
        if name in tree.inputs or (name in entries and name not in free and port.required):
            model.inputs[slot] = model.port(port, True) if model.kept[slot] else (UNKNOWN,)
        elif name in entries and name in free:
            _change_from_outside(model, port, slot)
        elif name in entries or not port.required:
            first = given.get(name, port.default) if name in entries else port.default
            model.inputs[slot] = (model.number(first),)
    _trust_outputs(model, used)


def _change_from_outside(model: Model, port: Port, slot: int) -> None:
    found = model.port(port, False) if model.kept[slot] else (UNKNOWN,)
    if slot in model.marks:  # something waits for its being written; at first it holds its default
        first = 0 if port.required else model.number(port.default)
        model.stirred[slot] = tuple(sorted(found, key=lambda number: number != first))
    else:
        model.outside[slot] = found


def _assume(model: Model, port: Port, alone: Container[str]) -> None:
    """Notes what is taken for granted of an entry that matters."""
    if port.name in alone:
        model.assumed.setdefault(port.name)
    if port.required and port.name not in model.options.inputs:
        model.doubt(f"`{port.name}` has no default: it is taken to be written before the first tick")


def _trust_outputs(model: Model, used: Container[int]) -> None:
    """Notes the skills whose outputs matter: a class may change them while it runs, and when it fails."""
    for skill in (each for nodes in model.skills.values() for each in nodes if isinstance(each, Skill)):
        slots = [slot for _, slot in skill.outputs if slot in used and slot not in model.outside]
        if slots and not skill.instant:
            entries = ", ".join(f"`{name}`" for name in sorted({model.names[slot] for slot in slots}))
            model.doubt(f"`{skill.name}` is taken to write {entries} only when it succeeds")
