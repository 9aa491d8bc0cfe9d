"""The skills that leaves become which somebody writes by hand: their names, parameters and keys of the blackboard."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bt_robots.imports.names import Names, identifier, parameter
from bt_robots.imports.report import Place
from bt_robots.imports.skill_files import SkillStub
from bt_robots.imports.yaml import Step
from bt_robots.pytrees.plain import is_plain
from bt_robots.pytrees.values import Behaviour, OutsideCall, OwnClass, OwnFunction, StatusWord, Value
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.types import Json

MOST_KEYS = 50  # most keys of the blackboard of one class
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "list", "List": "list"}
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(name: str) -> str:
    """`MoveArm` → `move_arm`"""
    return identifier(_SPLIT.sub("_", name).lower()[:50], "leaf")


def as_json(value: Value) -> Json:
    """A plain value as YAML has it. Raises ValueError for any other."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("YAML here has no infinite number")
    if isinstance(value, StatusWord):
        return str(value)
    if isinstance(value, list | tuple) and is_plain(value):
        return [as_json(each) for each in value]
    if isinstance(value, dict) and is_plain(value) and all(isinstance(key, str) for key in value):
        return {str(key): as_json(each) for key, each in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise ValueError("its value is no plain one")


def written(value: Json) -> Any:
    """A value as a field of a node has it, its braces doubled."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, list):
        return [written(each) for each in value]
    return {key: written(each) for key, each in value.items()} if isinstance(value, dict) else value


class Leaf:
    """What the leaves of one class, or of one call, have in common."""

    def __init__(self, kind: str, cls: OwnClass | None, what: str, instant: bool = False) -> None:
        self.kind, self.cls, self.what, self.instant = kind, cls, what, instant
        self.values: dict[str, list[Value]] = {}  # parameter → its values, as far as they are plain
        self.count = 0
        self.defaults = _defaults(cls)
        self.reads: dict[str, str] = {}  # parameter → entry
        self.writes: dict[str, str] = {}  # output → entry

    def fields(self, made: Behaviour, args: dict[str, Value], entries: Names) -> dict[str, Any]:
        """The fields of one node; keeps their values, from which the types follow."""
        self.count += 1
        fields: dict[str, Any] = {}
        for name, value in args.items():
            values = self.values.setdefault(parameter(name), [])
            try:
                json = as_json(value)
            except ValueError:
                made.notes.append(f"`{name}` is known only when it runs: left out")
                continue
            if json is not None:
                values.append(json)
            if json is not None and json != self.defaults.get(parameter(name), self):
                fields[parameter(name)] = written(json)
        for key in list(made.reads)[:MOST_KEYS]:
            entry = entries.of(key)
            name = self.port(entry, self.reads, self.writes)
            fields[name] = f"{{{entry} if exists({entry}) else null}}"
        for key in list(made.writes)[:MOST_KEYS]:
            entry = entries.of(key)
            fields[self.port(entry, self.writes, self.reads, "_out")] = f"{{{entry}}}"
        return fields

    def port(self, entry: str, ports: dict[str, str], others: dict[str, str], end: str = "_entry") -> str:
        for name, other in ports.items():
            if other == entry:
                return name
        name = parameter(entry)
        while name in self.values or name in others or name in ports:
            name += end
        ports[name] = entry
        return name

    def stub(self, number: int) -> SkillStub:
        params: dict[str, Json] = {}
        for name, values in self.values.items():
            type, default = self.type_of(name, values), self.defaults.get(name)
            if default is not None and self.type_of(name, [*values, default]) == type:
                params[name] = {"type": type, "default": default}
            else:
                params[name] = type if len(values) == self.count else {"type": "any", "default": None}
        params |= {name: {"type": "any", "default": None} for name in self.reads}
        class_name = "" if self.cls is None else self.cls.name
        taken = keyword.iskeyword(class_name) or class_name in ("Any", "Skill", "Status")
        if class_name and (taken or not class_name.isascii() or number > 1):
            class_name = f"Leaf_{self.kind}"
        return SkillStub(
            self.kind, params, dict.fromkeys(self.writes, "any"), list(self.reads), self.instant,
            self.told(), self.sentence(), class_name,
        )  # fmt: skip

    def type_of(self, name: str, values: list[Value]) -> str:
        """The declared type of a parameter when its values fit, else that of its values."""
        seen = {type(value).__name__ for value in values}
        alone = next(iter(seen)) if len(seen) == 1 else "float" if seen == {"int", "float"} else ""
        fits = _TYPES.get(alone, "any")
        declared = _declared(self.cls).get(name, "")
        if declared == fits or (declared == "number" and fits == "integer"):
            return declared
        return fits

    def sentence(self) -> str:
        """The first line of the class's docstring."""
        text = ast.get_docstring(self.cls.node) if self.cls is not None else ""
        first = " ".join((text or "")[:1_000].split("\n\n")[0].split()).rstrip(".:!")
        first = re.sub(r":[a-z:]{1,30}:`[~.]?([^`<]{0,200})[^`]{0,200}`", r"\1", first)
        return first if first and first.isprintable() and not set(first) & set("{}") and len(first) <= 200 else ""

    def told(self) -> str:
        """The docstring of the skeleton: what it was, and its keys of the blackboard."""
        keys = [f"Reads {', '.join(self.reads.values())}."] if self.reads else []
        keys += [f"Gives {', '.join(self.writes)}."] if self.writes else []
        return " ".join([self.what, *keys]).replace("\\", "/").replace('"""', "'''")


def _defaults(cls: OwnClass | None) -> dict[str, Json]:
    """The defaults of a class's parameters, as far as they are plain."""
    init = cls.find("__init__") if cls is not None else None
    if not isinstance(init, OwnFunction):
        return {}
    names = [each.arg for each in init.node.args.args]
    pairs = zip(reversed(names), reversed(init.defaults), strict=False)
    kept = (pair for pair in pairs if isinstance(pair[1], str | int | float))
    return {parameter(name): value for name, value in kept if isinstance(value, str) or math.isfinite(value)}


def _declared(cls: OwnClass | None) -> dict[str, str]:
    init = cls.find("__init__") if cls is not None else None
    if not isinstance(init, OwnFunction):
        return {}
    taken = init.node.args
    named = {each.arg: each.annotation for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)}
    plain = {parameter(n): ast.unparse(a).split("[")[0].split(".")[-1] for n, a in named.items() if a is not None}
    return {name: _TYPES.get(type, "any") for name, type in plain.items()}


