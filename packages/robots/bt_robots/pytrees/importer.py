"""Imports Python source with trees of py_trees as a project: trees, a manifest and a Python file of skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bt_robots.imports import skill_files, yaml
from bt_robots.imports.names import Names, identifier
from bt_robots.imports.project import Imported
from bt_robots.imports.report import Place, Report, fault
from bt_robots.imports.yaml import Step
from bt_robots.pytrees.calls import Root, kind_of
from bt_robots.pytrees.conditions import Conditions
from bt_robots.pytrees.leaves import Leaves, as_json
from bt_robots.pytrees.modules import SourceFiles
from bt_robots.pytrees.nodes import TreeNodes
from bt_robots.pytrees.statements import Statements
from bt_robots.pytrees.values import Behaviour, OwnClass, OwnFunction, OwnObject, SourceModule, Unread, Value
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError

MOST_TREES = 500
MOST_NODES = 20_000


def load(named: Sequence[Path], include: Sequence[Path] = ()) -> Imported:
    """Imports files, or all files of folders. Raises BtError when they hold no tree; lesser problems are in the
    report."""
    report = Report()
    files = SourceFiles(named, include, report)
    reader = Statements(files)
    try:
        roots = _Roots(reader, files, report, many=any(path.is_dir() for path in named)).found()
    except RecursionError:
        raise fault(reader.at, "calls or brackets are nested too deeply here", "write it in parts") from None
    if not roots:
        raise BtError(f"{named[0]} builds no tree of py_trees that can be read", "name the file that makes the root")
    stem = identifier(project.real(named[0]).stem.lower(), "robot")
    return _Project(reader, roots, stem, report).imported()


class _Roots:
    """Finds the trees: what functions, classes and modules of the files make and nobody else holds."""

    def __init__(self, reader: Statements, files: SourceFiles, report: Report, many: bool) -> None:
        self.reader, self.files, self.report = reader, files, report
        self.modules: list[SourceModule] = []
        for path in files.files:
            try:
                self.modules.append(reader.module(files.load(path), main=True))
            except BtError as error:
                if not many:
                    raise
                self.report.add(Place(files.shown[path], 1, 1), files.shown[path], "lost", f"it is not read: {error}")

    def found(self) -> list[Root]:
        for module in self.modules:
            self.tried(module)
        held = set[int]()
        for root in self.reader.roots:
            held |= below(root.node)
        made = {id(r.node): r.label for r in self.reader.roots if not r.ticked and r.label not in ("", "main")}
        kept: dict[tuple[Any, ...], Root] = {}
        for root in sorted(self.reader.roots, key=lambda root: not root.ticked):
            leaf = root.node.kind == "own" and not root.ticked
            if id(root.node) not in held and not leaf:  # called like the function that made it, whoever ticks it
                found = root._replace(label=made.get(id(root.node), root.label))
                kept.setdefault((root.node.place, shape(root.node)), found)
        return [root for root in kept.values() if root.node.children or root.ticked] or list(kept.values())

    def tried(self, module: SourceModule) -> None:
        """Calls what nobody has called, with parameters that are not known."""
        own = [v for v in module.scope.names.values() if getattr(getattr(v, "scope", None), "module", None) is module]
        functions = [each for each in own if isinstance(each, OwnFunction) and each.name != "lambda"]
        for function in sorted(functions, key=needed):
            if not function.called and not function.name.startswith("test_"):
                self.reader.call_function(function, [], {}, module.place(function.node))
        for cls in [each for each in own if isinstance(each, OwnClass)]:
            if cls.made or (kind := kind_of(cls)) == "own":
                continue
            made = self.reader.make(cls, [], {}, cls.place)
            if kind is None:
                self.methods(cls, made)
            self.reader.candidates(made, cls.name, module.shown)
        for name, value in list(module.scope.names.items()):
            self.reader.candidates(value, name, module.shown)
            if isinstance(value, OwnObject):
                self.attributes(value, name, module)

    def methods(self, cls: OwnClass, made: Value) -> None:
        for name in sorted(cls.own_methods()):
            method = cls.find(name)
            if not method.called and not name.startswith("__"):
                given = [] if method.sort == "staticmethod" else [made]
                self.reader.call_function(method, given, {}, cls.scope.module.place(method.node))
        self.attributes(made, cls.name, cls.scope.module)

    def attributes(self, made: Value, label: str, module: SourceModule) -> None:
        if isinstance(made, OwnObject):
            for value in list(made.attributes.values()):
                self.reader.candidates(value, label, module.shown)


def needed(function: OwnFunction) -> int:
    """How many parameters must be given."""
    return len(function.node.args.args) - len(function.defaults)


def below(root: Behaviour) -> set[int]:
    """The nodes below a node, itself left out."""
    found, todo = set[int](), list(root.children)
    while todo:
        each = todo.pop()
        if isinstance(each, Behaviour) and id(each) not in found and each is not root:
            found.add(id(each))
            todo += each.children
    return found


def shape(root: Behaviour, deep: int = 0) -> tuple[Any, ...]:
    """What tells two calls of one function apart: the names, kinds and places of all nodes."""
    if deep > 100:
        return ()
    below = (shape(c, deep + 1) if isinstance(c, Behaviour) else str(type(c)) for c in root.children)
    return (root.kind, root.name, root.place, repr(root.args.get("memory")), *below)


class _Project:
    """Writes the trees and their skills."""

    def __init__(self, reader: Statements, roots: list[Root], stem: str, report: Report) -> None:
        self.reader, self.stem, self.report = reader, stem, report
        if len(roots) > MOST_TREES:
            raise BtError(f"these files make {len(roots):,} trees, more than {MOST_TREES:,}", "import them in parts")
        self.roots = roots
        self.entries = Names("entry", files=False)
        self.leaves = Leaves(self.entries)
        self.nodes = 0
        names = Names("tree")
        files = [root.module for root in roots]
        self.names: list[str] = []
        for root in roots:
            alone = files.count(root.module) == 1
            said = Path(root.module).stem if alone or not root.label else root.label
            name = plain = names.of(said if said != "__init__" else Path(root.module).parent.name)
            number = 1
            while name in self.names:
                number += 1
                name = f"{plain}_{number}"
            self.names.append(name)

    def imported(self) -> Imported:
        files: dict[str, str] = {"btr.yaml": "version: 1\n"}
        written = [self.tree(root) for root in self.roots]
        stubs = self.leaves.stubs()
        kinds = {stub.kind for stub in stubs}
        for name, (head, step) in zip(self.names, written, strict=True):
            used = {"skills": [self.stem]} if uses(step) & kinds else {}
            files[f"trees/{name}.yaml"] = yaml.document({"version": 1, "tree": name, **used, **head, "root": step})
        if stubs:
            files |= skill_files.files(self.stem, stubs)
        return Imported(files, self.names[0], self.report)

    def tree(self, root: Root) -> tuple[dict[str, Any], Step]:
        self.nodes += len(below(root.node))
        if self.nodes > MOST_NODES:
            raise fault(root.node.place, f"more than {MOST_NODES:,} nodes", "import the files in parts")
        conditions = Conditions(self.entries, self.reader.value)
        nodes = TreeNodes(conditions, self.leaves, self.report)
        try:
            step = nodes.step(root.node, root.node.place)
        except RecursionError:
            raise fault(root.node.place, "nodes are nested too deeply", "make a tree of a part") from None
        read = conditions.read | {self.entries.of(key) for each in held(root.node) for key in each.reads}
        board: dict[str, Any] = {}
        for key, value in self.reader.initial.items():
            entry = self.entries.of(key.strip("/"))
            if entry in read | nodes.writes:
                self.begins(board, entry, value)
        board |= dict.fromkeys(sorted(read - nodes.writes - board.keys()), "any")
        return ({"blackboard": board} if board else {}), step

    def begins(self, board: dict[str, Any], entry: str, value: Value) -> None:
        try:
            board[entry] = {"type": "any", "default": as_json(value)}
        except ValueError:
            place = value.place if isinstance(value, Unread) else self.reader.at
            self.report.add(place, f"`{entry}`", "lost", "what it is at the beginning is known only when it runs")


def held(root: Behaviour) -> list[Behaviour]:
    found: dict[int, Behaviour] = {}
    todo: list[Any] = [root]
    while todo:
        each = todo.pop()
        if isinstance(each, Behaviour) and id(each) not in found:
            found[id(each)] = each
            todo += each.children
    return list(found.values())


def uses(step: Step) -> set[str]:
    """The kinds of all nodes of a tree."""
    found, todo = set[str](), [step]
    while todo:
        each = todo.pop()
        found.add(each.kind)
        for value in each.fields.values():
            todo += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, Step)]
    return found
