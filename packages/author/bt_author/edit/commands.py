"""The commands of the editing page, by name, with checked arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bt_author.edit import across, arguments, header, keep, missing, moves, own_editor, state, subtree, swap, values
from bt_author.edit.asking import Asking, Writer
from bt_author.edit.draft import Draft
from bt_author.edit.history import TextChange
from bt_author.edit.lines import Untouchable
from bt_author.edit.outline import Path as NodePath
from bt_author.edit.running import Running
from bt_author.edit.session import MOST_NAME, Session
from bt_author.edit.tryouts import Tryouts
from bt_author.edit.unsaved_loader import UnsavedLoader
from bt_author.lsp import complete
from bt_author.lsp.text import Position
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.run.view.render import Form, draw, sketch
from bt_runtime.types import Json

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_NAME = re.compile(rf"{_WORD.pattern}(/{_WORD.pattern})*")
Given = dict[str, Any]


class Commands:
    """Answers the page. Every answer of a change is the file as it is afterwards."""

    def __init__(
        self, session: Session, writer: Writer | None = None, address: Callable[[], str] = str, anyone: bool = False
    ) -> None:
        self.session = session
        self.tryouts = Tryouts(session)
        self.running = Running(session, self.tryouts, address, anyone)
        self.asking = Asking(session, writer)

    def __call__(self, name: str, given: Given) -> Json:
        command: Callable[[Given], Json] | None = getattr(self, f"do_{name}", None)
        if command is None:
            raise BtError(f"there is no command `{name:.40}`", "")
        arguments.check(name, given)
        return command(given)

    # Files -----------------------------------------------------------------------------------

    def do_files(self, given: Given) -> Json:
        session = self.session
        return {
            "folder": session.workspace.root.name,
            "asks": self.asking.writer is not None,
            "trees": [{"path": session.name(p), "unsaved": self._unsaved(p)} for p in session.trees()],
            "unsaved": [session.name(p) for p, held in session.buffers.items() if held.unsaved],
        }

    def _unsaved(self, path: Path) -> bool:
        held = self.session.buffers.get(path)
        return held is not None and held.unsaved

    def do_open(self, given: Given) -> Json:
        path = self._there(self._path(given))
        story = self.tryouts.stories.get(path)
        return {**state.of_file(self.session, path), "story": story.why if story is not None else ""}

    def do_kinds(self, given: Given) -> Json:
        path = self._path(given)
        draft = self.session.draft(path)
        trees = [each for each in self.session.trees() if each != path and each.parent.name == "trees"]
        return {
            "kinds": [state.of_kind(kind) for kind in draft.registry],
            "common": state.common(),
            "trees": [each.stem for each in trees],
        }

    def do_new(self, given: Given) -> Json:
        """Creates a tree with one node."""
        name = _tree_name(given, _NAME, "letters, digits, _ and -; / for a folder")
        folder = "trees/" if (self.session.workspace.root / "trees").is_dir() else ""
        path = self.session.path(f"{folder}{name}.yaml")
        if self.session.taken(path):
            raise BtError(f"there is a tree `{name}` already", "choose another name")
        own = [name for name in self.session.workspace.site(path).names("skills") if self._own_manifest(name)]
        listed = f"skills: [{', '.join(own)}]\n" if own else ""
        text = f"version: 1\ntree: {name.rpartition('/')[2]}\n{listed}root:\n  sequence: []\n"
        self.session.change("new tree", {path: text})
        return state.of_file(self.session, path)

    def _own_manifest(self, name: str) -> bool:
        """True for a manifest of the project itself: a new tree may use the skills of all of them."""
        return (self.session.workspace.root / "skills" / f"{name}.yaml").is_file()

    def do_save(self, given: Given) -> Json:
        path = self._path(given)
        self.session.save(path)
        return state.of_file(self.session, path)

    def do_settle(self, given: Given) -> Json:
        path = self._path(given)
        self.session.settle(path, str(given["take"]))
        return state.of_file(self.session, path)

    def do_save_all(self, given: Given) -> Json:
        saved = self.session.save_all()
        path = self._path(given)
        return {**state.of_file(self.session, path), "saved": [self.session.name(each) for each in saved]}

    def do_undo(self, given: Given) -> Json:
        return self._after(self.session.undo(), given)

    def do_redo(self, given: Given) -> Json:
        return self._after(self.session.redo(), given)

    def _after(self, change: TextChange, given: Given) -> Json:
        """Returns the file that was shown, or the one that it became."""
        return state.of_file(self.session, self._there(self._path(given), *change.texts))

    def _there(self, path: Path, *others: Path) -> Path:
        """Returns the file; one that is gone is followed to its present name, or to another tree."""
        held = self.session.buffers.get(path)
        if held is None or not held.gone:
            return path
        trees = self.session.trees()
        return next((each for each in (*sorted(held.names), *others, *trees) if each in trees), path)

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
        faults, n = self.session.faults(path), int(given["n"])
        ways = faults[n].fixes if 0 <= n < len(faults) else []
        if not ways:
            raise BtError("a person has to mend this fault", "its help says how")
        number = int(given.get("fix", 0))
        if not 0 <= number < len(ways):
            raise BtError(f"this fault has no fix {number}", "reload the page")
        fix = ways[number]
        text = across.edited(document, fix.edits)
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
        path, name = self._path(given), _tree_name(given, _NAME, "letters, digits, _ and -")
        self._current(path, given)
        entries = self._entries(path)
        made = subtree.extract(self.session.draft(path), _node(given), name, entries)
        target = path.with_name(f"{name}.yaml")
        if self.session.taken(target):
            raise BtError(f"there is a tree `{name}` already", "choose another name")
        self.session.change("extract", {path: made.rest.text, target: made.text})
        return state.of_file(self.session, path)

    def do_inline(self, given: Given) -> Json:
        path, node = self._path(given), _node(given)
        self._current(path, given)
        draft, found = self.session.draft(path), self._included(path, node)
        other = self.session.draft(found) if found.is_relative_to(self.session.workspace.root) else None
        if other is None:
            raise Untouchable("that tree does not belong to the project", "copy it into trees/ first")
        made = subtree.inline(draft, node, other, self._entries(path), self._entries(found))
        self.session.change("inline", {path: made.text})
        return state.of_file(self.session, path)

    def _included(self, path: Path, node: NodePath) -> Path:
        """Returns the file of the tree that a node includes."""
        line = self.session.draft(path).item(node).key.start.line + 1
        includes = self.session.document(path).includes
        found = next((i.target for i in includes if i.node.span.line == line), None)
        if found is None:
            raise Untouchable("this node stands for no tree that was found", "look at its `file`")
        return found

    def do_rename(self, given: Given) -> Json:
        """Renames the entry, port or tree at a place in the text, in all files that name it."""
        path = self._path(given)
        self._current(path, given)
        across.rename_at(self.session, path, int(given["line"]), int(given["column"]), str(given["name"]))
        return state.of_file(self.session, path)

    def do_rename_entry(self, given: Given) -> Json:
        """Renames an input, an output or an entry of the tree, in all files that name it."""
        key = header.key_of(self.session.draft(self._path(given)), str(given["section"]), str(given["entry"]))
        return self.do_rename({**given, "line": key.span.line, "column": key.span.column})

    def do_rename_tree(self, given: Given) -> Json:
        """Renames this tree, or the one that a node includes: its file, its name, and every node that includes it."""
        path, name = self._path(given), _tree_name(given, _WORD, "letters, digits, _ and -")
        self._current(path, given)
        target = self._included(path, _node(given)) if given.get("included") else path
        across.rename_tree(self.session, target, name)
        return {**state.of_file(self.session, self._there(path)), "mentions": self._mentions(target.stem)}

    def do_rename_skill(self, given: Given) -> Json:
        """Renames the skill of a node in its manifest and in all trees."""
        path, name = self._path(given), str(given["name"])
        self._current(path, given)
        old = self.session.draft(path).item(_node(given)).key.text
        across.rename_skill(self.session, path, old, name)
        return {**state.of_file(self.session, path), "mentions": self._mentions(old)}

    def _mentions(self, name: str) -> list[Json]:
        return list(across.mentions(self.session.workspace.root, name))

    def do_skill(self, given: Given) -> Json:
        """Shows the files of a missing skill as a diff; `write` writes them. Nothing of them is run."""
        path = self._path(given)
        self._current(path, given)
        made = missing.missing_skill(self.session, path, _node(given))
        if not given.get("write"):
            return {"diff": made.diff(self.session, path)}
        missing.make(self.session, path, made)
        return state.of_file(self.session, path)

    def do_complete(self, given: Given) -> Json:
        path = self._path(given)
        document = self.session.document(path)
        offset = document.text.offset(Position(int(given["line"]), int(given["character"])))
        found = complete.complete(self.session.workspace, document, offset)
        return {"items": [{"label": i.label, "insert": i.insert, "detail": i.detail} for i in found[:200]]}

    def do_own(self, given: Given) -> Json:
        """Opens the person's own editor at a line, or returns a link for it."""
        return own_editor.opened(self._path(given), int(given["line"]), int(given["column"]))

    def do_picture(self, given: Given) -> Json:
        """The tree or the branch of one node, as `svg` or `pdf`: with the trees that it includes or without, and with
        folded nodes."""
        path = self._path(given)
        project = self.session.workspace.home(path.parent)
        spec = (
            UnsavedLoader(project, self.session.texts())
            .text(self.session.buffer(path).text, str(path), path.parent)
            .sound()
        )
        if given.get("node"):
            at = self._place(path, given["node"])
            spec.root = next(n for n in spec.root.walk() if (n.span.line, n.span.column) == at)
        folded = {self._place(path, each) for each in given.get("folded", ())}
        form: Form = "pdf" if given.get("form") == "pdf" else "svg"
        drawn = sketch(spec, None, bool(given.get("whole")), lambda n: (n.span.line, n.span.column) in folded)
        return {"picture": draw(drawn, form)}

    def _place(self, path: Path, node: Any) -> tuple[int, int]:
        """Returns the line and the column of a node."""
        start = self.session.draft(path).item(tuple(int(step) for step in node)).key.start
        return start.line + 1, start.column + 1

    def do_ask(self, given: Given) -> Json:
        """A change in a sentence: asks for it, looks for the proposal, takes or drops it."""
        return self.asking.move(self._path(given), str(given["move"]), given)

    # Trying ----------------------------------------------------------------------------------

    def do_try(self, given: Given) -> Json:
        """Makes one move of a rehearsal, or of a story."""
        return self.tryouts.move(self._path(given), str(given["move"]), given)

    def do_run(self, given: Given) -> Json:
        """Starts a run of the saved tree, or says how it is."""
        return self.running.move(self._path(given), str(given["move"]), given)

    def do_keep(self, given: Given) -> Json:
        """Puts what was tried in a run into its file: the node's YAML, or an entry's default."""
        path = self._path(given)
        self.session.apply(path, "keep what was tried", lambda draft: keep.kept(draft, given))
        return None

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


def _tree_name(given: Given, form: re.Pattern[str], allowed: str) -> str:
    name = str(given["name"])
    if not form.fullmatch(name) or len(name) > MOST_NAME:
        raise BtError(f"`{name:.40}` cannot be the name of a tree", f"{allowed}; at most {MOST_NAME} of them")
    return name
