"""YAML nodes become node specs: kinds, fields, children. Iterative, so that no nesting is too deep."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.kinds.kind import COMMON, COMMON_NAMES, NODE_TYPES, Field, Kind, Registry
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, unquoted_hole
from bt_runtime.language.spec import NodeSpec
from bt_runtime.language.values import BAD, Values
from bt_runtime.types import Json, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from bt_runtime.language.reader_faults import NodeFaults

_COMMON = {f.name: f for f in COMMON}
_GUARDS = ("when", "unless", "on_success", "on_failure", "on_end", "on_halt")
# What the guards of any node become: a node around it, at the same path.
GUARD = Kind(
    "guard",
    "decorator",
    "The guards and assignments of the node inside.",
    tuple(_COMMON[g] for g in _GUARDS),
    impl="bt_runtime.tree.nodes.conditions:Guard",
    ends="child",
    skips=True,
    blocks=("when", "unless"),
    transparent=True,
)
# What stands for a node whose kind is not known: the nodes below it are checked all the same.
UNKNOWN = Kind("unknown", "control", "A node of no known kind.", (Field("children", "nodes", ""),))
SEGMENT_FORBIDDEN = set("/*?[]{}")


class _Fields(NamedTuple):
    """The fields of a kind, as they are asked for at each of its nodes."""

    by_name: dict[str, Field]
    required: frozenset[str]
    defaults: tuple[tuple[str, Json], ...]


def _fields(kind: Kind) -> _Fields:
    needed = frozenset([f.name for f in kind.fields if f.required])
    given = [f for f in kind.fields if not f.required and f.default is not None and f.type not in NODE_TYPES]
    return _Fields({f.name: f for f in kind.fields}, needed, tuple([(f.name, f.default) for f in given]))


class Place(NamedTuple):
    """A YAML node in the place of a tree node, with the spec that it belongs to."""

    node: Node
    parent: NodeSpec | None
    field: str


class NodeReader:
    """Reads one tree's nodes with one registry. `max_depth` counts node levels."""

    def __init__(
        self,
        file: str,
        registry: Registry,
        diagnostics: Diagnostics,
        max_depth: int = 256,
        source_of: Callable[[str], str] | None = None,
    ) -> None:
        self.file = file
        self.registry = registry
        self.diagnostics = diagnostics
        self.values = Values(file, diagnostics)
        self.max_depth = max_depth
        self.source_of = source_of  # says of an unknown kind where it could come from
        self.unlisted = False  # a manifest is missing: its skills are no faults of their own
        self.whole = True  # every node was reached
        self.known: dict[int, _Fields] = {}  # fields by the kind's identity
        self.lost: set[str] = set()  # words of what could not be read: they may name entries

    @cached_property
    def faults(self) -> NodeFaults:
        """Explains what is wrong with a node; its module is imported at the first fault."""
        from bt_runtime.language.reader_faults import NodeFaults

        return NodeFaults(self.file, self.registry, self.diagnostics, self.lost, self.source_of, self.unlisted)

    def read(self, top: Node) -> NodeSpec | None:
        root: NodeSpec | None = None
        todo = [(Place(top, None, ""), 1)]
        while todo:
            if self.diagnostics.full():
                self.whole = False
                return root
            place, depth = todo.pop()
            if depth > self.max_depth:
                self.error(
                    "BT028",
                    f"the tree is deeper than {self.max_depth} nodes",
                    place.node.span,
                    help="move the inner part into a tree of its own",
                )
                self.whole = False
                return root
            inner: list[Place] = []
            outer, spec = self.node(place.node, inner)
            if outer is not None and spec is not None:
                if place.parent is None:
                    root = outer
                else:
                    place.parent.add(outer, place.field)
                below = depth + 1 + (outer is not spec)
                todo += [(p, below) for p in reversed(inner)]
        return root

    def node(self, node: Node, inner: list[Place]) -> tuple[NodeSpec | None, NodeSpec | None]:
        """Reads one node; returns its outermost guard (or the node) and the node."""
        if not isinstance(node, YamlMap) or len(node.pairs) != 1:
            self.faults.not_a_node(node)
            return None, None
        key, value = node.pairs[0]
        kind = self.registry.get(key.text)
        if kind is None:
            spec = NodeSpec(UNKNOWN, key.span, self.file)  # nodes below it are read too
            inner.extend(Place(each, spec, "children") for each in self.faults.unknown_kind(key, value))
            return spec, spec
        spec = NodeSpec(kind, key.span, self.file)
        known = self.known.get(id(kind)) or self.known.setdefault(id(kind), _fields(kind))
        misspelt: set[str] = set()
        given = self.fields(kind, known.by_name, value, key, misspelt, spec, inner)
        guard = self.take(spec, known.by_name, given, inner)
        self.missing(spec, known, given.keys() | misspelt if misspelt else given.keys(), key, value)
        return (guard or spec), spec

    def fields(
        self,
        kind: Kind,
        known: dict[str, Field],
        value: Node,
        key: Scalar,
        misspelt: set[str],
        spec: NodeSpec,
        inner: list[Place],
    ) -> dict[str, tuple[Scalar, Node]]:
        """Returns field name → (key, value); a bare value stands for the kind's bare field.

        Fields whose names were misspelt go to `misspelt`, so that they are not reported as missing as well."""
        if isinstance(value, Scalar) and value.value is None and value.plain:
            return {}
        bare = known.get(kind.bare or "")
        if bare is not None and self.is_bare(kind, bare, value):
            entries = value if bare.type == "assignments" and isinstance(value, YamlMap) else None
            if entries is not None and any(key.text in COMMON_NAMES for key, _ in entries):
                value = self.faults.among_entries(kind, bare, entries)
            return {bare.name: (key, value)}
        if not isinstance(value, YamlMap):
            self.faults.no_mapping(kind, key, value)
            misspelt |= {f.name for f in kind.fields}
            return {}
        hole = unquoted_hole(value)
        if bare is not None and hole and kind.field(hole) is None and hole not in COMMON_NAMES:
            misspelt |= {f.name for f in kind.fields}
            self.faults.unquoted(f"{kind.name}:", bare, hole, value)
            return {}
        given: dict[str, tuple[Scalar, Node]] = {}
        for name, inside in value:
            if name.text not in known and name.text not in COMMON_NAMES:
                meant, below = self.faults.no_field(kind, value, name, inside)
                misspelt |= meant
                spec.given |= dict.fromkeys(meant, inside)  # given, and at fault
                inner.extend(Place(node, spec, field) for field, node in below)
            else:
                given[name.text] = (name, inside)
        return given

    def is_bare(self, kind: Kind, bare: Field, value: Node) -> bool:
        if not isinstance(value, YamlMap):
            return bare.type != "node"
        if bare.type == "assignments":
            return value.get(bare.name) is None
        if bare.type == "node" and len(value.pairs) == 1:
            name = value.pairs[0][0].text
            return kind.field(name) is None and name not in COMMON_NAMES
        return False

    def take(
        self, spec: NodeSpec, known: dict[str, Field], given: dict[str, tuple[Scalar, Node]], inner: list[Place]
    ) -> NodeSpec | None:
        """Fills the spec from its fields; adds nested nodes to `inner`. Returns the guard around the node, if there is
        one."""
        guard: NodeSpec | None = None
        tests: list[Place] = []  # nodes that are asked come after the others
        for name, (key, value) in given.items():
            field = known.get(name) or _COMMON[name]
            if field.type in NODE_TYPES:
                inner.extend(self.places(spec, field, value))
                continue
            guards = name in _GUARDS and name not in known
            if guards and guard is None:
                guard = NodeSpec(GUARD, spec.span, self.file)
                guard.add(spec, "child")
            if field.type == "expression" and (hole := unquoted_hole(value)) and hole not in self.registry:
                spec.given[name] = value
                self.faults.unquoted(f"{name}:", field, hole, value)
                continue
            if field.asks and isinstance(value, YamlMap):
                asking = guard if guards and guard is not None else spec
                asking.given[name] = value
                tests.append(Place(value, asking, name))
                continue
            read = _outputs(self.values, field, value) if field.type == "outputs" else self.values.read(field, value)
            if read is BAD:
                spec.given[name] = value  # present without a value: its fault is told
                continue
            if name == "name" and name not in known:
                spec.name = self.node_name(key, str(read), value)
            elif guards and guard is not None:
                guard.values[name] = read
                guard.given[name] = value
            else:
                spec.values[name] = read
                spec.given[name] = value
        inner.extend(tests)
        if guard is not None:
            guard.name = spec.name
        return guard

    def places(self, spec: NodeSpec, field: Field, value: Node) -> Iterable[Place]:
        if field.type == "node":
            yield Place(value, spec, field.name)
        elif field.type == "cases":
            if not isinstance(value, YamlMap) or not value.pairs:
                self.error("BT016", f"`{field.name}` takes a mapping of values to nodes", value.span)
                return
            for key, node in value:
                yield Place(node, spec, f"{field.name}:{key.text}")
        elif not isinstance(value, YamlList):
            self.faults.no_list(field, value)
        elif not value.items and field.required:
            self.error("BT017", f"`{spec.kind.name}` has no children", spec.span, help="give it one, or remove it")
        else:
            for node in value:
                yield Place(node, spec, field.name)

    def missing(self, spec: NodeSpec, known: _Fields, given: Set[str], key: Scalar, value: Node) -> None:
        one_of = spec.kind.one_of
        if one_of and not given & set(one_of):
            needs = " or ".join(f"`{name}`" for name in one_of)
            self.error("BT015", f"`{spec.kind.name}` needs {needs}", key.span, help="both may be given")
        for name, default in known.defaults:
            if name not in given:
                spec.values[name] = default
        if not known.required <= given:
            for field in spec.kind.fields:
                if field.required and field.name not in given:
                    self.faults.lacking(spec.kind, field, key, value)

    def node_name(self, key: Scalar, name: str, value: Node) -> str | None:
        if not name or name.isdigit() or name != name.strip() or SEGMENT_FORBIDDEN & set(name) or len(name) > 80:
            self.error(
                "BT019",
                f"`{name:.40}` cannot be the name of a node",
                value.span,
                help="at most 80 characters, not only digits, and none of / * ? [ ] { }",
            )
            return None
        return name

    def error(self, code: str, message: str, span: Span, label: str = "", help: str = "") -> None:
        self.diagnostics.error(code, message, self.file, span, label, help)


def _outputs(values: Values, field: Field, value: Node) -> Json:
    from bt_runtime.language.outputs_reader import outputs_of

    return outputs_of(values, field, value)
