"""Follows the statements of Python source. What hangs on a test or a loop that is not known marks what it changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_robots.imports.report import Place
from bt_robots.pytrees import plain
from bt_robots.pytrees.calls import ADDERS, Calls
from bt_robots.pytrees.expressions import WHEN_IT_RUNS, source
from bt_robots.pytrees.modules import SourceFiles
from bt_robots.pytrees.plain import NoValue
from bt_robots.pytrees.values import (
    MISSING,
    Behaviour,
    NameScope,
    Outside,
    OwnClass,
    OwnFunction,
    SourceModule,
    Unread,
    Value,
)
from bt_runtime.language.faults.diagnostic import BtError

_EXITS = ("sys.exit", "exit", "quit", "os._exit")
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Ended(NamedTuple):
    """How a block was left: `return`, `raise`, `break`, `continue`, or `doubt` when that is not known."""

    how: str
    value: Value = None


class Statements(Calls):
    def __init__(self, files: SourceFiles) -> None:
        super().__init__()
        self.files = files
        self.begun = set[str]()  # modules whose body is read, or was
        self.spoilt = set[Path]()

    # Modules --------------------------------------------------------------------------------

    def module(self, module: SourceModule, main: bool = False) -> SourceModule:
        """Reads the body of a file, once."""
        if module.shown in self.begun:
            return module
        self.begun.add(module.shown)
        module.scope.names["__name__"] = "__main__" if main else module.name
        for each in module.tree.body:  # so that files which import each other find them
            if isinstance(each, ast.FunctionDef):
                module.scope.names[each.name] = OwnFunction(each, module.scope)
        self.block(module.tree.body, module.scope)
        return module

    def do_import(self, node: ast.Import, scope: NameScope) -> None:
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.split(".")[0]
            scope.put(alias.asname or whole, self.imported(whole, 0, scope) or Outside(whole))

    def do_importfrom(self, node: ast.ImportFrom, scope: NameScope) -> None:
        name = node.module or ""
        found = self.imported(name, node.level, scope)
        for alias in node.names:
            if alias.name == "*":
                if found is None:
                    scope.module.stars.append(name)
                else:
                    scope.names |= {n: v for n, v in found.scope.names.items() if not n.startswith("_")}
                continue
            value: Value = MISSING if found is None else found.scope.names.get(alias.name, MISSING)
            if value is MISSING:
                below = self.imported(f"{name}.{alias.name}".lstrip("."), node.level, scope)
                value = below or (Outside(f"{name}.{alias.name}") if found is None else self.unread(node, scope))
            scope.put(alias.asname or alias.name, value)

    def imported(self, name: str, level: int, scope: NameScope) -> SourceModule | None:
        return self.loaded(self.files.find(name, level, self.files.path_of(scope.module)))

    def loaded(self, path: Path | None) -> SourceModule | None:
        """The module of a file that another one imports; None when it cannot be read, which the report tells."""
        if path is None or path in self.spoilt:
            return None
        try:
            module = self.files.load(path)
        except BtError as error:
            self.spoilt.add(path)
            self.files.report.add(Place(str(path), 1, 1), path.name, "lost", f"it is not read: {error}")
            return None
        return self.module(module)

    def attribute(self, value: Value, name: str, node: ast.AST, scope: NameScope) -> Value:
        if isinstance(value, SourceModule):
            found = value.scope.names.get(name, MISSING)
            if found is not MISSING:
                return found
            return self.loaded(self.files.find(name, 1, self.files.path_of(value))) or self.unread(node, scope)
        return super().attribute(value, name, node, scope)

    # Blocks ---------------------------------------------------------------------------------

    def body(self, function: OwnFunction, scope: NameScope) -> Value:
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body, scope)
        if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in within(function.node.body)):
            return Unread(scope.module.place(function.node), f"`{function.name}` is a generator")
        ended = self.block(function.node.body, scope)
        if scope.doubt is not None:
            if ended is not None and isinstance(ended.value, Behaviour) and not scope.doubtful:
                ended.value.notes.append(f"whether it is made at all: {scope.doubt.why}")
                self.candidates(ended.value, function.name, scope.module.shown)
            return scope.doubt
        if ended is not None and ended.how in ("raise", "doubt"):
            return Unread(scope.module.place(function.node), f"what `{function.name}` returns {WHEN_IT_RUNS}")
        return ended.value if ended is not None else None

    def block(self, body: Sequence[ast.stmt], scope: NameScope) -> Ended | None:
        for each in body:
            self.step(each, scope)
            do = getattr(self, f"do_{type(each).__name__.lower()}", None)
            ended: Ended | None = (
                do(each, scope) if do is not None else self.marked([each], scope, self.unread(each, scope))
            )
            if ended is not None:
                return ended
        return None

    def do_expr(self, node: ast.Expr, scope: NameScope) -> Ended | None:
        if exits(node):
            return Ended("raise")
        self.value(node.value, scope)
        return None

    def do_pass(self, node: ast.stmt, scope: NameScope) -> None: ...

    do_assert = do_delete = do_asyncfunctiondef = do_pass

    def do_global(self, node: ast.Global | ast.Nonlocal, scope: NameScope) -> None:
        scope.above |= set(node.names)

    do_nonlocal = do_global

    def do_return(self, node: ast.Return, scope: NameScope) -> Ended:
        return Ended("return", self.value(node.value, scope) if node.value else None)

    def do_raise(self, node: ast.Raise, scope: NameScope) -> Ended:
        return Ended("raise")

    def do_break(self, node: ast.Break, scope: NameScope) -> Ended:
        return Ended("break")

    def do_continue(self, node: ast.Continue, scope: NameScope) -> Ended:
        return Ended("continue")

    def do_functiondef(self, node: ast.FunctionDef, scope: NameScope) -> None:
        made = self.function(node, scope)
        for each in node.decorator_list:
            made.sort = source(each).split(".")[-1].split("(")[0]
        if made.sort in ("override", "final", "cache", "lru_cache", "cached_property"):
            made.sort = "property" if made.sort == "cached_property" else ""
        scope.put(node.name, made)

    def do_classdef(self, node: ast.ClassDef, scope: NameScope) -> None:
        bases = [self.value(each, scope) for each in node.bases]
        inner = NameScope(scope.module, scope)
        made = OwnClass(node, inner, bases)
        inner.owner = made
        self.block(node.body, inner)
        inner.outer = scope
        scope.put(node.name, made)

    def do_assign(self, node: ast.Assign, scope: NameScope) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def do_annassign(self, node: ast.AnnAssign, scope: NameScope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def do_augassign(self, node: ast.AugAssign, scope: NameScope) -> None:
        held = self.value(node.target, scope)
        value = self.value(node.value, scope)
        if isinstance(held, list) and isinstance(node.op, ast.Add):
            held += list(value) if isinstance(value, list | tuple) else [value]
            plain.bounded(held)
            return
        try:
            made = self.first_unread(held, value) or plain.combined(node.op, held, value)
        except NoValue:
            made = self.unread(node.target, scope)
        self.assign(node.target, made, scope)

    def do_with(self, node: ast.With, scope: NameScope) -> Ended | None:
        for each in node.items:
            value = self.value(each.context_expr, scope)
            if each.optional_vars is not None:
                self.assign(
                    each.optional_vars, self.first_unread(value) or self.unread(each.context_expr, scope), scope
                )
        return self.block(node.body, scope)

    def do_try(self, node: ast.Try, scope: NameScope) -> Ended | None:
        """The body, as if nothing were raised in it."""
        ended = self.block([*node.body, *node.orelse], scope)
        last = self.block(node.finalbody, scope)
        return last or (None if ended is not None and ended.how == "raise" else ended)

    # Branches and loops ---------------------------------------------------------------------

    def do_if(self, node: ast.If, scope: NameScope) -> Ended | None:
        if source(node.test).endswith("TYPE_CHECKING"):
            return None
        test = self.value(node.test, scope)
        try:
            holds = None if isinstance(test, Unread) else self.truth(test)
        except NoValue:
            holds = None
        if holds is not None:
            return self.block(node.body if holds else node.orelse, scope)
        if node.body and exits(node.body[-1]):  # whoever goes on did not take that branch
            return self.block(node.orelse, scope)
        if node.orelse and exits(node.orelse[-1]):
            return self.block(node.body, scope)
        why = self.unread(node.test, scope, f"this hangs on `{source(node.test)}`, which {WHEN_IT_RUNS}")
        return self.marked([*node.body, *node.orelse], scope, why)

    def do_while(self, node: ast.While, scope: NameScope) -> Ended | None:
        why = self.unread(node.test, scope, f"this is done while `{source(node.test)}`: how often {WHEN_IT_RUNS}")
        ended = self.marked(node.body, scope, why)
        return ended if ended is not None and scope.doubt is not None else None

    def do_for(self, node: ast.For, scope: NameScope) -> Ended | None:
        items = self.value(node.iter, scope)
        try:
            rounds = None if isinstance(items, Unread) else self.each_of(items)
        except NoValue:
            rounds = None
        why = self.unread(node.iter, scope, f"this is done for each of `{source(node.iter)}`, which {WHEN_IT_RUNS}")
        if rounds is None:
            self.marked([node, *node.body], scope, why)
            return None
        for each in rounds:
            self.step(node, scope)
            self.assign(node.target, each, scope)
            ended = self.block(node.body, scope)
            if ended is None or ended.how == "continue":
                continue
            if ended.how == "doubt":
                self.marked(node.body, scope, ended.value)
                return None
            return None if ended.how == "break" else ended
        return self.block(node.orelse, scope)

    def marked(self, body: Sequence[ast.AST], scope: NameScope, why: Unread) -> Ended | None:
        """Marks what statements would change that may be taken, or not: nodes, lists and names."""
        doubt, seen = None, set[int]()
        for each in within(body):
            if isinstance(each, ast.Return):
                scope.doubt = scope.doubt or why
                scope.doubtful |= each.value is not None and getattr(each.value, "value", each) is not None
            elif isinstance(each, ast.Break | ast.Continue):
                doubt = Ended("doubt", why)
            elif isinstance(each, ast.Call):
                for held in self.changed_by(each, scope):
                    if id(held) not in seen:
                        seen.add(id(held))
                        held.append(why)
        for each in within(body):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                scope.put(each.id, why)
            elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                self.set_attribute(self.quiet(each.value, scope), each.attr, why, scope)
        return doubt

    def changed_by(self, node: ast.Call, scope: NameScope) -> Iterator[list[Value]]:
        """The lists of children that a call may add to."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ADDERS:
            held = self.quiet(node.func.value, scope)
            if isinstance(held, Behaviour):
                yield held.children
            elif isinstance(held, list):
                yield held
        elif isinstance(self.quiet(node.func, scope), OwnFunction):
            given = [self.quiet(each, scope) for each in (*node.args, *(k.value for k in node.keywords))]
            yield from (each.children for each in given if isinstance(each, Behaviour) and each.kind != "own")

    def quiet(self, node: ast.AST, scope: NameScope) -> Value:
        """The value of a name or of its attributes; None for anything else."""
        if isinstance(node, ast.Name):
            found = scope.find(node.id)
            return None if found is MISSING else found
        if isinstance(node, ast.Attribute):
            held = self.quiet(node.value, scope)
            return None if held is None else self.attribute(held, node.attr, node, scope)
        return None


def within(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of statements, those of functions and classes that they define left out."""
    todo: list[ast.AST] = list(reversed(body))
    while todo:
        each = todo.pop()
        if isinstance(each, _INNER):
            continue
        yield each
        todo += reversed(list(ast.iter_child_nodes(each)))


def exits(node: ast.stmt) -> bool:
    """Does the program, or the function, end here with an error or for good?"""
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and source(node.value.func) in _EXITS
