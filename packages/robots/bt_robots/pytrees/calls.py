"""Carries out calls: of functions and classes of the files, and of what py_trees brings."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import NamedTuple

from bt_robots.imports.report import Place
from bt_robots.pytrees import idioms, plain, stock
from bt_robots.pytrees.expressions import WHEN_IT_RUNS, Expressions, source
from bt_robots.pytrees.plain import NoValue
from bt_robots.pytrees.stock import COMPOSITES, KINDS, NoFit
from bt_robots.pytrees.values import (
    MISSING,
    Behaviour,
    BoardClient,
    BoundMethod,
    Comparison,
    NameScope,
    Outside,
    OutsideCall,
    OwnClass,
    OwnFunction,
    OwnObject,
    ParallelRule,
    SuperOf,
    TreeHandle,
    Unread,
    UnreadSpread,
    Value,
)

ADDERS = ("add_child", "add_children", "insert_child", "prepend_child", "append", "extend", "insert")
_TICKS = ("tick_once", "tick", "setup_with_descendants", "tick_tock")
_NO_TREE = ("trees.BehaviourTree", "blackboard.Client", "blackboard.Blackboard")


class Root(NamedTuple):
    """A node that a program uses as the root of a tree."""

    node: Behaviour
    label: str
    module: str  # the file, as shown
    ticked: bool  # is it given to a `BehaviourTree`, or ticked


class Calls(Expressions):
    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Root] = []
        self.initial: dict[str, Value] = {}  # keys of the blackboard that the program writes before it ticks
        self.label: list[tuple[str, str]] = [("", "")]  # the functions that are being read: name, file

    @abstractmethod
    def body(self, function: OwnFunction, scope: NameScope) -> Value: ...

    def called(self, node: ast.Call, scope: NameScope) -> Value:
        function, place = self.value(node.func, scope), scope.module.place(node)
        args, named, whole = self.arguments(node, scope)
        if function == Outside("builtins.super"):
            return self.above(args, scope, node)
        if not whole:
            why = self.unread(node, scope)
            receiver = function.receiver if isinstance(function, BoundMethod) else None
            if isinstance(receiver, Behaviour) and function.method in ADDERS:
                receiver.children.append(why)
            return why
        try:
            made = (
                OutsideCall(place, source(node.func), args, named)
                if isinstance(function, Unread)
                else self.call(function, args, named, place)
            )
        except NoValue:
            return self.unread(node, scope)
        if isinstance(made, OutsideCall):
            for each in (*made.args, *made.named.values()):
                if isinstance(each, Behaviour) and each.kind in COMPOSITES:
                    each.notes.append(f"`{made.name}` is called with it, and may change it")
        return made

    read_call = called

    def arguments(self, node: ast.Call, scope: NameScope) -> tuple[list[Value], dict[str, Value], bool]:
        """The arguments of a call, and whether all of them are known by number and name."""
        args, named = self.items(node.args, scope), dict[str, Value]()
        whole = not any(isinstance(each, UnreadSpread) for each in args)
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                named |= {str(name): each for name, each in value.items()}
            else:
                whole = False
        return args, named, whole

    def above(self, args: list[Value], scope: NameScope, node: ast.AST) -> Value:
        owner = args[0] if args and isinstance(args[0], OwnClass) else scope.owner
        if owner is None or scope.receiver is None:
            return self.unread(node, scope)
        return SuperOf(scope.receiver, owner)

    def call(self, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        match called:
            case OwnFunction():
                return self.call_function(called, args, named, place)
            case BoundMethod(receiver, OwnFunction() as method):
                return self.call_function(method, [receiver, *args], named, place)
            case BoundMethod(receiver, str() as name):
                return self.call_method(receiver, name, args, named, place)
            case OwnClass():
                return self.make(called, args, named, place)
            case Outside():
                return self.call_outside(called, args, named, place)
        raise NoValue

    # Functions ------------------------------------------------------------------------------

    def call_function(self, function: OwnFunction, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        function.called = True
        if function.sort not in ("", "staticmethod", "classmethod", "property"):
            return Unread(place, f"`{function.name}` is wrapped by `{function.sort}`")
        scope = NameScope(function.scope.module, function.scope, function.owner)
        scope.names = self.bound(function, args, named, place)
        if function.owner is not None and args and isinstance(args[0], Behaviour | OwnObject | OwnClass):
            scope.receiver = args[0]
        elif function.owner is None and isinstance(function.node, ast.Lambda):
            scope.receiver, scope.owner = function.scope.receiver, function.scope.owner
        self.label.append((function.name, scope.module.shown))
        try:
            result = self.body(function, scope)
        finally:
            self.label.pop()
        self.candidates(result, function.name, scope.module.shown)
        return result

    def bound(
        self, function: OwnFunction, args: list[Value], named: dict[str, Value], place: Place
    ) -> dict[str, Value]:
        """The parameters of a call by name; one that is not given is `Unread`."""
        taken = function.node.args
        params = [each.arg for each in (*taken.posonlyargs, *taken.args)]
        defaults = dict(zip(reversed(params), reversed(function.defaults), strict=False))
        only = [each.arg for each in taken.kwonlyargs]
        defaults |= {n: v for n, v in zip(only, function.keyword_defaults, strict=True) if v is not MISSING}
        bound = dict(zip(params, args, strict=False))
        for name in (*params, *only):
            if name in named:
                bound[name] = named[name]
            elif name not in bound:
                why = f"the parameter `{name}` of `{function.name}` {WHEN_IT_RUNS}"
                bound[name] = defaults.get(name, Unread(place, why))
        if taken.vararg:
            bound[taken.vararg.arg] = tuple(args[len(params) :])
        if taken.kwarg:
            bound[taken.kwarg.arg] = {n: v for n, v in named.items() if n not in bound}
        return bound

    def candidates(self, value: Value, label: str, module: str) -> None:
        """Keeps the behaviours of a result as possible roots."""
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, Behaviour):
                self.roots.append(Root(each, label, module, False))

    def ticked(self, node: Value) -> None:
        if isinstance(node, Behaviour):
            label, module = next((each for each in reversed(self.label) if each[0] != "__init__"), ("", ""))
            self.roots.append(Root(node, label, module or node.place.file, True))

    # Classes --------------------------------------------------------------------------------

    def make(self, cls: OwnClass, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        """An object of a class of the files."""
        cls.made = True
        kind = kind_of(cls)
        made: Value = OwnObject(cls) if kind is None else Behaviour(kind, cls.name, place, cls)
        if isinstance(made, Behaviour) and kind != "own":
            made.unread = Unread(place, f"`__init__` of `{cls.name}` is not read to its end")
        init = cls.find("__init__")
        if isinstance(init, OwnFunction):
            given = self.bound(init, [made, *args], named, place)
            if isinstance(made, Behaviour):
                made.args = dict(list(given.items())[1:]) if kind == "own" else {}
                if isinstance(name := given.get("name"), str):
                    made.name = name
            self.call_function(init, [made, *args], named, place)
        elif isinstance(made, Behaviour):
            self.initialise(made, cls.outside()[0], args, named)
        elif isinstance(made, OwnObject):
            self.fields(made, args, named)
        if isinstance(made, Behaviour) and isinstance(setup := cls.find("setup"), OwnFunction):
            self.call_function(setup, [made], {}, place)
        return made

    def fields(self, made: OwnObject, args: list[Value], named: dict[str, Value]) -> None:
        """The fields of a dataclass, or of what is made like one."""
        declared = [each for each in made.cls.node.body if isinstance(each, ast.AnnAssign)]
        names = [each.target.id for each in declared if isinstance(each.target, ast.Name)]
        made.attributes |= dict(zip(names, args, strict=False)) | named

    def initialise(self, made: Value, base: Outside, args: list[Value], named: dict[str, Value]) -> None:
        """`__init__` of a base that stands in no file."""
        if isinstance(made, OwnObject):
            if base.last == "BehaviourTree":
                self.ticked(named.get("root", args[0] if args else None))
            return
        kind = stock.known(base.name)
        if made.kind == "own" or not kind:
            name = named.get("name", args[0] if args else None)
            if isinstance(name, str):
                made.name = name
            return
        try:
            stock.bind(made, kind, args, named)
            made.unread = None
        except NoFit as why:
            made.kind, made.unread = "unread", Unread(made.place, f"{why}: it is of another version of py_trees")

    # Methods --------------------------------------------------------------------------------

    def call_method(
        self, receiver: Value, name: str, args: list[Value], named: dict[str, Value], place: Place
    ) -> Value:
        match receiver:
            case SuperOf():
                return self.of_super(receiver, name, args, named, place)
            case Behaviour():
                return self.of_node(receiver, name, args, named)
            case BoardClient():
                return self.of_client(receiver, name, args, named, place)
        return plain.method(receiver, name, args, named)

    def of_super(self, above: SuperOf, name: str, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        cls = above.receiver.cls if isinstance(above.receiver, Behaviour | OwnObject) else above.receiver
        lineage = cls.lineage() if isinstance(cls, OwnClass) else []
        behind = lineage[lineage.index(above.cls) + 1 :] if above.cls in lineage else []
        for each in behind:
            if isinstance(found := each.scope.names.get(name), OwnFunction):
                return self.call_function(found, [above.receiver, *args], named, place)
        if name == "__init__" and isinstance(cls, OwnClass) and (bases := cls.outside()):
            self.initialise(above.receiver, bases[0], args, named)
            return None
        raise NoValue

    def of_node(self, made: Behaviour, name: str, args: list[Value], named: dict[str, Value]) -> Value:
        given = [*args, *named.values()]
        if name in ("add_child", "prepend_child", "insert_child") and given:
            child = named.get("child", given[0])
            place = named.get("index", args[1] if len(args) > 1 else 0) if name == "insert_child" else 0
            if not isinstance(place, int):
                made.children.append(Unread(made.place, f"the place of a child {WHEN_IT_RUNS}"))
            made.children.insert(
                len(made.children) if name == "add_child" or not isinstance(place, int) else place, child
            )
            return None
        if name == "add_children" and given:
            known = isinstance(given[0], list | tuple)
            made.children += list(given[0]) if known else [given[0]]
            return made
        if name == "remove_child" and given and given[0] in made.children:
            made.children.remove(given[0])
            return None
        if name == "replace_child" and len(given) > 1 and given[0] in made.children:
            made.children[made.children.index(given[0])] = given[1]
            return None
        if name == "remove_all_children":
            made.children.clear()
            return None
        if name == "attach_blackboard_client":
            space = named.get("namespace", args[1] if len(args) > 1 else None)
            return BoardClient(space if isinstance(space, str) else "", made)
        if name in _TICKS:
            self.ticked(made)
        raise NoValue

    def of_client(
        self, client: BoardClient, name: str, args: list[Value], named: dict[str, Value], place: Place
    ) -> Value:
        given = dict(zip(("key", "access", "required", "remap_to"), args, strict=False)) | named
        if name == "register_key" and client.owner is not None:
            key = given.get("remap_to") or given.get("key")
            access = given.get("access")
            if not isinstance(key, str):
                client.owner.notes.append(f"the key of the blackboard at line {place.line} {WHEN_IT_RUNS}")
            else:
                reads = isinstance(access, Outside) and access.last == "READ"
                (client.owner.reads if reads else client.owner.writes)[client.key(key)] = None
            return None
        if name == "set" and len(args) > 1 and isinstance(args[0], str):
            self.written(client, args[0], args[1])
            return True
        raise NoValue

    def written(self, client: BoardClient, name: str, value: Value) -> None:
        if "." not in name:
            self.initial[client.key(name)] = value

    # What stands in no file -----------------------------------------------------------------

    def call_outside(self, called: Outside, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        name = called.name
        if name.startswith("builtins."):
            return plain.builtin(called.last, args, named)
        if name.endswith(".__init__") and args and isinstance(args[0], Behaviour | OwnObject):
            self.initialise(args[0], Outside(name.removesuffix(".__init__")), args[1:], named)
            return None
        if kind := stock.known(name):
            return self.stock_node(kind, args, named, place)
        if name.startswith("py_trees.idioms.") and called.last in idioms.PARAMS:
            return self.idiom(called.last, args, named, place)
        if policy := self.policy(called):
            params = ["children", "synchronise"] if policy == "SuccessOnSelected" else ["synchronise"]
            given = dict(zip(params, args, strict=False)) | named
            return ParallelRule(policy, given.get("synchronise", True), given.get("children"))
        if name.startswith("py_trees.") and called.last == "ComparisonExpression":
            given = dict(zip(("variable", "value", "operator"), args, strict=False)) | named
            return Comparison(given.get("variable"), given.get("value"), given.get("operator"), place)
        if called.last == "BehaviourTree" or name.startswith("py_trees.display."):
            self.ticked(root := named.get("root", args[0] if args else None))
            return TreeHandle(root)
        if name.startswith("py_trees.") and called.last in ("Client", "Blackboard"):
            space = named.get("namespace", args[1] if len(args) > 1 else None)
            return BoardClient(space if isinstance(space, str) else "")
        if name.endswith("Blackboard.absolute_name") and len(args) > 1 and plain.is_plain(args):
            return f"/{BoardClient(str(args[0])).key(str(args[1]))}"
        if name.endswith("Blackboard.set") and len(args) > 1 and isinstance(args[0], str):
            self.initial[args[0].lstrip("/")] = args[1]
            return None
        return OutsideCall(place, name, args, named)

    def stock_node(self, kind: str, args: list[Value], named: dict[str, Value], place: Place) -> Behaviour:
        made = Behaviour(kind, kind, place)
        try:
            stock.bind(made, kind, args, named)
        except NoFit as why:
            made.unread = Unread(place, f"{why}: it is of another version of py_trees")
            made.kind = "unread"
            name = named.get("name", args[0] if args else kind)
            made.name = name if isinstance(name, str) else kind
        return made

    def idiom(self, name: str, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        params = idioms.PARAMS[name]
        given = {**params, **dict(zip(params, args, strict=False)), **named}
        if given.keys() == params.keys() and stock.NEEDED not in given.values():
            made = idioms.Idioms(place).made(name, given)
            if made is not None:
                return made
        return Unread(place, f"the arguments of `{name}` {WHEN_IT_RUNS}")


def kind_of(cls: OwnClass) -> str | None:
    """The kind of node that a class of the files makes; None for a class of no nodes."""
    bases = [base for base in cls.outside() if not base.name.endswith(_NO_TREE)]
    for base in bases:
        kind = stock.known(base.name)
        own = cls.own_methods()
        if kind and (kind in COMPOSITES or KINDS[kind].decorator or not own & stock.TICKED):
            return kind
        package = base.name.split(".")[0]
        if package in ("py_trees", "py_trees_ros") or base.last.endswith(("Behaviour", "Behavior")):
            return "own"
    return None
