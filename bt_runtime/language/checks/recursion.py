"""Checks that a tree which contains itself can end."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.language.checks.outcomes import outcomes
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.spec import IncludeStep, NodeSpec, TreeSpec


def check_recursion(cycle: Sequence[IncludeStep], diagnostics: Diagnostics) -> None:
    """Reports a cycle of trees without a node that can end it, in whichever tree of the cycle."""
    if any(_can_end(step.tree, step.node) for step in cycle):
        return
    first, last = cycle[0].tree, cycle[-1].node
    by_way = "".join(f" by way of `{step.tree.name}`" for step in cycle[1:])
    diagnostics.error(
        "BT025",
        f"`{first.name}` contains itself{by_way}, and nothing can end that",
        last.file,
        last.span,
        help="put a test before it: `sequence: [check: depth < max_depth, tree: ...]`",
    )


def _can_end(tree: TreeSpec, at: NodeSpec) -> bool:
    """True when something in this tree can prevent this node from being reached."""
    parents = {child: parent for parent in tree.root.walk() for child in parent.children}
    results = outcomes(tree.root.walk())
    while at in parents:
        parent = parents[at]
        if any(f.name in parent.kind.blocks and (f.required or f.name in parent.values) for f in parent.kind.fields):
            return True
        onward = parent.kind.onward
        if onward is not None:
            before = parent.children[: parent.children.index(at)]
            if any(results[b] - {onward} or b.kind.skips for b in before):
                return True
        at = parent
    return False
