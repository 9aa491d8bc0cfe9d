"""The editor beside the page of a run: it opens the file of a node when somebody asks for it, and keeps there what was
tried in the run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_author.cli.lsp import files, sort
from bt_author.edit.remote_editor import RemoteEditor
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, real
from bt_runtime.run.debug.debugger import debugger_of, debugging
from bt_runtime.run.view import beside
from bt_runtime.run.view.beside import EDITABLE, Command, Given
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_author.edit.serving import Editor
    from bt_runtime.language.spec import TreeSpec
    from bt_runtime.run.run import Run
    from bt_runtime.run.view import View


class Beside(beside.Beside):
    """Holds an editor for each project that was asked for; use it as a context. No editor starts unasked."""

    editable = True

    def __init__(self) -> None:
        self.editors: dict[Path, Editor | RemoteEditor] = {}
        self.started_by = RemoteEditor.of_environment()
        self.stays = self.started_by is not None
        self.commands: dict[str, Callable[[Given], Json]] = {"edit": self.edit, "own": self.own}

    def of_run(self, view: View) -> None:
        """Gives the page of a live run the commands of an editor."""
        view.extra = {
            **self.commands,
            "complete": lambda given: self.complete(view.run, given),
            "keep": lambda given: self.keep(view.run, given),
            "keep_value": lambda given: self.keep_value(view, given),
        }
        here = {"url": self.started_by.address} if self.started_by is not None else {}
        view.feed.put({**EDITABLE, **here})

    def of_journal(self, path: Path, command: Command) -> Command:
        """Adds the commands of an editor to those of the page of a recorded run."""

        def answered(name: str, given: dict[str, Any]) -> Json:
            if name not in self.commands:
                return command(name, given)
            named = str(given.get("file", ""))
            return self.commands[name]({**given, "file": _origins(path).get(named, named)})

        return answered

    def edit(self, given: Given) -> Json:
        """Opens the editor on the file of a node; returns the address of its page."""
        file, at, same = self._place(given)
        editor = self._editor(file)
        return {"url": editor.url(file, at), "same": same}

    def own(self, given: Given) -> Json:
        """Opens the person's own editor there, or returns a link for it."""
        from bt_author.edit import own_editor

        file, at, _ = self._place(given)
        return own_editor.opened(file, *at)

    def complete(self, run: Run, given: Given) -> Json:
        """Returns what may stand in the YAML that a person types in a node's place."""
        path, text, line, character = (given.get(name) for name in ("path", "text", "line", "character"))
        if (
            not isinstance(path, str)
            or not isinstance(text, str)
            or type(line) is not int
            or type(character) is not int
        ):
            raise BtError("`complete` needs a path, a text, a line and a character", "")
        from bt_author.edit.completing import completed

        return {"items": completed(debugger_of(run).tree_at(path), text, line, character)}

    def keep(self, run: Run, given: Given) -> Json:
        """Puts a node's YAML as it was edited in the run into its file. The file is saved in the editor."""
        debugger, which = debugging(run), given.get("which")
        made = next(
            (each for each in (debugger.replaced if debugger is not None else ()) if each.number == which), None
        )
        if made is None:
            raise BtError("this change is not in force any more", "look at the list of changes")
        spec = made.spec
        place = {"file": spec.file, "line": spec.span.line, "column": spec.span.column}
        return self._kept(place, {"kind": spec.kind.name, "yaml": made.edited})

    def keep_value(self, view: View, given: Given) -> Json:
        """Makes the value that was written on the page the entry's default, in the file of its tree."""
        key = (str(given.get("scope", "")), str(given.get("name", "")))
        if key not in view.written:
            raise BtError(f"`{key[1]:.40}` was not written here", "look at the list of changes")
        value = view.written[key][1]
        place = {"file": _tree_of(view.run, key[0]).file, "line": 1, "column": 1}
        return self._kept(place, {"entry": key[1], "value": json.dumps(value)})

    def _kept(self, place: Given, kept: Given) -> Json:
        file, (line, column), _ = self._place(place)
        editor = self._editor(file)
        path = file.relative_to(editor.folder).as_posix()
        editor.commands("keep", {"path": path, "line": line, "column": column, **kept})
        return {"url": editor.url(file, (line, column)), "same": True}

    def _place(self, given: Given) -> tuple[Path, tuple[int, int], bool]:
        """Returns the file, line and column of a node. `row`: its line in the run's text; when the file has changed,
        the nearest line with the same text counts."""
        named, line, column = str(given.get("file", "")), int(given.get("line", 1)), int(given.get("column", 1))
        file = real(Path(named))
        if not named or not file.is_file() or sort(file) != "tree":
            raise BtError(f"{named or 'this tree'} is no file on this machine", "the tree was moved, or came as a text")
        row = given.get("row")
        rows = disk.read_text(file).split("\n")
        if not isinstance(row, str) or (line <= len(rows) and rows[line - 1] == row):
            return file, (line, column), True
        near = sorted((abs(number - line), number) for number, each in enumerate(rows, 1) if each == row)
        return file, (near[0][1] if near else line, column), bool(near)

    def _editor(self, file: Path) -> Editor | RemoteEditor:
        from bt_author.edit.serving import Editor

        if self.started_by is not None and file.is_relative_to(self.started_by.folder):
            return self.started_by
        home = real(project.find_root(file.parent) or file.parent)
        if home not in self.editors:
            self.editors[home] = Editor(home, files, sort)
        return self.editors[home]

    def stay(self) -> None:
        """Waits for the editor that started the run: it closes our standard input."""
        if self.started_by is None:
            super().stay()
        sys.stdin.buffer.read()

    def close(self) -> None:
        while self.editors:
            self.editors.popitem()[1].close()


def _tree_of(run: Run, scope: str) -> TreeSpec:
    """Returns the tree whose entries lie in this scope."""
    if not scope:
        return run.parts.tree.spec
    node = run.parts.engine.find(scope)
    tree: TreeSpec = getattr(node, "tree", None) or run.parts.engine.growth.owner(node).tree
    return tree


def _origins(path: Path) -> dict[str, str]:
    """Returns where the files of a journal's trees lay when it was recorded."""
    from bt_runtime.journal.reading import Recording

    found = Recording(path).head.get("files")
    each = [f for f in found if isinstance(f, dict)] if isinstance(found, list) else []
    return {str(f["place"]): str(f["origin"]) for f in each if f.get("place") and f.get("origin")}
