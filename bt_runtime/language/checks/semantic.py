"""Checks a well-formed tree's semantics: known names, filled ports, guarded recursion, bounded size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import cache
from importlib import import_module

from bt_runtime.language.checks import entries
from bt_runtime.language.checks.outcomes import S, check_mission, outcomes
from bt_runtime.language.checks.references import Usage, usage
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.spec import Caps, NodeSpec, TreeSpec

Results = Mapping[NodeSpec, frozenset[str]]  # node → results that it may end with


def check_tree(tree: TreeSpec, diagnostics: Diagnostics, lost: Set[str] | None = frozenset()) -> None:
    """The checks that need one tree alone (its subtrees are loaded).

    `lost`: words of what could not be read, which may name entries; None: not all of the tree was looked at.
    """
    nodes = [*tree.root.walk()]
    results = outcomes(nodes)
    used = _checked(tree, nodes, results, diagnostics)
    check_mission(tree.root, results, diagnostics)
    if lost is not None and not used.opaque:
        used.perhaps.update(lost)
        entries.check_known(tree, used, diagnostics)
        if tree.properties and not lost:
            _own_check("bt_runtime.language.checks.promised:check_names")(tree, used, diagnostics)


def check_nodes(tree: TreeSpec, diagnostics: Diagnostics) -> Usage:
    """Checks a part of a tree, whose other reads and writes are unknown."""
    nodes = [*tree.root.walk()]
    return _checked(tree, nodes, outcomes(nodes), diagnostics)


def _checked(tree: TreeSpec, nodes: list[NodeSpec], results: Results, diagnostics: Diagnostics) -> Usage:
    for spec in nodes:
        _siblings(spec, diagnostics)
        if spec.kind.counts:
            _thresholds(spec, diagnostics)
        if spec.kind.reactive or spec.kind.transparent:
            _restarts(spec, diagnostics)
        if spec.kind.check:
            _own_check(spec.kind.check)(tree, spec, diagnostics)
    _unreachable(nodes, results, diagnostics)
    used = usage(nodes)
    entries.check_types(tree, used, diagnostics)
    return used


@cache
def _own_check(named: str) -> Callable[..., None]:
    """Imports a check that few trees need, such as a kind's own, from its reference `module:function`."""
    module, _, name = named.partition(":")
    found: Callable[..., None] = getattr(import_module(module), name)
    return found


def check(tree: TreeSpec, diagnostics: Diagnostics, caps: Caps) -> None:
    """The checks that cross the borders of trees: ports, what skills require, total depth, total size."""
    every = _all(tree)
    for each in every:
        for spec in each.root.walk():
            if spec.kind.includes:
                target = spec.subtree or spec.again
                if target is not None:
                    from bt_runtime.language.checks.subtree_ports import check_border

                    check_border(each, spec, target, diagnostics)
            elif getattr(spec.kind.data.get("entry"), "requires", None) is not None:
                _own_check("bt_runtime.language.checks.doubts:unguarded")(tree, spec, diagnostics)
    sizes: dict[TreeSpec, tuple[int, int]] = {}
    for each in every:
        depth, nodes = _size(each, sizes)
        sizes[each] = (depth, nodes)
        if not bounded(each, depth, nodes, diagnostics, caps):
            return


def bounded(tree: TreeSpec, depth: int, nodes: int, diagnostics: Diagnostics, caps: Caps) -> bool:
    """Returns True when the tree with its subtrees stays within `caps`; reports excess depth and nodes."""
    if depth > caps.depth:
        diagnostics.error(
            "BT028",
            f"with its subtrees the tree is {depth} nodes deep; at most {caps.depth} are allowed",
            tree.file,
            tree.root.span,
            help="depth is counted from this tree's root, also inside the trees that it includes",
        )
    if nodes > caps.nodes:
        diagnostics.error(
            "BT029",
            f"with its subtrees the tree has {nodes:,} nodes; at most {caps.nodes:,} are allowed",
            tree.file,
            tree.root.span,
        )
    return nodes <= caps.nodes


