"""What a well-formed tree must also be: its names known, its ports filled, its recursion guarded, its size bounded."""

from __future__ import annotations

from collections.abc import Mapping, Set

from bt_runtime.language.checks import entries
from bt_runtime.language.checks.actions import check_actions
from bt_runtime.language.checks.judging import check_outputs, check_route
from bt_runtime.language.checks.outcomes import S, outcomes
from bt_runtime.language.checks.references import Usage, usage
from bt_runtime.language.checks.subtree_ports import check_border
from bt_runtime.language.findings import Findings
from bt_runtime.language.spec import Caps, NodeSpec, TreeSpec


def check_tree(tree: TreeSpec, findings: Findings, lost: Set[str] | None = frozenset()) -> None:
    """The checks that need one tree alone (its subtrees are loaded).

    `lost`: words of what could not be read, which may name entries; None: not all of the tree was looked at.
    """
    used = check_nodes(tree, findings)
    if lost is not None and not used.opaque:
        used.perhaps.update(lost)
        entries.check_known(tree, used, findings)


def check_nodes(tree: TreeSpec, findings: Findings) -> Usage:
    """The same for a part of a tree: what the rest of it reads and writes is not known."""
    for spec in tree.root.walk():
        _siblings(spec, findings)
        if spec.kind.counts:
            _thresholds(spec, findings)
        if spec.kind.reactive or spec.kind.transparent:
            _restarts(spec, findings)
        if "actions" in spec.given:
            check_actions(tree, spec, findings)
        if "outputs" in spec.values:
            check_outputs(spec, findings)
        if spec.kind.name == "route":
            check_route(spec, findings)
    _unreachable(tree, findings)
    used = usage(tree.root)
    entries.check_types(tree, used, findings)
    return used


def check(tree: TreeSpec, findings: Findings, caps: Caps) -> None:
    """The checks that cross the borders of trees: ports, total depth, total size."""
    every = _all(tree)
    for each in every:
        for spec in each.root.walk():
            if spec.kind.includes:
                target = spec.subtree or spec.again
                if target is not None:
                    check_border(each, spec, target, findings)
    sizes: dict[TreeSpec, tuple[int, int]] = {}
    for each in every:
        depth, nodes = _size(each, sizes)
        sizes[each] = (depth, nodes)
        if not bounded(each, depth, nodes, findings, caps):
            return


def bounded(tree: TreeSpec, depth: int, nodes: int, findings: Findings, caps: Caps) -> bool:
    """Has it, with its subtrees, no more nodes than are allowed? One that is too deep is told as well."""
    if depth > caps.depth:
        findings.error(
            "BT028",
            f"with its subtrees the tree is {depth} nodes deep; at most {caps.depth} are allowed",
            tree.file,
            tree.root.span,
            help="a node below a `tree` counts from this tree's root",
        )
    if nodes > caps.nodes:
        findings.error(
            "BT029",
            f"with its subtrees the tree has {nodes:,} nodes; at most {caps.nodes:,} are allowed",
            tree.file,
            tree.root.span,
        )
    return nodes <= caps.nodes


def _all(tree: TreeSpec) -> list[TreeSpec]:
    """The tree and all it includes, each once, after what it includes. Each is looked into once, however often it
    stands somewhere: trees that include one another twice at every layer would take for ever otherwise."""
    order: dict[TreeSpec, None] = {}
    opened: set[TreeSpec] = set()
    todo = [tree]
    while todo:
        each = todo[-1]
        if each in opened:
            order.setdefault(todo.pop())
        else:
            opened.add(each)
            todo.extend(s.subtree for s in each.root.walk() if s.subtree is not None and s.subtree not in opened)
    return list(order)


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
        if child.name is None or spec.kind.transparent:
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
    for name in spec.kind.counts:
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
    if spec.asks:
        _slow_tests(spec, findings)
    if spec.kind.onward is None:
        return
    for child in spec.children[:-1]:
        first = child
        while first.children and not first.kind.waits and first.kind.hands_on:
            first = first.children[0]
        if first.kind.waits and not first.kind.keeps and first.kind.family != "decorator":
            findings.warning(
                "BT027",
                f"`{first.kind.name}` takes time, and `{spec.kind.name}` starts it again at every tick "
                "after it has ended",
                first.file,
                first.span,
                help="put it last, put a `check` before it, use a control node with memory, or "
                "say that it is instant if it is",
            )


def _slow_tests(spec: NodeSpec, findings: Findings) -> None:
    for place in sorted(spec.asks):
        test = spec.at(place)
        for asked in test.walk() if test is not None else ():
            if asked.kind.waits and not asked.kind.keeps and asked.kind.family != "decorator":
                findings.warning(
                    "BT027",
                    f"`{asked.kind.name}` takes time, and `{place}` asks it anew at every tick",
                    asked.file,
                    asked.span,
                    help="ask something that answers at once: a `check`, a condition, an instant skill",
                )


def _unreachable(tree: TreeSpec, findings: Findings) -> None:
    results = outcomes(tree.root)
    for spec in tree.root.walk():
        onward = spec.kind.onward
        if onward is None:
            continue
        for at, child in enumerate(spec.children[:-1]):
            if onward not in results[child] and not child.kind.skips:
                lost = spec.children[at + 1]
                ends = "fails" if onward == S else "succeeds"
                findings.warning(
                    "BT026",
                    f"`{lost.kind.name}` is never reached: `{child.kind.name}` before it always {ends}",
                    lost.file,
                    lost.span,
                )
                break
