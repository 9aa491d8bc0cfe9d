"""Computes expressions of Python source as far as they follow from what the files say; the rest is `Unread`."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator

from bt_robots.imports.report import Place, fault
from bt_robots.pytrees import plain
from bt_robots.pytrees.plain import NoValue, TooMuch
from bt_robots.pytrees.stock import KINDS, OLD_POLICIES, POLICIES, STATUSES
from bt_robots.pytrees.values import (
    MISSING,
    Behaviour,
    BoardClient,
    BoundMethod,
    NameScope,
    Outside,
    OwnClass,
    OwnFunction,
    OwnObject,
    StatusWord,
    SuperOf,
    TreeHandle,
    Unread,
    UnreadSpread,
    Value,
)

MOST_STEPS = 300_000  # expressions and statements of one import
WHEN_IT_RUNS = "is known only when it runs"


def source(node: ast.AST) -> str:
    """The text of an expression, shortened."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        return "this"
    return text if len(text) <= 40 else text[:39] + "…"


class Expressions:
    """Evaluates expressions. Calls are made by a class derived from it."""

    def __init__(self) -> None:
        self.steps = 0
        self.at = Place("", 1, 1)  # what is being read

    @abstractmethod
    def called(self, node: ast.Call, scope: NameScope) -> Value: ...

    @abstractmethod
    def call(self, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value: ...

    def step(self, node: ast.AST, scope: NameScope) -> None:
        self.steps += 1
        self.at = scope.module.place(node)
        if self.steps > MOST_STEPS:
            raise fault(self.at, f"reading this takes more than {MOST_STEPS:,} steps", "import it in parts")

    def unread(self, node: ast.AST, scope: NameScope, why: str = "") -> Unread:
        return Unread(scope.module.place(node), why or f"`{source(node)}` {WHEN_IT_RUNS}")

    def value(self, node: ast.expr, scope: NameScope) -> Value:
        self.step(node, scope)
        read = getattr(self, f"read_{type(node).__name__.lower()}", None)
        if read is None:
            return self.unread(node, scope)
        try:
            return read(node, scope)
        except NoValue:
            return self.unread(node, scope)
        except TooMuch as error:
            raise fault(scope.module.place(node), f"this makes {error}", "build the tree of fewer parts") from None

    def first_unread(self, *values: Value) -> Unread | None:
        return next((each for each in values if isinstance(each, Unread)), None)

    # Names ----------------------------------------------------------------------------------

    def read_constant(self, node: ast.Constant, scope: NameScope) -> Value:
        if not isinstance(node.value, plain.Scalar) or (
            isinstance(node.value, str) and len(node.value) > plain.MOST_TEXT
        ):
            raise NoValue
        return plain.bounded(node.value)

    def read_name(self, node: ast.Name, scope: NameScope) -> Value:
        if (found := scope.find(node.id)) is not MISSING:
            return found
        if node.id in plain.BUILTINS or node.id in ("range", "super", "print", "isinstance", "getattr", "property"):
            return Outside(f"builtins.{node.id}")
        for star in scope.module.stars:
            if (
                star.split(".")[0] != "py_trees"
                or node.id in KINDS
                or node.id in ("Behaviour", "Status", "ParallelPolicy")
            ):
                return Outside(f"{star}.{node.id}")
        return self.unread(node, scope, f"`{node.id}` is defined nowhere in these files")

    def read_attribute(self, node: ast.Attribute, scope: NameScope) -> Value:
        return self.attribute(self.value(node.value, scope), node.attr, node, scope)

    def attribute(self, value: Value, name: str, node: ast.AST, scope: NameScope) -> Value:
        match value:
            case Outside():
                return self.of_outside(value, name)
            case Behaviour():
                return self.of_behaviour(value, name)
            case OwnObject():
                if name in value.attributes:
                    return value.attributes[name]
                return self.of_class(value.cls, name, value, node, scope)
            case OwnClass():
                if name == "__name__":
                    return value.name
                found = value.find(name)
                if isinstance(found, OwnFunction) and found.sort == "classmethod":
                    return BoundMethod(value, found)
                return self.unread(node, scope) if found is MISSING else found
            case TreeHandle() if name == "root":
                return value.root
            case BoardClient() | SuperOf():
                return BoundMethod(value, name)
            case str() | list() | dict() | set():
                return value if name == "value" and isinstance(value, str) else BoundMethod(value, name)
            case int() | float() if name == "value":  # of a member of an enum of the files
                return value
        return self.first_unread(value) or self.unread(node, scope)

    def of_outside(self, value: Outside, name: str) -> Value:
        if value.name.startswith("py_trees.") and value.last == "Status" and name in STATUSES:
            return StatusWord(name)
        if value.name.startswith("py_trees.") and value.last == "Blackboard" and name == "separator":
            return "/"
        return Outside(f"{value.name}.{name}")

    def of_behaviour(self, made: Behaviour, name: str) -> Value:
        if name in made.attributes:
            return made.attributes[name]
        if name == "name":
            return made.name
        if name == "children":
            return made.children
        if name == "__class__" and made.cls is not None:
            return made.cls
        found = made.cls.find(name) if made.cls is not None else MISSING
        if isinstance(found, OwnFunction):
            return BoundMethod(made, found)
        return BoundMethod(made, name) if found is MISSING else found

    def of_class(self, cls: OwnClass, name: str, receiver: Value, node: ast.AST, scope: NameScope) -> Value:
        found = cls.find(name)
        if isinstance(found, OwnFunction):
            if found.sort == "property":
                return self.call(BoundMethod(receiver, found), [], {}, scope.module.place(node))
            return found if found.sort == "staticmethod" else BoundMethod(receiver, found)
        return self.unread(node, scope) if found is MISSING else found

    # Operators ------------------------------------------------------------------------------

    def read_binop(self, node: ast.BinOp, scope: NameScope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return self.first_unread(left, right) or plain.combined(node.op, left, right)

    def read_compare(self, node: ast.Compare, scope: NameScope) -> Value:
        left = self.value(node.left, scope)
        for sign, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other, scope)
            if unread := self.first_unread(left, right):
                return unread
            if plain.combined(sign, left, right) is False:
                return False
            left = right
        return True

    def read_boolop(self, node: ast.BoolOp, scope: NameScope) -> Value:
        last: Value = None
        for each in node.values:
            last = self.value(each, scope)
            if isinstance(last, Unread):
                return last
            if self.truth(last) is isinstance(node.op, ast.Or):
                return last
        return last

    def read_unaryop(self, node: ast.UnaryOp, scope: NameScope) -> Value:
        value = self.value(node.operand, scope)
        if isinstance(value, Unread):
            return value
        if isinstance(node.op, ast.Not):
            return not self.truth(value)
        if not isinstance(value, int | float) or not isinstance(node.op, ast.USub | ast.UAdd):
            raise NoValue
        return -value if isinstance(node.op, ast.USub) else value

    def truth(self, value: Value) -> bool:
        """Raises NoValue when it is known only when it runs."""
        if isinstance(value, Unread | Outside | BoundMethod | BoardClient):
            raise NoValue
        return bool(value)

    def read_ifexp(self, node: ast.IfExp, scope: NameScope) -> Value:
        test = self.value(node.test, scope)
        if isinstance(test, Unread):
            return test
        return self.value(node.body if self.truth(test) else node.orelse, scope)

    def read_namedexpr(self, node: ast.NamedExpr, scope: NameScope) -> Value:
        scope.put(node.target.id, value := self.value(node.value, scope))
        return value

    # Texts, lists, mappings -----------------------------------------------------------------

    def read_joinedstr(self, node: ast.JoinedStr, scope: NameScope) -> Value:
        parts: list[str] = []
        for each in node.values:
            if isinstance(each, ast.Constant):
                parts.append(str(each.value))
                continue
            assert isinstance(each, ast.FormattedValue)
            value = self.value(each.value, scope)
            spec = self.value(each.format_spec, scope) if each.format_spec else ""
            if unread := self.first_unread(value, spec):
                return unread
            parts.append(plain.formatted(value, each.conversion, spec))
        return plain.bounded("".join(parts))

    def items(self, nodes: list[ast.expr], scope: NameScope) -> list[Value]:
        """The values of items, those behind a `*` spread out."""
        found: list[Value] = []
        for each in nodes:
            if isinstance(each, ast.Starred):
                spread = self.value(each.value, scope)
                known = isinstance(spread, list | tuple | range)
                why = f"`{source(each)}` {WHEN_IT_RUNS}"
                found += list(spread) if known else [UnreadSpread(scope.module.place(each), why)]
            else:
                found.append(self.value(each, scope))
        return list(plain.bounded(found))

    def read_list(self, node: ast.List, scope: NameScope) -> Value:
        return self.items(node.elts, scope)

    def read_tuple(self, node: ast.Tuple, scope: NameScope) -> Value:
        return tuple(self.items(node.elts, scope))

    def read_set(self, node: ast.Set, scope: NameScope) -> Value:
        items = self.items(node.elts, scope)
        return plain.guarded(lambda: set(items))

    def read_dict(self, node: ast.Dict, scope: NameScope) -> Value:
        made: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            read = self.value(value, scope)
            if key is None:
                if not isinstance(read, dict):
                    raise NoValue
                made |= read
            else:
                name = self.value(key, scope)
                if isinstance(name, Unread) or not plain.is_plain(name):
                    raise NoValue
                made |= plain.guarded(lambda name=name, read=read: {name: read})  # type: ignore[misc]
        return plain.bounded(made)

    def read_subscript(self, node: ast.Subscript, scope: NameScope) -> Value:
        value, key = self.value(node.value, scope), self.value(node.slice, scope)
        if unread := self.first_unread(value, key):
            return unread
        return plain.item(value, key)

    def read_slice(self, node: ast.Slice, scope: NameScope) -> Value:
        parts = [self.value(each, scope) if each else None for each in (node.lower, node.upper, node.step)]
        return self.first_unread(*parts) or slice(*parts)

    def read_lambda(self, node: ast.Lambda, scope: NameScope) -> Value:
        return self.function(node, scope)

    def function(self, node: ast.FunctionDef | ast.Lambda, scope: NameScope) -> OwnFunction:
        made = OwnFunction(node, scope, scope.owner if scope.receiver is None else None)
        made.defaults = [self.value(each, scope) for each in node.args.defaults]
        made.keyword_defaults = [self.value(each, scope) if each else MISSING for each in node.args.kw_defaults]
        return made

    # Comprehensions -------------------------------------------------------------------------

    def read_listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: NameScope) -> Value:
        inner = NameScope(scope.module, scope)
        inner.receiver, inner.owner = scope.receiver, scope.owner
        return [self.value(node.elt, inner) for _ in self.rounds(node.generators, inner)]

    def read_generatorexp(self, node: ast.GeneratorExp, scope: NameScope) -> Value:
        return self.read_listcomp(node, scope)

    def read_setcomp(self, node: ast.SetComp, scope: NameScope) -> Value:
        items = self.read_listcomp(node, scope)
        return plain.guarded(lambda: set(items))

    def read_dictcomp(self, node: ast.DictComp, scope: NameScope) -> Value:
        inner = NameScope(scope.module, scope)
        inner.receiver, inner.owner = scope.receiver, scope.owner
        pairs = [
            (self.value(node.key, inner), self.value(node.value, inner)) for _ in self.rounds(node.generators, inner)
        ]
        return plain.guarded(lambda: dict(pairs))

    def rounds(self, parts: list[ast.comprehension], scope: NameScope) -> Iterator[None]:
        """Each round of a comprehension, its names bound. Raises NoValue when they are not known."""
        if not parts:
            yield None
            return
        first, *rest = parts
        for each in self.each_of(self.value(first.iter, scope)):
            self.step(first.target, scope)
            self.assign(first.target, each, scope)
            if all(self.truth(self.value(test, scope)) for test in first.ifs):
                yield from self.rounds(rest, scope)

    def each_of(self, value: Value) -> list[Value]:
        if isinstance(value, list | tuple | range | dict | str):
            return list(plain.bounded(value))
        raise NoValue

    # Targets --------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: Value, scope: NameScope) -> None:
        match target:
            case ast.Name():
                scope.put(target.id, value)
            case ast.Tuple() | ast.List():
                fits = isinstance(value, list | tuple) and len(value) == len(target.elts)
                starred = any(isinstance(each, ast.Starred) for each in target.elts)
                parts = value if fits and not starred else [self.unread(target, scope)] * len(target.elts)
                for each, part in zip(target.elts, parts, strict=True):
                    self.assign(each.value if isinstance(each, ast.Starred) else each, part, scope)
            case ast.Attribute():
                self.set_attribute(self.value(target.value, scope), target.attr, value, scope)
            case ast.Subscript():
                holder, key = self.value(target.value, scope), self.value(target.slice, scope)
                if isinstance(holder, list | dict) and not isinstance(key, Unread) and plain.is_plain(key):
                    plain.guarded(lambda: holder.__setitem__(key, value))

    def set_attribute(self, receiver: Value, name: str, value: Value, scope: NameScope) -> None:
        match receiver:
            case Behaviour():
                if name == "name":
                    receiver.name = value if isinstance(value, str) else receiver.name
                elif name == "children" and isinstance(value, list):
                    receiver.children = value
                elif name in receiver.args and receiver.kind in KINDS:
                    receiver.args[name] = value
                if isinstance(value, BoardClient) and value.owner is None:
                    value.owner = receiver
                receiver.attributes[name] = value
            case OwnObject():
                receiver.attributes[name] = value
            case OwnClass():
                receiver.scope.names[name] = value
            case BoardClient():
                self.written(receiver, name, value)
            case BoundMethod(BoardClient() as client, str() as space):  # `blackboard.space.name = …`
                self.written(client, f"{space}/{name}", value)

    @abstractmethod
    def written(self, client: BoardClient, name: str, value: Value) -> None: ...

    def policy(self, name: Outside) -> str:
        """The policy of a parallel that a name refers to; "" for another name."""
        if not name.name.startswith("py_trees.") or "ParallelPolicy" not in name.name:
            return ""
        return name.last if name.last in POLICIES else OLD_POLICIES.get(name.last, "")
