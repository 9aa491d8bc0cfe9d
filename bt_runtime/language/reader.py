"""YAML nodes become node specs: kinds, fields, children. Iterative, so that no nesting is too deep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.faults.diagnostic import Fix, nearest
from bt_runtime.language import fixes, slips
from bt_runtime.language.findings import Findings, did_you_mean
from bt_runtime.language.kinds.elsewhere import done, meant
from bt_runtime.language.kinds.kind import COMMON, COMMON_NAMES, NODE_TYPES, Field, Kind, Registry
from bt_runtime.language.outputs_reader import outputs_of
from bt_runtime.language.ports import an
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.spec import NodeSpec
from bt_runtime.language.values import BAD, Values
from bt_runtime.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

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


class Place(NamedTuple):
    """A YAML node that stands where a tree node should, and where its spec belongs."""

    node: Node
    parent: NodeSpec | None
    field: str


class NodeReader:
    """Reads one tree's nodes with one registry. `max_depth` counts node levels."""

    def __init__(
        self,
        file: str,
        registry: Registry,
        findings: Findings,
        max_depth: int = 256,
        elsewhere: Callable[[str], str] | None = None,
    ) -> None:
        self.file = file
        self.registry = registry
        self.findings = findings
        self.values = Values(file, findings)
        self.max_depth = max_depth
        self.elsewhere = elsewhere  # says of an unknown kind where it could come from
        self.whole = True  # was every node reached
        self.lost: set[str] = set()  # words of what could not be read: they may name entries

    def read(self, top: Node) -> NodeSpec | None:
        root: NodeSpec | None = None
        todo = [(Place(top, None, ""), 1)]
        while todo:
            if self.findings.full():
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
                todo.extend((p, below) for p in reversed(inner))
        return root

    def node(self, node: Node, inner: list[Place]) -> tuple[NodeSpec | None, NodeSpec | None]:
        """One node: what stands in its place (a guard around it, if it has any) and itself."""
        if not isinstance(node, YamlMap) or len(node.pairs) != 1:
            self.not_a_node(node)
            return None, None
        key, value = node.pairs[0]
        kind = self.registry.get(key.text)
        if kind is None:
            self.unknown_kind(key)
            return self.unknown(key, value, inner)
        spec = NodeSpec(kind, key.span, self.file)
        misspelt: set[str] = set()
        given = self.fields(kind, value, key, misspelt, spec, inner)
        guard = self.take(spec, given, inner)
        self.missing(spec, given.keys() | misspelt, key, value)
        return (guard or spec), spec

    def unknown(self, key: Scalar, value: Node, inner: list[Place]) -> tuple[NodeSpec, NodeSpec]:
        """What stands for a node of no known kind, so that what is below it is looked at too."""
        spec = NodeSpec(UNKNOWN, key.span, self.file)
        below = slips.nodes_inside(value, self.registry)
        self.lost |= slips.words(value, below)
        inner.extend(Place(node, spec, "children") for node in below)
        return spec, spec

    def fields(
        self, kind: Kind, value: Node, key: Scalar, misspelt: set[str], spec: NodeSpec, inner: list[Place]
    ) -> dict[str, tuple[Scalar, Node]]:
        """Field name → (where it is named, its value); a bare value stands for the kind's bare field.

        Fields that unknown names were meant for go to `misspelt`, so that they are not reported as missing as well.
        """
        if isinstance(value, Scalar) and value.value is None and value.plain:
            return {}
        bare = kind.field(kind.bare) if kind.bare else None
        if bare is not None and self.is_bare(kind, bare, value):
            return {bare.name: (key, value)}
        if not isinstance(value, YamlMap):
            takes = (
                f"`{kind.name}` takes its fields: {_names(kind)}" if kind.fields else f"`{kind.name}` takes no value"
            )
            self.error("BT016", takes, value.span)
            misspelt |= {f.name for f in kind.fields}
            self.lost |= slips.words(value)
            return {}
        hole = slips.hole(value)
        if bare is not None and hole and kind.field(hole) is None and hole not in COMMON_NAMES:
            misspelt |= {f.name for f in kind.fields}
            self.unquoted(f"{kind.name}:", bare, hole, value)
            return {}
        given: dict[str, tuple[Scalar, Node]] = {}
        for name, inside in value:
            if kind.field(name.text) is None and name.text not in COMMON_NAMES:
                misspelt |= self.no_field(spec, value, name, inside, inner)
            else:
                given[name.text] = (name, inside)
        return given

    def no_field(self, spec: NodeSpec, fields: Node, name: Scalar, value: Node, inner: list[Place]) -> set[str]:
        """Says it; gives the fields that were meant."""
        kind = spec.kind
        below = slips.kind_as_field(kind, name.text, self.registry)
        close = "" if below else nearest(name.text, [f.name for f in (*kind.fields, *COMMON)])
        label = slips.after_comma(name, value) or (f"did you mean `{close}`?" if close else "")
        help = f"its fields: {_names(kind)}; any node: {', '.join(_COMMON)}"
        if below:
            label, help = f"put it below `{below}:`", f"`{name.text}` is a node, and a node stands below `{below}:`"
            pair = YamlMap(name.start)
            pair.end, pair.pairs = value.end, [(name, value)]
            inner.append(Place(pair, spec, below))
        else:
            self.lost |= slips.words(value)
        ways = fixes.below(kind, fields, name, value) if name.text in self.registry else ()
        self.error("BT013", f"`{kind.name}` has no field `{name.text}`", name.span, label, help, ways)
        return {each for each in (below or close,) if each}

    def unquoted(self, before: str, field: Field, hole: str, value: Node) -> None:
        """`log: {room}` and `check: {n > 3}`."""
        self.lost |= slips.words(value)
        if field.type == "expression":
            label, help = f"no braces here: `{before} {hole}`", "in an expression a name stands for its value"
        else:
            label, help = f'quote it: `{before} "{{{hole}}}"`', "a text that begins with a brace stands in quotes"
        self.error("BT016", f"`{{{hole}}}` without quotes is a mapping", value.span, label, help)

    def is_bare(self, kind: Kind, bare: Field, value: Node) -> bool:
        if not isinstance(value, YamlMap):
            return bare.type != "node"
        if bare.type == "assignments":
            return value.get(bare.name) is None
        if bare.type == "node" and len(value.pairs) == 1:
            name = value.pairs[0][0].text
            return kind.field(name) is None and name not in COMMON_NAMES
        return False

    def take(self, spec: NodeSpec, given: dict[str, tuple[Scalar, Node]], inner: list[Place]) -> NodeSpec | None:
        """Fills the spec from its fields; nodes inside go to `inner`. Gives the guard around it, if there is one."""
        guard: NodeSpec | None = None
        tests: list[Place] = []  # nodes that are asked come after the others
        for name, (key, value) in given.items():
            field = spec.kind.field(name) or _COMMON[name]
            if field.type in NODE_TYPES:
                inner.extend(self.places(spec, field, value))
                continue
            guards = name in _GUARDS and spec.kind.field(name) is None
            if guards and guard is None:
                guard = NodeSpec(GUARD, spec.span, self.file)
                guard.add(spec, "child")
            if field.type == "expression" and (hole := slips.hole(value)) and hole not in self.registry:
                spec.given[name] = value
                self.unquoted(f"{name}:", field, hole, value)
                continue
            if field.asks and isinstance(value, YamlMap):
                asking = guard if guards and guard is not None else spec
                asking.given[name] = value
                tests.append(Place(value, asking, name))
                continue
            reads = outputs_of if field.type == "outputs" else Values.read
            read = reads(self.values, field, value)
            if read is BAD:
                spec.given[name] = value  # without a value: it was given, and is at fault
                continue
            if name == "name" and name in _COMMON and spec.kind.field(name) is None:
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
            self.error(
                "BT016", f"`{field.name}` takes a list of nodes", value.span, help="write each child as `- kind: ...`"
            )
        elif not value.items and field.required:
            self.error("BT017", f"`{spec.kind.name}` has no children", spec.span, help="give it one, or remove it")
        else:
            for node in value:
                yield Place(node, spec, field.name)

    def missing(self, spec: NodeSpec, given: Set[str], key: Scalar, value: Node) -> None:
        one_of = spec.kind.one_of
        if one_of and not given & set(one_of):
            needs = " or ".join(f"`{name}`" for name in one_of)
            self.error("BT015", f"`{spec.kind.name}` needs {needs}", key.span, help="both may be given")
        for field in spec.kind.fields:
            if field.name in given:
                continue
            if field.required:
                if field.name == "children":
                    self.error(
                        "BT017", f"`{spec.kind.name}` has no children", key.span, help="give it one, or remove it",
                        fixes=fixes.lacking(key, value, field),
                    )  # fmt: skip
                else:
                    self.error(
                        "BT015",
                        f"`{spec.kind.name}` lacks its field `{field.name}`",
                        key.span,
                        help=f"`{field.name}`: {field.about or an(field.type)}",
                        fixes=fixes.lacking(key, value, field),
                    )
            elif field.default is not None and field.type not in NODE_TYPES:
                spec.values[field.name] = field.default

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

    def not_a_node(self, node: Node) -> None:
        self.lost |= slips.words(node)
        if isinstance(node, Scalar) and node.text in self.registry:
            self.error(
                "BT014", f"a node is a mapping, and `{node.text}` stands here alone", node.span, f"write `{node.text}:`"
            )
        elif isinstance(node, YamlMap) and len(node.pairs) > 1:
            self.two_keys(node)
        else:
            help = "put the list below a control node, such as `sequence:`" if isinstance(node, YamlList) else ""
            label = slips.joined(node.text, self.registry) if isinstance(node, Scalar) else ""
            message = f"a node is a mapping with one key, its kind, not {_found(node)}"
            self.error("BT014", message, node.span, label, help)

    def two_keys(self, node: YamlMap) -> None:
        (first, value), (second, other) = node.pairs[:2]
        kind, label, help = self.registry.get(first.text), f"`{first.text}` is the kind already", ""
        inward = slips.inward(kind, first, value, second, other) if kind is not None else ""
        if second.text in self.registry and not inward:
            help = "a second node begins a line with `- `, in the list of a control node"
        self.error(
            "BT014",
            "a node has exactly one key, its kind",
            second.span,
            label,
            inward or help or "fields belong one level deeper, a second node into a list",
        )

    def unknown_kind(self, key: Scalar) -> None:
        families: dict[str, None] = {}
        for kind in self.registry:
            families[
                {"control": "control", "decorator": "decorators", "skill": "skills"}.get(kind.family, kind.name)
            ] = None
        label = self.label(key.text)
        missing = "" if label else "".join(f"{fault}; " for fault in self.registry.faults)  # it may be one of those
        help = f"{missing}kinds here: {', '.join(families)}" + ("" if label else "; `btr explain kinds` lists all")
        self.error("BT012", f"unknown node kind `{key.text}`", key.span, label, help)

    def label(self, name: str) -> str:
        """What was probably meant by this unknown kind."""
        own = self.elsewhere(name) if self.elsewhere else ""
        kind, options = meant(name) or ("", "")
        if kind in self.registry and not own:
            return f"did you mean `{kind}`{options and f' {options}'}?"
        return own or done(name) or did_you_mean(name, self.registry.kinds)

    def error(
        self, code: str, message: str, span: Span, label: str = "", help: str = "", fixes: tuple[Fix, ...] = ()
    ) -> None:
        self.findings.error(code, message, self.file, span, label, help, fixes)


def _found(node: Node) -> str:
    """What stands where a node should."""
    if isinstance(node, Scalar):
        return "nothing" if node.value is None else "plain text" if isinstance(node.value, str) else f"`{node.text}`"
    return "an empty mapping" if isinstance(node, YamlMap) else "a list"


def _names(kind: Kind) -> str:
    return ", ".join(f.name for f in kind.fields) or "none"
