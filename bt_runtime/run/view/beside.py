"""The editor beside the page of a run. It comes as a plugin (an entry point `bt_runtime.editors`); without one the page
offers no editing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.closing import Closing
from bt_runtime.language.project import plugins

if TYPE_CHECKING:
    from bt_runtime.run.view import View

Given = Mapping[str, Any]
Command = Callable[[str, dict[str, Any]], Any]
EDITABLE = {"k": "editor", "t": 0}  # tells the page that it may open an editor


class Beside(Closing):
    """Holds an editor for each project that was asked for; use it as a context. This one has none."""

    editable = False  # True: the pages may open an editor
    stays = False  # True: the page of a run that is over stays, although no terminal is there

    def of_run(self, view: View) -> None:
        """Gives the page of a live run the commands of an editor."""
        return

    def of_journal(self, path: Path, command: Command) -> Command:
        """Adds the commands of an editor to those of the page of a recorded run."""
        return command

    def stay(self) -> None:
        """Waits until the page of a run that is over may go: until Ctrl-C."""
        threading.Event().wait()

    def close(self) -> None:
        return None


def opened() -> Beside:
    """Returns the installed editor; one that edits nothing when none is installed."""
    entry = next(iter(plugins.entries("editors")), None)
    return Beside() if entry is None else of_entry(entry)()


def of_entry(entry: plugins.Entry) -> type[Beside]:
    def fits(found: object) -> bool:
        return isinstance(found, type) and issubclass(found, Beside)

    made: type[Beside] = plugins.load(entry, "a class derived from `Beside`", fits)
    return made
