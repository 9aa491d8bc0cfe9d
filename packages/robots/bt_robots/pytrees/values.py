"""The values that the reader of Python source computes with: plain ones, and these."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bt_robots.imports.report import Place

Value = Any  # None, bool, int, float, str, lists, tuples, sets and mappings of those, or a class of this module
MISSING = object()


class Unread:
    """A value that is known only when the program runs, and why."""

    def __init__(self, place: Place, why: str) -> None:
        self.place, self.why = place, why


class UnreadSpread(Unread):
    """The values behind a `*`: not even their number is known."""


class OutsideCall(Unread):
    """The result of a call of something that stands in no file of the import."""

    def __init__(self, place: Place, name: str, args: list[Value], named: dict[str, Value]) -> None:
        why = "is of another version" if name.startswith("py_trees.") else "stands in no file of this import"
        super().__init__(place, f"`{name}` {why}")
        self.name, self.args, self.named = name, args, named


@dataclass(frozen=True)
class Outside:
    """A name of a module that is no file of the import, such as `py_trees.composites.Sequence`."""

    name: str

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


class StatusWord(str):
    """A member of `py_trees.common.Status`."""


@dataclass(frozen=True)
class ParallelRule:
    """A policy of a parallel."""

    name: str
    synchronise: Value = True
    selected: Value = None


@dataclass(frozen=True)
class Comparison:
    """A `ComparisonExpression`."""

    variable: Value
    value: Value
    operator: Value
    place: Place


class NameScope:
    """Names of a module, a class or a call; a name that it lacks is looked up outside."""

    def __init__(self, module: SourceModule, outer: NameScope | None = None, owner: OwnClass | None = None) -> None:
        self.module, self.outer, self.owner = module, outer, owner
        self.names: dict[str, Value] = {}
        self.above = set[str]()  # names of `global` and `nonlocal`
        self.receiver: Value = None  # `self` of a method
        self.doubt: Unread | None = None  # a return that may have been taken before
        self.doubtful = False  # with a value

    def find(self, name: str) -> Value:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return MISSING

    def put(self, name: str, value: Value) -> None:
        scope: NameScope = self
        while name in scope.above and scope.outer is not None:
            scope = scope.outer
        scope.names[name] = value


class SourceModule:
    """A file of the import."""

    def __init__(self, shown: str, name: str, tree: ast.Module) -> None:
        self.shown, self.name, self.tree = shown, name, tree
        self.scope = NameScope(self)
        self.stars: list[str] = []  # modules of `from … import *` that are no file of the import

    def place(self, node: ast.AST) -> Place:
        return Place(self.shown, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


class OwnFunction:
    """A function of the files, with the scope in which it was defined."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, scope: NameScope, owner: OwnClass | None = None) -> None:
        self.node, self.scope, self.owner = node, scope, owner
        self.defaults: list[Value] = []
        self.keyword_defaults: list[Value] = []
        self.called = False
        self.sort = ""  # `staticmethod`, `classmethod`, `property`, or another decorator

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"


class OwnClass:
    """A class of the files."""

    def __init__(self, node: ast.ClassDef, scope: NameScope, bases: list[Value]) -> None:
        self.node, self.scope, self.bases = node, scope, bases
        self.made = False  # an object of the class has been made
        self.place = scope.module.place(node)

    @property
    def name(self) -> str:
        return self.node.name

    def lineage(self) -> list[OwnClass]:
        """The class and the classes of the files that it is derived from, nearest first."""
        found: list[OwnClass] = []
        todo: list[Value] = [self]
        while todo:
            each = todo.pop(0)
            if isinstance(each, OwnClass) and each not in found:
                found.append(each)
                todo = [*each.bases, *todo]
        return found

    def outside(self) -> list[Outside]:
        return [base for each in self.lineage() for base in each.bases if isinstance(base, Outside)]

    def find(self, name: str) -> Value:
        for each in self.lineage():
            if name in each.scope.names:
                return each.scope.names[name]
        return MISSING

    def own_methods(self) -> set[str]:
        return {name for each in self.lineage() for name, v in each.scope.names.items() if isinstance(v, OwnFunction)}


class OwnObject:
    """An object of a class that is no behaviour."""

    def __init__(self, cls: OwnClass) -> None:
        self.cls = cls
        self.attributes: dict[str, Value] = {}


class BoardClient:
    """A client of the blackboard; `owner` is told which keys it registers."""

    def __init__(self, namespace: str = "", owner: Behaviour | None = None) -> None:
        self.namespace, self.owner = namespace, owner

    def key(self, said: str) -> str:
        return said.lstrip("/") if said.startswith("/") else f"{self.namespace.strip('/')}/{said}".lstrip("/")


class Behaviour:
    """A node of a tree. `kind` is a name of py_trees, `own` for a leaf of the files, `unread` for a placeholder."""

    def __init__(self, kind: str, name: str, place: Place, cls: OwnClass | None = None) -> None:
        self.kind, self.name, self.place, self.cls = kind, name, place, cls
        self.args: dict[str, Value] = {}
        self.children: list[Value] = []
        self.attributes: dict[str, Value] = {}
        self.reads: dict[str, None] = {}  # keys of the blackboard
        self.writes: dict[str, None] = {}
        self.notes: list[str] = []  # differences and guesses, in words
        self.became = ""  # what it is now, when its kind alone does not say so
        self.unread: Unread | None = None


@dataclass(frozen=True)
class TreeHandle:
    """A `BehaviourTree`."""

    root: Value


@dataclass(frozen=True)
class BoundMethod:
    receiver: Value
    method: OwnFunction | str


@dataclass(frozen=True)
class SuperOf:
    """`super()` in a method of `cls`."""

    receiver: Value
    cls: OwnClass
