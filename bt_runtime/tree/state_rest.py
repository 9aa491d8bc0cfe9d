"""What a state holds besides nodes and entries: clock, requests, halts, spending, worlds; nodes of py_trees; the shape.

`bt_runtime.tree.state` is the face of this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from math import isinf
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.tree.clock import Manual, Simulated, Steady
from bt_runtime.tree.frozen import Losses, declared, freeze, key_of, thaw
from bt_runtime.tree.node import Node

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine
    from bt_runtime.tree.state_shape import TreeShape

_ENGINE = ("count", "status", "latest", "held", "over", "rebuilt_ended", "wanted_halt", "_crashes_seen")
_CONTEXT = ("due", "deadline", "polled", "crash_count", "restless")
_read_engine, _read_context = attrgetter(*_ENGINE), attrgetter(*_CONTEXT)
_SHARED = ("starts", "spent", "parts")  # attributes of the services
_FIXED = frozenset(
    {
        "parent",
        "children",
        "id",
        "name",
        "logger",
        "blackboards",
        "iterator",
        "qualified_name",
        "blackbox_level",
        "step",
        "segment",
        "seen_as",
        "resumes",
        "made_of",
        "decorated",
    }
)  # fmt: skip - attributes of a py_trees behaviour that a tick leaves as they are, or that are the shape


class RestOfRun:
    """What a state holds besides nodes and entries."""

    def __init__(self, engine: Engine, losses: Losses, numbers: Mapping[Behaviour, int]) -> None:
        context, services = engine.context, engine.context.services
        losses.at = None
        self.engine = _read_engine(engine)
        self.context = _read_context(context)
        self.crashes = tuple(context.crashes)
        self.now = _clock(context.clock)
        self.requests = tuple([freeze(each, losses) for each in context.requests])
        self.held = tuple([(name, freeze(hold, losses)) for name, hold in context.resources._holds.items()])
        shared = [getattr(services, name) for name in _SHARED]
        self.services = tuple([freeze(each, losses) for each in shared]) if any(shared) else None
        self.world = freeze(services.world, losses)
        if services.world is not None and self.world is services.world:
            losses.add(f"the world {type(services.world).__name__} has no `snapshot` and `restore`")
        due = self.context[0]
        waits = due if isinf(due) else max(0.0, round(due - context.clock.now(), 6))
        parts = (self.requests, self.held, self.services, self.world, engine.held, engine.over)
        self.key: Hashable = engine.status, waits, key_of(parts, numbers) if any(parts) else None

    def put_back(self, engine: Engine) -> None:
        context, services = engine.context, engine.context.services
        vars(engine).update(zip(_ENGINE, self.engine, strict=True))
        vars(context).update(zip(_CONTEXT, self.context, strict=True))
        context.halted += 1  # nodes that sleep until a halt look again
        context.crashes.clear()
        context.crashes.extend(self.crashes)
        for clock, values in self.now:
            vars(clock).update(values)
        context.requests.clear()
        context.requests.extend(thaw(each) for each in self.requests)
        context.resources._holds = {name: thaw(hold) for name, hold in self.held}
        starts, spent, parts = self.services or (None, None, None)
        services.starts, services.spent = thaw(starts) or Counter(), thaw(spent)
        services.parts = thaw(parts) or {}
        services.world = thaw(self.world)
        if context.changes is not None:
            context.changes, context.halts, context.resets, context.said = [], [], [], {}


def _clock(clock: Any) -> list[tuple[Any, dict[str, float]]]:
    """Returns the time of a clock that can be set, and of what wraps it."""
    found: list[tuple[Any, dict[str, float]]] = []
    while clock is not None:
        if isinstance(clock, Manual | Simulated):
            found.append((clock, {"_now": clock._now}))
        elif isinstance(clock, Steady):
            found.append((clock, {"ahead": clock.ahead, "_last": clock._last}))
        clock = vars(clock).get("inner") if hasattr(clock, "__dict__") else None
    settable = any("_now" in values for _, values in found)
    return found if settable else []


# Nodes of py_trees -----------------------------------------------------------------------------


def foreign_row(node: Behaviour, losses: Losses) -> tuple[tuple[str, Any], ...]:
    """Returns the attributes of a node that is none of ours: all of them for classes of py_trees, else those that its
    class declares."""
    own = vars(node)
    if "tick" in own:
        losses.add("what it exchanges with the blackboard of py_trees belongs to the whole process")
    names = declared(type(node), "STATE")
    if names:
        return tuple([(name, freeze(getattr(node, name), losses)) for name in ("status", "feedback_message", *names)])
    if not type(node).__module__.startswith("py_trees."):
        losses.add(f"{type(node).__name__} is no node of ours, and its class declares no STATE")
    return tuple([(name, freeze(value, losses)) for name, value in own.items() if name not in _FIXED])


def put_foreign_row(node: Behaviour, row: tuple[tuple[str, Any], ...]) -> None:
    own, kept = vars(node), {name: thaw(value) for name, value in row}
    if not declared(type(node), "STATE"):
        for name in [name for name in own if name not in kept and name not in _FIXED]:
            del own[name]
    own.update(kept)


# The shape -------------------------------------------------------------------------------------


def reshape(engine: Engine, wanted: TreeShape, present: TreeShape) -> None:
    """Gives the tree the nodes of an earlier state: those that came since leave, those that left come back."""
    staying, here = {*wanted.nodes}, {*present.nodes}
    for node in reversed(present.nodes):
        if node not in staying:
            node.shutdown()
            if isinstance(node, Node):
                node.release()
            node.parent = None
            node.children = []
    for node in wanted.nodes:
        node.children = []
    wanted.root.parent = None
    for parent, children in wanted.parents:
        parent.children = [*children]
        for child in children:
            child.parent = parent
    for node, segment in zip(wanted.nodes, wanted.segments, strict=True):
        vars(node)["segment"] = segment
    shape = engine.shape
    shape.root, shape.nodes = wanted.root, len(wanted.nodes)
    for node in reversed(wanted.nodes):
        if node not in here:
            if shape.kwargs is not None:
                node.setup(**shape.kwargs)
            if isinstance(node, Node):
                node.attached()
    if shape.census is not None:
        shape.census.stale = True
