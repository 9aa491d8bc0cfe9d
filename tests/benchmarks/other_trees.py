"""1,000 leaves in Python that succeed at once, in other libraries of behaviour trees, as far as they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEAVES = 1000


def behaviortreepy() -> Callable[[], object]:
    """BehaviorTree.CPP, its leaves calling back."""
    import behaviortreepy as library

    factory = library.BehaviorTreeFactory()
    factory.register_simple_action("Leaf", lambda node: library.NodeStatus.SUCCESS)
    text = (
        f'<root BTCPP_format="4"><BehaviorTree ID="T"><Sequence>{"<Leaf/>" * LEAVES}</Sequence></BehaviorTree></root>'
    )
    tree = factory.create_tree_from_text(text)
    kept: Any = (factory, tree)
    return lambda: kept[1].tick_once()


def bonsai_bt() -> Callable[[], object]:
    import bonsai_bt as library

    def call(args: Any, board: Any) -> tuple[Any, float]:
        return library.Status.Success, args.dt

    def again() -> object:
        made.reset_bt()
        return made.tick(0.1, call)

    made = library.BT(library.Sequence([library.Action(str(i)) for i in range(LEAVES)]), {})
    return again


def bteng() -> Callable[[], object]:
    import bteng as library

    success = library.NodeStatus.SUCCESS
    leaves = [library.FunctionAction(str(i), lambda node: success) for i in range(LEAVES)]
    return library.BehaviorTreeEngine(library.SequenceNode("s", leaves)).tick_once


def others() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    for make in (behaviortreepy, bonsai_bt, bteng):
        try:
            work = make()
            work()
        except Exception:
            continue
        found[make.__name__] = work
    return found
