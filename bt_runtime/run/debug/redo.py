"""A debugger's changes made again from a journal, and what of them still holds when a run is resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bt_runtime.events import Line
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.debugger import Debugger
from bt_runtime.types import Json


def redo(debugger: Debugger, body: Mapping[str, Json]) -> None:
    """Repeats a recorded change of a debugger."""
    debugger.made_again = True
    given = {name: value for name, value in body.items() if name != "do"}
    known: dict[str, Callable[..., object]] = {
        "break": lambda path, moment, condition, once: debugger.break_at(path, moment, condition, once),
        "clear": lambda which: debugger.clear(which),
        "force": lambda path, acts: debugger.force(path, *acts),
        "replace": lambda path, text, by="": debugger.replace(path, text, by),
        "take back": lambda which: debugger.take_back(which),
        "pass": lambda: debugger.hooks.let_go(),
    }
    try:
        known[str(body["do"])](**given)
    except (TypeError, KeyError) as error:
        hint = "it was changed, or written by another version"
        raise BtError(f"the journal has an entry that no debugger writes: {error}", hint) from error


def resumed(debugger: Debugger) -> None:
    """The debugging process has gone: its breakpoints are removed, and its changes stay in force."""
    debugger.made_again = False
    if debugger.breakpoints:
        debugger.clear()
    debugger.let_go()
    if debugger.changes:
        said = "; ".join(debugger.changes)
        text = f"a debugger had changed this run, and that still holds: {said}. `take_back()` undoes it"
        debugger.context.emit(Line("", "warning", text))