def _all(tree: TreeSpec) -> list[TreeSpec]:
    """Yields the tree and all trees that it includes, each once, after those that it includes. Without this memory,
    trees that include each other twice per level would take exponential time."""
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
        todo += [(c, level + 1) for c in spec.children]
    return depth, nodes


# One node and its children --------------------------------------------------------------------------


def _siblings(spec: NodeSpec, diagnostics: Diagnostics) -> None:
    seen: dict[str, NodeSpec] = {}
    for child in spec.children:
        if child.name is None or spec.kind.transparent:
            continue
        if child.name in seen:
            first = seen[child.name].span
            diagnostics.error(
                "BT019",
                f"two children are named `{child.name}`",
                child.file,
                child.span,
                help=f"the first one is on line {first.line}; names are unique among siblings",
            )
        seen.setdefault(child.name, child)


def _thresholds(spec: NodeSpec, diagnostics: Diagnostics) -> None:
    total = len(spec.children)
    if not total:
        return
    for name in spec.kind.counts:
        count = spec.values.get(name)
        if isinstance(count, int) and (count > total or count < -total):
            node = spec.given.get(name)
            diagnostics.error(
                "BT047",
                f"`{name}: {count}`, but there are {total} children",
                spec.file,
                node.span if node else spec.span,
                help="-1 means all of them",
            )


def _restarts(spec: NodeSpec, diagnostics: Diagnostics) -> None:
    """Warns about a child of a reactive node that takes time: after its end it restarts at every tick."""
    if spec.asks:
        _slow_tests(spec, diagnostics)
    if spec.kind.onward is None:
        return
    for child in spec.children[:-1]:
        first = child
        while first.children and not first.kind.waits and first.kind.hands_on:
            first = first.children[0]
        if spec.kind.onward == S and spec.kind.reactive:
            _waits_behind_a_test(child, spec, diagnostics)
        if first.kind.waits and not first.kind.keeps and first.kind.family != "decorator":
            diagnostics.warning(
                "BT027",
                f"`{first.kind.name}` takes time, and `{spec.kind.name}` starts it again at every tick "
                "after it has ended",
                first.file,
                first.span,
                help="put it last, put a `check` before it, use a control node with memory, or "
                "say that it is instant if it is",
            )


def _waits_behind_a_test(child: NodeSpec, spec: NodeSpec, diagnostics: Diagnostics) -> None:
    """Warns about a pattern such as `fallback: [aisle_clear, wait: 0.5]`: the wait restarts whenever the test fails."""
    for inner in child.walk():
        for late in inner.children[1:] if inner.kind.onward == "failure" else ():
            if late.kind.family == "leaf" and late.kind.waits and not late.kind.foreign and not late.kind.includes:
                diagnostics.warning(
                    "BT027",
                    f"`{late.kind.name}` lets `{spec.kind.name}` continue without its test for one tick; the next tick "
                    "restarts it and halts what follows",
                    late.file,
                    late.span,
                    help="leave it out: the test is made at every tick; or wait for it before, in a `sequence`",
                )


def _slow_tests(spec: NodeSpec, diagnostics: Diagnostics) -> None:
    for place in sorted(spec.asks):
        test = spec.at(place)
        for asked in test.walk() if test is not None else ():
            if asked.kind.waits and not asked.kind.keeps and asked.kind.family != "decorator":
                diagnostics.warning(
                    "BT027",
                    f"`{asked.kind.name}` takes time, and `{place}` asks it anew at every tick",
                    asked.file,
                    asked.span,
                    help="ask something that answers at once: a `check`, a condition, an instant skill",
                )


def _unreachable(nodes: list[NodeSpec], results: Results, diagnostics: Diagnostics) -> None:
    for spec in nodes:
        onward = spec.kind.onward
        if onward is None:
            continue
        for at, child in enumerate(spec.children[:-1]):
            if onward not in results[child] and not child.kind.skips:
                lost = spec.children[at + 1]
                ends = "fails" if onward == S else "succeeds"
                diagnostics.warning(
                    "BT026",
                    f"`{lost.kind.name}` is never reached: `{child.kind.name}` before it always {ends}",
                    lost.file,
                    lost.span,
                )
                break
