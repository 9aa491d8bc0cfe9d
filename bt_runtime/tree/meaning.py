"""What a well-formed tree must also be: its names known, its ports filled, its recursion guarded, its size bounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.schema.kind import DATA_TYPES
from bt_runtime.source import Mapping as YamlMapping
from bt_runtime.tree.findings import Findings, did_you_mean
from bt_runtime.tree.outcomes import F, S, outcomes
from bt_runtime.tree.ports import an, fits, flows, type_name
from bt_runtime.tree.spec import NodeSpec, Port, TreeSpec
from bt_runtime.tree.usage import Usage, Use, entry_named, usage
from bt_runtime.tree.values import AN_OUTPUT, Computed

if TYPE_CHECKING:
    from bt_runtime.tree.loader import Caps

_IN_ORDER = {"sequence": S, "sequence_with_memory": S, "reactive_sequence": S, "fallback": F, "reactive_fallback": F}
_ASKING = frozenset({"precondition", "if", "while", "switch", "skip_unless"})


def check_tree(tree: TreeSpec, findings: Findings, whole: bool = True) -> None:
    """The checks that need one tree alone (its subtrees are loaded).

    A tree that is not whole has nodes or values that could not be read: what it reads and writes is not known.
    """
    used = check_nodes(tree, findings)
    if whole and not used.opaque:
        _entries(tree, used, findings)


def check_nodes(tree: TreeSpec, findings: Findings) -> Usage:
    """The same for a part of a tree: what the rest of it reads and writes is not known."""
    for spec in tree.root.walk():
        _siblings(spec, findings)
        if spec.kind.name == "parallel":
            _thresholds(spec, findings)
        if spec.kind.reactive:
            _restarts(spec, findings)
    _unreachable(tree, findings)
    used = usage(tree.root)
    _written_inputs(tree, used, findings)
    _assignments(tree, used, findings)
    _references(tree, used, findings)
    return used


def check(tree: TreeSpec, loaded: Mapping[Path, TreeSpec | None], findings: Findings, caps: Caps) -> None:
    """The checks that cross the borders of trees: ports, total depth, total size."""
    for each in _all(tree):
        for spec in each.root.walk():
            if spec.kind.name == "tree":
                target = spec.subtree or loaded.get(spec.values.get("recursive", Path()))
                if target is not None:
                    _border(each, spec, target, findings)
    sizes: dict[TreeSpec, tuple[int, int]] = {}
    for each in reversed(list(_all(tree))):
        depth, nodes = _size(each, sizes)
        sizes[each] = (depth, nodes)
        if depth > caps.depth:
            findings.error(
                "BT028",
                f"with its subtrees the tree is {depth} nodes deep; at most {caps.depth} are allowed",
                each.file,
                each.root.span,
                help="a node below a `tree` counts from this tree's root",
            )
        if nodes > caps.nodes:
            findings.error(
                "BT029",
                f"with its subtrees the tree has {nodes:,} nodes; at most {caps.nodes:,} are allowed",
                each.file,
                each.root.span,
            )
            return


class Step(NamedTuple):
    """One step on the way from a tree into its subtrees; the node is the one that includes the next of them."""

    path: Path | None
    tree: TreeSpec
    node: NodeSpec


def check_recursion(cycle: Sequence[Step], findings: Findings) -> None:
    """A tree may contain itself only behind something that can end it, in whichever tree on the way round."""
    if any(_can_end(step.tree, step.node) for step in cycle):
        return
    first, last = cycle[0].tree, cycle[-1].node
    by_way = "".join(f" by way of `{step.tree.name}`" for step in cycle[1:])
    findings.error(
        "BT025",
        f"`{first.name}` contains itself{by_way}, and nothing can end that",
        last.file,
        last.span,
        help="put a test before it: `sequence: [check: depth < max_depth, tree: ...]`",
    )


def _can_end(tree: TreeSpec, at: NodeSpec) -> bool:
    """Is there something in this tree that can keep this node from being reached?"""
    parents = {child: parent for parent in tree.root.walk() for child in parent.children}
    results = outcomes(tree.root)
    while at in parents:
        parent = parents[at]
        if parent.kind.name in _ASKING or (parent.kind.name == "guard" and {"when", "unless"} & parent.values.keys()):
            return True
        onward = _IN_ORDER.get(parent.kind.name)
        if onward is not None:
            before = parent.children[: parent.children.index(at)]
            if any(results[b] - {onward} or b.kind.name == "guard" for b in before):
                return True
        at = parent
    return False


def _all(tree: TreeSpec) -> Iterator[TreeSpec]:
    """The tree and all it includes, each once, before what it includes."""
    order: dict[TreeSpec, None] = {}
    todo = [tree]
    while todo:
        each = todo.pop()
        order.pop(each, None)  # met again further down: it comes after all that include it
        order[each] = None
        todo.extend(s.subtree for s in each.root.walk() if s.subtree is not None)
    yield from order


def _size(tree: TreeSpec, sizes: Mapping[TreeSpec, tuple[int, int]]) -> tuple[int, int]:
    depth, nodes = 0, 0
    todo = [(tree.root, 1)]
    while todo:
        spec, level = todo.pop()
        nodes += 1
        depth = max(depth, level)
        if spec.subtree is not None and spec.subtree in sizes:
            below, more = sizes[spec.subtree]
            depth, nodes = max(depth, level + below), nodes + more
        todo.extend((c, level + 1) for c in spec.children)
    return depth, nodes


# One node and its children --------------------------------------------------------------------------


def _siblings(spec: NodeSpec, findings: Findings) -> None:
    seen: dict[str, NodeSpec] = {}
    for child in spec.children:
        if child.name is None or spec.kind.name == "guard":
            continue
        if child.name in seen:
            first = seen[child.name].span
            findings.error(
                "BT019",
                f"two children are named `{child.name}`",
                child.file,
                child.span,
                help=f"the first one is on line {first.line}; names are unique among siblings",
            )
        seen.setdefault(child.name, child)


def _thresholds(spec: NodeSpec, findings: Findings) -> None:
    total = len(spec.children)
    if not total:
        return
    for name in ("success", "failure"):
        count = spec.values.get(name)
        if isinstance(count, int) and (count > total or count < -total):
            node = spec.given.get(name)
            findings.error(
                "BT047",
                f"`{name}: {count}`, but there are {total} children",
                spec.file,
                node.span if node else spec.span,
                help="-1 means all of them",
            )


def _restarts(spec: NodeSpec, findings: Findings) -> None:
    """Under reactive control an earlier child that takes time is started again at every tick after it has ended."""
    if spec.kind.name not in _IN_ORDER:
        return
    for child in spec.children[:-1]:
        first = child
        while (
            first.children
            and not first.kind.waits
            and first.kind.name in _IN_ORDER | {"guard": 0, "invert": 0, "force": 0}
        ):
            first = first.children[0]
        if first.kind.waits and first.kind.family != "decorator":
            findings.warning(
                "BT027",
                f"`{first.kind.name}` takes time, and `{spec.kind.name}` starts it again at every tick "
                "after it has ended",
                first.file,
                first.span,
                help="put it last, put a `check` before it, or use a control node with memory",
            )


def _unreachable(tree: TreeSpec, findings: Findings) -> None:
    results = outcomes(tree.root)
    for spec in tree.root.walk():
        onward = _IN_ORDER.get(spec.kind.name)
        if onward is None:
            continue
        for at, child in enumerate(spec.children[:-1]):
            if onward not in results[child] and child.kind.name != "guard":
                lost = spec.children[at + 1]
                ends = "fails" if onward == S else "succeeds"
                findings.warning(
                    "BT026",
                    f"`{lost.kind.name}` is never reached: `{child.kind.name}` before it always {ends}",
                    lost.file,
                    lost.span,
                )
                break


# Entries ------------------------------------------------------------------------------------------


def _entries(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    written = {w.name for w in used.writes}
    known = written | tree.ports.keys()
    for name, read in _first(used.reads).items():
        if name not in known and not findings.full("warning"):
            findings.warning(
                "BT023",
                f"nothing in this tree writes `{name}`",
                read.spec.file,
                read.span,
                did_you_mean(name, known),
                f"if it comes from outside, say so: `blackboard: {{{name}: any}}`",
            )
    for port in tree.outputs.values():
        if port.required and port.name not in written:
            findings.warning("BT023", f"nothing in this tree writes its output `{port.name}`", tree.file, port.span)
    _unread(tree, used, findings)


def _first(uses: Sequence[Use]) -> dict[str, Use]:
    """The first use of each name, in the order of the text."""
    found: dict[str, Use] = {}
    for use in uses:
        found.setdefault(use.name, use)
    return found


def _unread(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    read = {r.name for r in used.reads}
    for name, use in _first(used.writes).items():
        by_default = use.field.writes and use.field.name not in use.spec.given
        if name not in read and name not in tree.ports and not by_default:
            findings.warning(
                "BT024",
                f"nothing in this tree reads `{name}`",
                use.spec.file,
                use.span,
                help="if it is meant for outside, make it an output: `outputs: {" + name + ": any}`",
            )
    for port in tree.inputs.values():
        if port.name not in read:
            findings.warning("BT024", f"nothing in this tree reads its input `{port.name}`", tree.file, port.span)


def _written_inputs(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    for use in used.writes:
        if use.name in tree.inputs:
            findings.error(
                "BT044",
                f"`{use.name}` is an input and cannot be written",
                use.spec.file,
                use.span,
                help="write an entry of another name, or make it an output",
            )


def _assignments(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    """What is written to a typed entry must be of its type, as far as that can be seen."""
    ports = tree.ports
    for use in used.writes:
        port = ports.get(use.name)
        if port is None or use.name in tree.inputs:
            continue
        if use.field.type == "assignments":
            value = use.spec.values[use.field.name].get(use.name)
            problem = "" if isinstance(value, Computed) or use.spec.kind.name == "tree" else _unfit(port, value)
        else:
            fits_type = use.field.type not in DATA_TYPES or flows(use.field.type, port.type)
            problem = "" if fits_type else f"`{port.name}` is {an(port.type)}, and this writes {an(use.field.type)}"
        if problem:
            findings.error("BT021", problem, use.spec.file, use.span)


def _unfit(port: Port, value: object) -> str:
    """Why a literal may not be given to a port; empty when it may."""
    if not fits(value, port.type):
        return f"`{port.name}` takes {an(port.type)}, not {an(type_name(value))}"
    if port.choices and value not in port.choices:
        return f"`{port.name}` is one of {', '.join(f'`{c}`' for c in port.choices)}, not `{value}`"
    return ""


def _references(tree: TreeSpec, used: Usage, findings: Findings) -> None:
    ports = tree.ports
    for read in used.reads:
        port = ports.get(read.name)
        if port and read.whole and read.field.type in DATA_TYPES and not flows(port.type, read.field.type):
            findings.error(
                "BT021",
                f"`{read.field.name}` takes {an(read.field.type)}, and `{read.name}` is {an(port.type)}",
                read.spec.file,
                read.span,
            )


# Borders ------------------------------------------------------------------------------------------


def _border(tree: TreeSpec, spec: NodeSpec, target: TreeSpec, findings: Findings) -> None:
    """What a `tree` node gives, against the ports of the tree it names."""
    given = spec.values.get("with") or {}
    node = spec.given.get("with")
    offered = {**target.inputs, **target.outputs}
    for name, value in given.items():
        place = node.get(name) if isinstance(node, YamlMapping) else None
        span = place.span if place else spec.span
        port = offered.get(name)
        if port is None and findings.full():
            return
        if port is None:
            findings.error(
                "BT022",
                f"`{target.name}` has no port `{name}`",
                spec.file,
                span,
                did_you_mean(name, offered),
                f"its ports: {', '.join(offered) or 'none'}",
            )
            continue
        problem = _mismatch(tree, port, value, output=name in target.outputs)
        if problem:
            findings.error("BT021", problem, spec.file, span)
    if node is not None and "with" not in spec.values:
        return  # it was given, and is at fault
    for port in target.inputs.values():
        if port.required and port.name not in given and not spec.values.get("autoremap"):
            findings.error(
                "BT020",
                f"`{target.name}` needs its input `{port.name}`",
                spec.file,
                spec.span,
                help=f"add `with: {{{port.name}: ...}}`, {an(port.type)}",
            )


def _mismatch(tree: TreeSpec, port: Port, value: object, output: bool) -> str:
    entry = entry_named(value)
    if output and entry is None:
        return f"`{port.name}` is {AN_OUTPUT}"
    if output and entry in tree.inputs:
        return f"`{entry}` is an input of this tree and cannot be written"
    if entry is not None:
        ours = tree.ports.get(entry)
        source, sink = (
            (port.type, ours.type if ours else "any") if output else (ours.type if ours else "any", port.type)
        )
        return (
            ""
            if flows(source, sink)
            else f"`{port.name}` is {an(port.type)}, and `{entry}` is {an(ours.type if ours else 'any')}"
        )
    return "" if isinstance(value, Computed) else _unfit(port, value)
