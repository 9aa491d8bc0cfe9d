"""Writes comparisons, lambdas and small functions of Python as expressions of ours."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable

from bt_robots.imports.names import Names
from bt_robots.imports.report import CannotSay
from bt_robots.pytrees.values import (
    BoardClient,
    BoundMethod,
    Comparison,
    NameScope,
    Outside,
    OwnFunction,
    Unread,
    Value,
)

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not"}
_LOGIC = {"and_": "and", "or_": "or", "xor": "!="}
_COMPARED: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_COMPUTED: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip
_FUNCTIONS = {"abs", "bool", "float", "int", "len", "max", "min", "round", "str", "sum"}


def literal(value: Value) -> str:
    """A plain value, as expressions write it."""
    if isinstance(value, Unread):
        raise CannotSay(value.why)
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        raise CannotSay("no expression has an infinite number")
    if value is None or isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    raise CannotSay("it compares with what is no plain value")


def logic(operator: Value) -> str:
    if isinstance(operator, Outside) and operator.name.removeprefix("operator.") in _LOGIC:
        return _LOGIC[operator.last]
    raise CannotSay("its operator is none of `and_`, `or_`, `xor`")


class Conditions:
    """Expressions over the entries that keys of the blackboard become."""

    def __init__(self, entries: Names, look_up: Callable[[ast.expr, NameScope], Value]) -> None:
        self.entries, self.look_up = entries, look_up
        self.read = set[str]()  # entries

    def entry(self, key: Value) -> str:
        """The entry that a key becomes."""
        if isinstance(key, Unread) or not isinstance(key, str) or not key.strip("/"):
            raise CannotSay(key.why if isinstance(key, Unread) else "its key is no text")
        return self.entries.of(key.strip("/"))

    def variable(self, said: Value) -> tuple[str, str]:
        """The entry of a variable, and the expression for it: `pose.x` is a part of the entry `pose`."""
        if not isinstance(said, str):
            return self.entry(said), ""
        key, *parts = said.split(".")
        if not all(part.isidentifier() for part in parts):
            raise CannotSay(f"`{said:.40}` is no name of a variable")
        entry = self.entry(key)
        self.read.add(entry)
        return entry, ".".join((entry, *parts))

    def comparison(self, check: Value) -> tuple[str, str]:
        """The entry that a `ComparisonExpression` reads, and its expression."""
        if not isinstance(check, Comparison):
            raise CannotSay(check.why if isinstance(check, Unread) else "its check is no `ComparisonExpression`")
        entry, text = self.variable(check.variable)
        return entry, self.compared(check.operator, text, self.compared_with(check.value))

    def compared_with(self, value: Value) -> str:
        if isinstance(value, OwnFunction):
            return self.function(value, [])
        return literal(value)

    def compared(self, operator: Value, left: str, right: str) -> str:
        if isinstance(operator, Outside):
            name = operator.name.removeprefix("operator.")
            if name in _SIGNS:
                return f"{left} {_SIGNS[name]} {right}"
            if name == "contains":
                return f"{right} in {left}"
        if isinstance(operator, OwnFunction):
            return f"({self.function(operator, [left, right])})"
        raise CannotSay(operator.why if isinstance(operator, Unread) else "its operator is none that is known")

    def function(self, called: Value, given: list[str]) -> str:
        """The expression that a lambda, or a function of one `return`, computes of its parameters."""
        function = called.method if isinstance(called, BoundMethod) else called
        if not isinstance(function, OwnFunction):
            raise CannotSay(called.why if isinstance(called, Unread) else "it stands in no file of this import")
        taken, scope = function.node.args, function.scope
        params = [each.arg for each in (*taken.posonlyargs, *taken.args)]
        if isinstance(called, BoundMethod) and params:
            scope = NameScope(scope.module, scope)
            scope.names[params.pop(0)] = called.receiver
        names = dict(zip(params, given, strict=False))
        if "blackboard" in params and not given:
            names["blackboard"] = ""
        if missing := [name for name in params if name not in names]:
            raise CannotSay(f"`{function.name}` takes `{missing[0]}`")
        return _Words(self, scope, names).text(_result(function.node))


def _result(node: ast.FunctionDef | ast.Lambda) -> ast.expr:
    """What a function returns: its one expression, or `if …: return True` with `return False` behind it."""
    if isinstance(node, ast.Lambda):
        return node.body
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.If(test=test, body=[ast.Return(value=ast.Constant(value=True))], orelse=[]),
              ast.Return(value=ast.Constant(value=False))]:  # fmt: skip
            return test
        case [ast.If(test=test, body=[ast.Return(value=ast.Constant(value=True))],
                     orelse=[ast.Return(value=ast.Constant(value=False))])]:  # fmt: skip
            return test
    raise CannotSay(f"`{node.name}` is more than one `return`")


class _Words:
    """One function: `names` are its parameters as expressions, "" for the blackboard."""

    def __init__(self, conditions: Conditions, scope: NameScope, names: dict[str, str]) -> None:
        self.conditions, self.scope, self.names = conditions, scope, names

    def text(self, node: ast.expr) -> str:
        match node:
            case ast.Compare():
                parts = [self.inner(node.left)]
                for sign, each in zip(node.ops, node.comparators, strict=True):
                    parts += [_COMPARED[type(sign)], self.inner(each)]
                return " ".join(parts)
            case ast.BoolOp():
                return f" {'and' if isinstance(node.op, ast.And) else 'or'} ".join(map(self.inner, node.values))
            case ast.UnaryOp(op=ast.Not()):
                return f"not {self.inner(node.operand)}"
            case ast.UnaryOp(op=ast.USub()):
                return f"-{self.inner(node.operand)}"
            case ast.BinOp() if type(node.op) in _COMPUTED:
                return f"{self.inner(node.left)} {_COMPUTED[type(node.op)]} {self.inner(node.right)}"
            case ast.Call():
                return self.call(node)
            case ast.Name() if node.id in self.names:
                return self.names[node.id] or self.refuse(node)
            case ast.Attribute():
                return self.part(node)
        return literal(self.conditions.look_up(node, self.scope))

    def inner(self, node: ast.expr) -> str:
        text = self.text(node)
        return f"({text})" if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp | ast.UnaryOp) else text

    def call(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords:
            return f"{node.func.id}({', '.join(map(self.text, node.args))})"
        if isinstance(node.func, ast.Attribute) and self.is_board(node.func.value) and node.args:
            key = self.conditions.look_up(node.args[0], self.scope)
            if node.func.attr == "get":
                return self.conditions.variable(key)[1]
            if node.func.attr == "exists":
                return f"exists({self.conditions.entry(key)})"
        return literal(self.conditions.look_up(node, self.scope))

    def part(self, node: ast.Attribute) -> str:
        if self.is_board(node.value):
            return self.conditions.variable(node.attr)[1]
        if isinstance(node.value, ast.Attribute | ast.Name):
            held = self.text(node.value) if self.reads_board(node.value) else ""
            if held:
                return f"{held}.{node.attr}"
        return literal(self.conditions.look_up(node, self.scope))

    def reads_board(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
            if self.is_board(node):
                return True
        return isinstance(node, ast.Name) and bool(self.names.get(node.id))

    def is_board(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id] == ""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        return isinstance(self.conditions.look_up(node, self.scope), BoardClient)

    def refuse(self, node: ast.expr) -> str:
        raise CannotSay("it hands the blackboard itself on")
