"""Writes the nodes of a tree as XML elements; a node without an XML equivalent is refused, with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Comment, Element, SubElement

from bt_robots.btcpp import aside, script
from bt_robots.btcpp.model import CPP, Model, Port, attribute
from bt_robots.btcpp.refusals import Refusals
from bt_robots.imports.report import CannotSay
from bt_runtime.language.expression import Expression
from bt_runtime.language.kinds.kind import NODE_TYPES, Kind, Twin
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.language.values import Computed, is_entry

SETS = {"on_success": "_onSuccess", "on_failure": "_onFailure", "on_end": "_post", "on_halt": "_onHalted"}
ANY_SKILL = "a skill"  # no name of a kind
_YIELD = "yield"  # makes its twin asynchronous
NodeWriter = Callable[["ElementWriter", Element, NodeSpec], None]


def tree_id(tree: TreeSpec) -> str:
    """Returns the tree's ID before its import, else its name."""
    return aside.head(tree.text).attributes.get("ID") or tree.name


def plain(spec: NodeSpec, *kinds: str) -> bool:
    """True when the node is of one of these kinds and has no name of its own."""
    return spec.kind.name in kinds and spec.name is None


class ElementWriter:
    """Writes the nodes of one tree into an element."""

    def __init__(
        self, tree: TreeSpec, sorts: dict[str, str], models: dict[str, Model], refusals: Refusals,
        kinds: Mapping[str, NodeWriter],
    ) -> None:  # fmt: skip
        """Prepares a writer. `kinds` maps kinds that are no twin of a single node there to their writers."""
        self.tree, self.sorts, self.models, self.refusals, self.kinds = tree, sorts, models, refusals, kinds
        self.lines = tree.text.splitlines()
        self.ids = aside.head(tree.text).ids
        self.told: set[int] = set()
        self.added: set[str] = set()  # entries that only the XML has
        self.apart: set[int] = set()  # nodes that need an element of their own for their guard
        self.after: set[int] = set()  # nodes that write when they have ended

    def remarks(self, line: int) -> list[str]:
        """Returns the comments right above a line; each is returned once."""
        found: list[str] = []
        at = line - 2
        while at >= 0 and self.lines[at].lstrip().startswith("#") and at not in self.told:
            self.told.add(at)
            found.append(self.lines[at].lstrip().lstrip("#").strip())
            at -= 1
        return [line for line in reversed(found) if not line.startswith("yaml-language-server")]

    def into(self, parent: Element, spec: NodeSpec) -> None:
        remarks = self.remarks(spec.span.line)
        for line in remarks:
            if not aside.is_kept(line):
                parent.append(Comment(f" {line.replace('--', '- -').rstrip('-')} "))
        before = len(parent)
        try:
            self.node(parent, spec)
            for name, text in aside.read(remarks).items():
                parent[-1].attrib.setdefault(name, text)
        except CannotSay as why:
            name = self.inner(spec).kind.name
            self.refusals.add(spec.file, spec.span, f"`{name}` has no words in XML of BehaviorTree.CPP: {why}")
            made = parent[before:]
            del parent[before:]
            if made:  # what it cannot carry was found behind it: it stands for itself
                parent.append(made[-1])
            else:
                self.stand_in(parent, self.inner(spec))

    def stand_in(self, parent: Element, spec: NodeSpec) -> None:
        line = self.lines[spec.span.line - 1] if spec.span.line <= len(self.lines) else ""
        element = self.refusals.stand_in(parent, spec, line.strip().removeprefix("- "))
        for child in spec.children:
            self.into(element, child)

    def inner(self, spec: NodeSpec) -> NodeSpec:
        return spec.children[0] if spec.kind.name == "guard" else spec

    def node(self, parent: Element, spec: NodeSpec) -> None:
        if spec.kind.name == "guard":
            child = spec.at("child")
            assert child is not None
            if spec.values.keys() & {"when", "unless", "on_halt"}:
                self.apart.add(id(child))
            if spec.values.keys() & SETS.keys():
                self.after.add(id(child))
            self.node(parent, child)
            self.carried(parent[-1], spec)
            return
        say = self.kinds.get(ANY_SKILL if spec.kind.family == "skill" else spec.kind.name)
        if say is not None:
            say(self, parent, spec)
        elif spec.kind.twin is not None:
            self.twin(parent, spec, spec.kind.twin)
        else:
            raise CannotSay("there is nothing like it there")
        if spec.name is not None:
            parent[-1].set("name", spec.name)

    def twin(self, parent: Element, spec: NodeSpec, twin: Twin) -> None:
        """Writes a node as the one there that equals its kind."""
        kind = spec.kind
        for field in kind.fields:
            given = spec.values.get(field.name, field.default)
            if field.name not in (*twin.ports, _YIELD) and field.type not in NODE_TYPES and given != field.default:
                raise CannotSay(f"{twin.tag} has no `{field.name}`")
        given = {port: self.ported(name, spec.values[name]) for name, port in twin.ports.items() if name in spec.values}
        if not twin.standard:
            self.known(twin.tag, kind, twin.ports)
        tag = f"Async{twin.tag}" if spec.values.get(_YIELD) else twin.tag
        self.below(SubElement(parent, tag, given), spec, *spec.places)

    def ported(self, name: str, value: Any) -> str:
        return self.milliseconds(value) if name == "seconds" else self.port(value)

    def known(self, tag: str, kind: Kind, ports: Mapping[str, str]) -> None:
        """Declares a node that is another library's there."""
        typed = {port: CPP.get(field.type, "") for field in kind.fields if (port := ports.get(field.name))}
        sort = {"control": "Control", "decorator": "Decorator"}.get(kind.family, "Action")
        self.models[tag] = Model(tag, sort, {port: Port(port, type=type) for port, type in typed.items()})

    def carried(self, element: Element, guard: NodeSpec) -> None:
        for field in ("when", "unless"):
            if guard.at(field) is not None:
                raise CannotSay(f"a node as `{field}`")
            if field in guard.values:
                code = self.code(guard.values[field])
                code = code if field == "when" else f"!({code})"
                before = element.get("_while")
                element.set("_while", f"({before}) && ({code})" if before else code)
        for field, name in SETS.items():
            if field in guard.values:
                element.set(name, self.assigned(guard.values[field]))

    def unused(self, name: str) -> str:
        """Returns a name for an entry that the tree's text does not mention."""
        while re.search(rf"\b{name}\b", self.tree.text) or name in self.added:
            name += "_"
        self.added.add(name)
        return name

    # Values ---------------------------------------------------------------------------------

    def code(self, value: Any) -> str:
        if not isinstance(value, Expression):
            return script.value(value)
        return script.written(value.text)

    def assigned(self, values: dict[str, Any]) -> str:
        if any(isinstance(value, Computed) and not isinstance(value, Expression) for value in values.values()):
            raise CannotSay("a text with holes in it")
        reads = {n: tuple(v.names) if isinstance(v, Expression) else () for n, v in values.items()}
        order = script.in_order(reads)
        if order is None:
            raise CannotSay("its values read what the others write: make two of it")
        return "; ".join(f"{name} := {self.code(values[name])}" for name in order)

    def port(self, value: Any) -> str:
        """A value as an attribute: an entry in braces, or a literal."""
        if is_entry(value):
            return f"{{{value.text.strip()}}}"
        if isinstance(value, Expression) and not value.names:
            return attribute(value.evaluate({}))
        if isinstance(value, Computed):
            raise CannotSay("a value that is computed: `set` an entry before, and name it")
        said = attribute(value)
        if said.startswith("{") and said.endswith("}"):
            raise CannotSay("a text in braces, which would be an entry there")
        return said

    def milliseconds(self, value: Any) -> str:
        if isinstance(value, Expression) and value.names:
            entry = value.text.strip().removesuffix("/ 1000").strip()
            if not entry.isidentifier() or entry == value.text.strip():
                raise CannotSay("seconds that are computed: `{milliseconds / 1000}` is all that can be said")
            return f"{{{entry}}}"
        seconds = value.evaluate({}) if isinstance(value, Computed) else value
        if not math.isfinite(seconds * 1000):
            raise CannotSay("a time without end")
        if abs(seconds * 1000 - round(seconds * 1000)) > 1e-6:
            raise CannotSay("a part of a millisecond")
        return str(round(seconds * 1000))

    def test(self, parent: Element, spec: NodeSpec, field: str) -> None:
        """Writes a test as the first child."""
        node = spec.at(field)
        if node is not None:
            self.into(parent, node)
        else:
            SubElement(parent, "ScriptCondition", code=self.code(spec.values[field]))

    def below(self, element: Element, spec: NodeSpec, *places: str) -> Element:
        for child, place in zip(spec.children, spec.places, strict=True):
            if place in places:
                self.into(element, child)
        return element
