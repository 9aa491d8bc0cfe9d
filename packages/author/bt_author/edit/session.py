"""One person's editing of a project: open texts, gestures, undo over all files, and changes on the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from bt_author.edit.draft import Draft
from bt_author.edit.history import History, TextChange
from bt_author.edit.lines import Untouchable
from bt_author.edit.merge import merge
from bt_author.lsp.complete import registry_at
from bt_author.lsp.document import Document
from bt_author.lsp.text import Text
from bt_author.lsp.workspace import Workspace
from bt_runtime.language import fixes
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.project import disk, real
from bt_runtime.language.tidy import tidy

Texts = Mapping[Path, str | None]


MOST_NAME = 100  # characters of the name of a tree
MOST_PATH = 1000  # characters of a path below the project


class Buffer:
    """An opened file: its text on the disk (`base`), and its edited text."""

    def __init__(self, text: str) -> None:
        self.base = self.text = text
        self.on_disk = True
        self.version = 0
        self.theirs: str | None = None  # somebody else's version that could not be merged
        self.draft: Draft | None = None  # the draft of the text, or of an earlier text
        self.gone = False  # the file does not exist after the last gesture, or has another name
        self.names: set[Path] = set()  # paths that the file was renamed to and from

    @property
    def unsaved(self) -> bool:
        return not self.gone and (self.text != self.base or not self.on_disk)


class Session:
    """The texts of a project while they are edited. Thread-safe; only `save` writes files."""

    def __init__(self, workspace: Workspace, told: Callable[[Path], None] = lambda path: None) -> None:
        self.workspace = workspace
        self.told = told  # a file has changed here
        self.buffers: dict[Path, Buffer] = {}
        self.history = History()
        self.lock = threading.RLock()
        workspace.scan()

    # What is there ---------------------------------------------------------------------------

    def trees(self) -> list[Path]:
        """The project's trees, by name."""
        listed = {path for path, content in self.workspace.files(self.workspace.root) if content == "tree"}
        made = {path for path in self.buffers if self.workspace.sort(path) == "tree"}
        return sorted(p for p in listed | made if p not in self.buffers or not self.buffers[p].gone)

    def path(self, name: str) -> Path:
        """Returns the file of a path below the project's folder; raises for any other path."""
        if len(name) > MOST_PATH:
            raise BtError(f"{name:.40}… is too long for the name of a file", "shorten it")
        path = real(self.workspace.root / name)
        if not path.is_relative_to(self.workspace.root):
            raise BtError(f"{name} lies outside of the project", "only files of this folder are edited")
        if path.suffix not in (".yaml", ".yml"):
            raise BtError(f"{name} is no YAML file", "trees and manifests are")
        return path

    def taken(self, path: Path) -> bool:
        """True when a new file may not have this path: something is there, be it a link that leads nowhere."""
        return os.path.lexists(path) or path in self.buffers

    def name(self, path: Path) -> str:
        return path.relative_to(self.workspace.root).as_posix()

    def buffer(self, path: Path) -> Buffer:
        with self.lock:
            if path not in self.buffers:
                text = self._on_disk(path)
                if text is None:
                    raise BtError(f"{self.name(path)} cannot be read", "look whether it is still there")
                self.buffers[path] = Buffer(text)
                self.workspace.opened(path, text)
            return self.buffers[path]

    def texts(self) -> dict[Path, str | None]:
        """Returns the texts that are not on the disk as they are here; None for a file that is gone."""
        return {p: None if held.gone else held.text for p, held in self.buffers.items() if held.gone or held.unsaved}

    def document(self, path: Path) -> Document:
        self.buffer(path)
        with self.lock:
            if path in self.workspace.queue or path not in self.workspace.documents:
                self.workspace.check(path)
            found = self.workspace.document(path)
            if found is None:
                raise BtError(f"{self.name(path)} is no file of this project", "trees stand in trees/")
            return found

    def faults(self, path: Path) -> list[Diagnostic]:
        """Returns a file's faults, each with its fixes."""
        document = self.document(path)
        with self.lock:
            return list(fixes.fixable(self.workspace.faults(document), {str(path): document.text.yaml}))

    def draft(self, path: Path) -> Draft:
        held, registry = self.buffer(path), registry_at(self.workspace, self.document(path))
        if held.draft is None or held.draft.text != held.text or held.draft.registry is not registry:
            fresh = held.draft if held.draft is not None and held.draft.text == held.text else None
            held.draft = Draft(held.text, registry)
            if fresh is not None:
                held.draft.document = fresh.document
        return held.draft

    # Changes ---------------------------------------------------------------------------------

    def change(self, label: str, texts: Texts, moved: tuple[Path, Path] | None = None) -> None:
        """Changes several texts as one step, which can be undone. `moved`: a file's name before and after."""
        with self.lock:
            before: dict[Path, tuple[str | None, str | None]] = {}
            for path, text in texts.items():
                known = self.buffers.get(path)
                old = self._on_disk(path) if known is None else None if known.gone else known.text
                if old != text:
                    before[path] = (old, text)
            if not before:
                return
            self.history.add(TextChange(label, before))
            self._put({path: new for path, (_, new) in before.items()})
            if moved is not None:
                names = {*moved, *self.buffers[moved[0]].names, *self.buffers[moved[1]].names}
                for each in names:
                    self.buffers[each].names = names

    def apply(self, path: Path, label: str, gesture: Callable[[Draft], Draft]) -> None:
        """Applies a gesture to one file."""
        with self.lock:
            made = gesture(self.draft(path))
            self.change(label, {path: made.text})
            self.buffers[path].draft = made  # it was read already, to be held to what the gesture means

    def undo(self) -> TextChange:
        with self.lock:
            change = self.history.back()
            if change is None:
                raise BtError("there is nothing to undo", "")
            self._put({path: old for path, (old, _) in change.texts.items()})
            return change

    def redo(self) -> TextChange:
        with self.lock:
            change = self.history.again()
            if change is None:
                raise BtError("there is nothing to do again", "")
            self._put({path: new for path, (_, new) in change.texts.items()})
            return change

    def _put(self, texts: Texts) -> None:
        for path, text in texts.items():
            if path not in self.buffers:
                there = self._on_disk(path)
                self.buffers[path] = Buffer(there or "")
                self.buffers[path].on_disk = there is not None
            held = self.buffers[path]
            held.text, held.gone = text or "", text is None
            held.version += 1
            if held.gone:
                self.workspace.left_out(path)
            elif path in self.workspace.texts:
                self.workspace.edited(path, Text(held.text))
            else:
                self.workspace.opened(path, held.text)
        for path in texts:
            self.told(path)

    def tidied(self, path: Path) -> None:
        """Formats the file in the standard layout."""
        text = tidy(self.buffer(path).text)
        if text is None:
            raise Untouchable("a text at fault has no layout", "mend it first")
        self.change("format", {path: text})

    # The disk --------------------------------------------------------------------------------

    def _on_disk(self, path: Path) -> str | None:
        found = self.workspace.read_text(path)
        return found.source if found is not None else None

    def save(self, path: Path) -> None:
        """Writes one file, unless somebody else has changed it since it was read."""
        with self.lock:
            held = self.buffer(path)
            if held.gone:
                raise BtError(f"{self.name(path)} has another name now", "save it under that one")
            there = self._on_disk(path)
            if there is not None and there != held.base:
                self.look(path)
                if held.theirs is not None:
                    raise BtError(
                        f"{self.name(path)} was changed by somebody else, in the same lines",
                        "keep mine, or take theirs",
                    )
            if not held.text.strip():
                raise BtError("an empty tree is not saved over a file", "delete the file itself if that is meant")
            path.parent.mkdir(parents=True, exist_ok=True)
            disk.write(path, held.text.encode("utf-8", "surrogateescape"))
            held.base, held.on_disk = held.text, True
            for name in held.names:
                self._remove(name)
            self.told(path)

    def _remove(self, path: Path) -> None:
        """Removes a file that was saved under another name, unless somebody else has changed it since."""
        held = self.buffers[path]
        if held.gone and held.on_disk and self._on_disk(path) == held.base:
            path.unlink(missing_ok=True)
            held.base, held.on_disk = "", False

    def save_all(self) -> list[Path]:
        """Writes every unsaved file; returns them."""
        with self.lock:
            unsaved = [path for path, held in self.buffers.items() if held.unsaved and not held.gone]
            for path in unsaved:
                self.save(path)
            return unsaved

    def look(self, path: Path) -> bool:
        """Takes over what somebody else wrote to the disk; True when something changed here."""
        with self.lock:
            held, there = self.buffers[path], self._on_disk(path)
            if there is None or held.gone or there in (held.base, held.theirs):
                return False
            merged = merge(held.base, held.text, there)
            if merged.conflict:
                held.theirs = there
                self.told(path)
                return True
            self.history.forget(path)
            held.base, held.theirs = there, None
            self._put({path: merged.text})
            return True

    def settle(self, path: Path, take: str) -> None:
        """Ends a conflict: `mine` is kept and may be saved, or `theirs` replaces it."""
        with self.lock:
            held = self.buffer(path)
            if held.theirs is None:
                raise BtError("there is no conflict in this file", "")
            theirs, held.theirs = held.theirs, None
            held.base = theirs
            if take == "theirs":
                self.change("take theirs", {path: theirs})
            else:
                self.told(path)

    def watch(self, over: threading.Event, seconds: float = 0.5) -> None:
        """Watches the disk, in a thread of its own, until `over` is set."""
        stamps: dict[Path, tuple[int, int]] = {}
        empty: set[Path] = set()  # seen empty once: another program may be about to write it
        while not over.wait(seconds):
            for path in self._opened():
                with suppress(OSError):
                    found = path.stat()
                    stamp = (found.st_mtime_ns, found.st_size)
                    if not found.st_size and path not in empty:
                        empty.add(path)
                    elif stamps.get(path) != stamp:
                        empty.discard(path)
                        stamps[path] = stamp
                        self.look(path)

    def _opened(self) -> Iterator[Path]:
        with self.lock:
            yield from list(self.buffers)
