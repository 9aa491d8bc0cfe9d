"""The commands of the editing page, by name, with checked arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bt_runtime.edit import header, moves, state, subtree, swap, values
from bt_runtime.edit.ace import ace_folder
from bt_runtime.edit.draft import Draft
from bt_runtime.edit.lines import Untouchable
from bt_runtime.edit.outline import Path as NodePath
from bt_runtime.edit.session import Session
from bt_runtime.edit.tryouts import Tryouts
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.interop.lsp import complete, navigate
from bt_runtime.interop.lsp.text import Position
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.types import Json
from bt_runtime.view.render import draw, sketch

_NAME = re.compile(r"[A-Za-z_][\w-]*(/[A-Za-z_][\w-]*)*")
Given = dict[str, Any]


class Commands:
    """Answers the page. Every answer of a change is the file as it is afterwards."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tryouts = Tryouts(session)

    def __call__(self, name: str, given: Given) -> Json:
        command: Callable[[Given], Json] | None = getattr(self, f"do_{name}", None)
        if command is None:
            raise BtError(f"there is no command `{name:.40}`", "")
        try:
            return command(given)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BtError(f"`{name}` lacks or mistakes an argument: {error}", "reload the page") from error

    # Files -----------------------------------------------------------------------------------

    def do_files(self, given: Given) -> Json:
        session = self.session
        return {
            "folder": session.workspace.root.name,
            "ace": ace_folder() is not None,
            "trees": [{"path": session.name(p), "unsaved": self._unsaved(p)} for p in session.trees()],
            "unsaved": [session.name(p) for p, held in session.buffers.items() if held.unsaved],
        }

    def _unsaved(self, path: Path) -> bool:
        held = self.session.buffers.get(path)
        return held is not None and held.unsaved

    def do_open(self, given: Given) -> Json:
        path = self._path(given)
        story = self.tryouts.stories.get(path)
        return {**state.of_file(self.session, path), "story": story.why if story is not None else ""}

    def do_kinds(self, given: Given) -> Json:
        draft = self.session.draft(self._path(given))
        return {"kinds": [state.of_kind(kind) for kind in draft.registry], "common": state.common()}

    def do_new(self, given: Given) -> Json:
        """Creates a tree with one node."""
        name = str(given["name"])
        if not _NAME.fullmatch(name):
            raise BtError(f"`{name:.40}` cannot be the name of a tree", "letters, digits, _ and -; / for a folder")
        folder = "trees/" if (self.session.workspace.root / "trees").is_dir() else ""
        path = self.session.path(f"{folder}{name}.yaml")
        if path.exists() or path in self.session.buffers:
            raise BtError(f"there is a tree `{name}` already", "choose another name")
        text = f"version: 1\ntree: {name.rpartition('/')[2]}\nroot:\n  sequence: []\n"
        self.session.change("new tree", {path: text})
        return state.of_file(self.session, path)

    def do_save(self, given: Given) -> Json:
        path = self._path(given)
        self.session.save(path)
        return state.of_file(self.session, path)

    def do_settle(self, given: Given) -> Json:
        path = self._path(given)
        self.session.settle(path, str(given["take"]))
        return state.of_file(self.session, path)

    def do_undo(self, given: Given) -> Json:
        self.session.undo()
        return self.do_open(given)

    def do_redo(self, given: Given) -> Json:
        self.session.redo()
        return self.do_open(given)

    def do_text(self, given: Given) -> Json:
        """Replaces the text by the one that a person typed."""
        path = self._path(given)
        self._current(path, given)
        self.session.change("typing", {path: str(given["text"])})
        return state.of_file(self.session, path)

    def do_format(self, given: Given) -> Json:
        path = self._path(given)
        self.session.tidied(path)
        return state.of_file(self.session, path)

    def do_fix(self, given: Given) -> Json:
        """Applies one of a fault's fixes."""
        path = self._path(given)
        self._current(path, given)
        document = self.session.document(path)
        ways = self.session.faults(path)[int(given["n"])].fixes
        if not ways:
            raise BtError("a person has to mend this fault", "its help says how")
        fix = ways[int(given.get("fix", 0))]
        text = _edited(document.text.source, fix.edits, document.text.at)
        self.session.change(fix.title, {path: text})
        return state.of_file(self.session, path)

    # Gestures --------------------------------------------------------------------------------

    def do_add(self, given: Given) -> Json:
        """Inserts a new node, by its kind or as YAML, among another node's children."""
        parent, index, place = _node(given, "parent"), int(given.get("index", 10**6)), str(given.get("place", ""))

        def gesture(draft: Draft) -> Draft:
            node = str(given["yaml"]) if "yaml" in given else swap.fresh(self._kind(draft, given))
            return moves.insert(draft, parent, index, node, place)

        return self._gesture(given, "add", gesture)

    def do_delete(self, given: Given) -> Json:
        paths = sorted(_nodes(given), reverse=True)

        def gesture(draft: Draft) -> Draft:
            for path in paths:
                draft = moves.delete(draft, path)
            return draft

        return self._gesture(given, "delete", gesture)

    def do_move(self, given: Given) -> Json:
        path, parent, index = _node(given), _node(given, "parent"), int(given["index"])
        place = str(given.get("place", ""))
        return self._gesture(given, "move", lambda draft: moves.move(draft, path, parent, index, place))

    def do_copy(self, given: Given) -> Json:
        draft = self.session.draft(self._path(given))
        return {"yaml": moves.copied(draft, _node(given))}

    def do_wrap(self, given: Given) -> Json:
        path, count = _node(given), int(given.get("count", 1))
        return self._gesture(given, "wrap", lambda d: moves.wrap(d, path, self._kind(d, given), count))

    def do_unwrap(self, given: Given) -> Json:
        path = _node(given)
        return self._gesture(given, "unwrap", lambda draft: moves.unwrap(draft, path))

    def do_swap(self, given: Given) -> Json:
        path = _node(given)
        return self._gesture(given, "swap", lambda draft: swap.swap(draft, path, self._kind(draft, given)))

    def do_set(self, given: Given) -> Json:
        """Sets a field's value, given as YAML; an empty one removes the field."""
        path, field, value = _node(given), str(given["field"]), str(given["value"])

        def gesture(draft: Draft) -> Draft:
            if value.strip():
                return values.set_field(draft, path, field, value)
            return values.remove_field(draft, path, field)

        return self._gesture(given, f"set {field}", gesture)

    def do_port(self, given: Given) -> Json:
        """Sets an input, an output or an entry of the tree."""
        section, name, value = str(given["section"]), str(given["name"]), str(given["value"])
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise BtError(f"`{name:.40}` cannot be the name of an entry", "ASCII letters, digits and _")
        return self._gesture(given, f"set {name}", lambda draft: header.set_port(draft, section, name, value))

    def do_skills(self, given: Given) -> Json:
        names = [str(name) for name in given["names"]]
        return self._gesture(given, "skills", lambda draft: header.set_skills(draft, names))

    def do_head(self, given: Given) -> Json:
        name, value = str(given["name"]), str(given["value"])
        return self._gesture(given, f"set {name}", lambda draft: header.set_text(draft, name, value))

    def do_extract(self, given: Given) -> Json:
        path, name = self._path(given), str(given["name"])
        if not _NAME.fullmatch(name):
            raise BtError(f"`{name:.40}` cannot be the name of a tree", "letters, digits, _ and -")
        self._current(path, given)
        entries = self._entries(path)
        made = subtree.extract(self.session.draft(path), _node(given), name, entries)
        target = path.with_name(f"{name}.yaml")
        if target.exists() or target in self.session.buffers:
            raise BtError(f"there is a tree `{name}` already", "choose another name")
        self.session.change("extract", {path: made.rest.text, target: made.text})
        return state.of_file(self.session, path)

    def do_inline(self, given: Given) -> Json:
        path, node = self._path(given), _node(given)
        self._current(path, given)
        draft = self.session.draft(path)
        line = draft.item(node).key.start.line + 1
        document = self.session.document(path)
        found = next((i.target for i in document.includes if i.node.span.line == line), None)
        if found is None:
            raise Untouchable("this node stands for no tree that was found", "look at its `file`")
        other = self.session.draft(found) if found.is_relative_to(self.session.workspace.root) else None
        if other is None:
            raise Untouchable("that tree does not belong to the project", "copy it into trees/ first")
        made = subtree.inline(draft, node, other, self._entries(path), self._entries(found))
        self.session.change("inline", {path: made.text})
        return state.of_file(self.session, path)

    def do_rename(self, given: Given) -> Json:
        """Renames the entry, port or tree at a place in the text, in all files that name it."""
        path = self._path(given)
        self._current(path, given)
        session = self.session
        session.workspace.settle()
        document = session.document(path)
        offset = document.text.at(int(given["line"]), int(given["column"]))
        made = navigate.rename(session.workspace, document, offset, str(given["name"]))
        texts: dict[Path, str | None] = {}
        for each, edits in made.edits.items():
            session.buffer(each)
            found = session.document(each)
            texts[each] = _edited(found.text.source, edits, found.text.at)
        if made.moved is not None:
            raise BtError("a tree's file is renamed in the file manager or the terminal", "btr and git see it there")
        session.change("rename", texts)
        return state.of_file(session, path)

    def do_complete(self, given: Given) -> Json:
        path = self._path(given)
        document = self.session.document(path)
        offset = document.text.offset(Position(int(given["line"]), int(given["character"])))
        found = complete.complete(self.session.workspace, document, offset)
        return {"items": [{"label": i.label, "insert": i.insert, "detail": i.detail} for i in found[:200]]}

    def do_picture(self, given: Given) -> Json:
        """The tree as an SVG, or the branch of one node, with the trees that it includes."""
        path = self._path(given)
        project = self.session.workspace.home(path.parent)
        spec = Loader(project).text(self.session.buffer(path).text, str(path), path.parent).sound()
        if given.get("node"):
            key = self.session.draft(path).item(_node(given)).key
            at = (key.start.line + 1, key.start.column + 1)
            spec.root = next(n for n in spec.root.walk() if (n.span.line, n.span.column) == at)
        return {"svg": draw(sketch(spec, None, bool(given.get("whole", False))), "svg")}

    # Trying ----------------------------------------------------------------------------------

    def do_try(self, given: Given) -> Json:
        """Makes one move of a rehearsal, or of a story."""
        return self.tryouts.move(self._path(given), str(given["move"]), given)

    # Arguments -------------------------------------------------------------------------------

    def _gesture(self, given: Given, label: str, gesture: Callable[[Draft], Draft]) -> Json:
        path = self._path(given)
        self._current(path, given)
        self.session.apply(path, label, gesture)
        return state.of_file(self.session, path)

    def _path(self, given: Given) -> Path:
        return self.session.path(str(given["path"]))

    def _current(self, path: Path, given: Given) -> None:
        """Raises when the text has changed since the page was drawn: the gesture could hit another node."""
        version = self.session.buffer(path).version
        if int(given["version"]) != version:
            raise BtError("the file has changed meanwhile", "look at it, and do it again")

    def _kind(self, draft: Draft, given: Given) -> Kind:
        kind = draft.registry.get(str(given["kind"]))
        if kind is None:
            raise BtError(f"there is no kind `{given['kind']!s:.40}`", "")
        return kind

    def _entries(self, path: Path) -> Any:
        document = self.session.document(path)
        entries = document.entries() if document.spec is not None else None
        if entries is None:
            raise BtError("the tree is at fault", "mend it first: its entries cannot be told safely")
        return entries


def _node(given: Given, name: str = "node") -> NodePath:
    return tuple(int(step) for step in given[name])


def _nodes(given: Given) -> list[NodePath]:
    return [tuple(int(step) for step in path) for path in given["nodes"]]


def _edited(text: str, edits: Any, at: Callable[[int, int], int]) -> str:
    """Applies edits, which do not overlap, to a text."""
    spots = sorted((at(e.span.line, e.span.column), at(e.span.end_line, e.span.end_column), e.text) for e in edits)
    for start, end, new in reversed(spots):
        text = text[:start] + new + text[end:]
    return text