class Leaves:
    """All leaves of an import that are skills."""

    def __init__(self, entries: Names) -> None:
        self.entries = entries
        self.known: dict[object, Leaf] = {}
        self.kinds = set[str]()
        self.numbers = Counter[str]()

    def own(self, made: Behaviour) -> Step:
        """A leaf of a class of the files."""
        cls = made.cls
        assert cls is not None
        leaf = self.leaf(cls, cls.name, f"{_where(cls.place)}: class {cls.name}.", cls)
        args = {name: value for name, value in made.args.items() if name not in ("name", "self")}
        args = {n: v for n, v in args.items() if not (n in ("args", "kwargs") and not v)}
        return Step(leaf.kind, leaf.fields(made, args, self.entries))

    def outside(self, made: Behaviour, call: OutsideCall) -> Step:
        """A leaf whose class stands in no file."""
        last = call.name.rpartition(".")[2]
        if call.name.startswith("py_trees_ros."):
            last = "_".join(call.name.split(".")[-2:])
        leaf = self.leaf(
            call.name, last if last.isidentifier() else "leaf", f"{_where(call.place)}: {one_line(call.name)}.", None
        )
        args = {f"arg_{n}": value for n, value in enumerate(call.args, 1) if not (n == 1 and value == made.name)}
        args |= {name: value for name, value in call.named.items() if name != "name"}
        return Step(leaf.kind, leaf.fields(made, args, self.entries))

    def placeholder(self, made: Behaviour, why: str) -> Step:
        name = made.name if any(c.isascii() and c.isalnum() for c in made.name) else "unread"
        leaf = self.leaf(made, name, f"{_where(made.place)}: {one_line(why)}.", None)
        return Step(leaf.kind, leaf.fields(made, {}, self.entries))

    def condition(self, function: OwnFunction, made: Behaviour) -> Step:
        """A test that is written by hand, and answers in the tick."""
        place = function.scope.module.place(function.node)
        return Step(
            self.leaf(function, function.name, f"{place}: the condition of {one_line(made.name)}.", None, True).kind
        )

    def leaf(self, of: object, name: str, what: str, cls: OwnClass | None, instant: bool = False) -> Leaf:
        if of not in self.known:
            kind = plain = snake(name)
            if kind in shipped_kinds() or keyword.iskeyword(kind):
                kind = plain = f"{kind}_leaf"
            while kind in self.kinds:
                self.numbers[plain] += 1
                kind = f"{plain}_{self.numbers[plain] + 1}"
            self.kinds.add(kind)
            self.known[of] = Leaf(kind, cls, what, instant)
        return self.known[of]

    def stubs(self) -> list[SkillStub]:
        seen: dict[str, int] = {}
        made: list[SkillStub] = []
        sentences = set[str]()
        for leaf in self.known.values():
            name = leaf.cls.name if leaf.cls is not None else ""
            seen[name] = seen.get(name, 0) + 1
            stub = leaf.stub(seen[name])
            twice = stub.sentence in sentences
            sentences.add(stub.sentence)
            made.append(stub._replace(sentence="") if twice else stub)
        return made


def _where(place: Place) -> str:
    return one_line(f"{Path(place.file).name}:{place.line}")


def one_line(text: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain.rstrip(".") if len(plain) <= 100 else f"{plain[:99]}…"
