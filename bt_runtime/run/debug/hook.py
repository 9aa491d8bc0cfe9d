"""The debugger's gates before the steps of nodes: held ones, and those whose results are forced.

A node that is gated has a `step` attribute of its own, so the tick pays nothing for nodes without a gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Halt
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.rule import Breakpoint, ForcedResult, Matching, Rule
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import INVALID, RUNNING, TRANSPARENT, Node, halt, path_of, reset, segment_of
from bt_runtime.tree.nodes.reactive import ReactiveFallback, ReactiveSequence

if TYPE_CHECKING:
    from bt_runtime.language.expression import Expression
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.engine import Engine

Hit = Callable[[Breakpoint, Behaviour, bool, str], None]  # …, was the node held, and if not, why
_WORDS = {Status.SUCCESS: "success", Status.FAILURE: "failure", RUNNING: "running", INVALID: "skipped"}


class Hook:
    """The debugger's gate before the steps of one node."""

    def __init__(self, hooks: Hooks, node: Behaviour, path: str) -> None:
        self.hooks, self.node, self.path = hooks, node, path
        self.breaks: list[Breakpoint] = []
        self.force: ForcedResult | None = None
        self.left, self.result = 0, Status.FAILURE
        self.answered: Status = node.status
        self.own: Callable[..., Status] | None = vars(node).get("step")  # a foreign node has one already
        vars(node)["step"] = self
        if getattr(node, "resumes", False):
            vars(node)["resumes"] = False  # the tick must not pass the node by on the way to its running child

    def __call__(self, *given: Status) -> Status:
        if self.force is not None:
            status = self.forced(self.force)
        else:
            if self.breaks and self.holds():
                return RUNNING
            cls: Any = type(self.node)
            status = cls.step(self.node, *given) if self.own is None else self.own(*given)
        if self.breaks:
            self.look(status)
        self.answered = status
        return status

    # Breakpoints -----------------------------------------------------------------------------

    def holds(self) -> bool:
        """True when the node must be held before its start: it then returns RUNNING without having started."""
        node, hooks = self.node, self.hooks
        if node.status is RUNNING or node in hooks.passing or hooks.context.halting.by or not hooks.may_hold:
            hooks.passing.discard(node)
            return False
        for each in self.breaks:
            if each.moment == "before" and hooks.holds(each.condition, node):
                why = disturbs(node)
                hooks.hit(each, node, not why, why)
                if not why:
                    hooks.held[node] = None
                return not why
        return False

    def look(self, status: Status) -> None:
        for each in self.breaks:
            if each.moment == "after":
                due = status is Status.SUCCESS or status is Status.FAILURE
            else:
                due = each.moment == _WORDS[status] and status is not self.answered
            if due and self.hooks.holds(each.condition, self.node):
                self.hooks.hit(each, self.node, False, "")

    # Forced results --------------------------------------------------------------------------

    def forced(self, force: ForcedResult) -> Status:
        node = self.node
        if node.status is not RUNNING:
            begun = force.begin()
            self.left, self.result = begun.ticks, begun.result
        status = self.result
        if self.left:
            self.left -= 1
            status = RUNNING
            if self.left >= 0:
                self.hooks.context.tick_soon(node)
        node.feedback_message = f"forced by the debugger: {_WORDS[status]}"
        if isinstance(node, Node):
            return node.finish(status)
        context = self.hooks.context
        if status is not node.status and context.changes is not None:
            context.changes.append((node, status))
        node.status = status
        return status

    def take_over(self) -> None:
        """Lets the script answer from now on: halts running nodes below and bypasses the node's own code."""
        node, context = self.node, self.hooks.context
        halt(node, context, Halt("debugger", "its result is forced"), everywhere=True)
        reset(node, context)
        if isinstance(node, Node):
            node.ends = False  # type: ignore[misc]
        else:
            vars(node)["stop"] = lambda new_status=INVALID: setattr(node, "status", new_status)

    def give_back(self) -> None:
        node, context = self.node, self.hooks.context
        if node.status is not INVALID:
            if node.status is RUNNING:
                halt(node, context, Halt("debugger", "its result is not forced any more"))
            else:
                reset(node, context)
        vars(node).pop("ends", None)
        vars(node).pop("stop", None)

    def remove(self) -> None:
        if self.force is not None:
            self.give_back()
        own = vars(self.node)
        if own.get("step") is not self:
            return  # a foreign node that was put elsewhere has a new one
        if self.own is not None:
            own["step"] = self.own
        else:
            del own["step"]
            own.pop("resumes", None)


class Hooks:
    """Holds all hooks of a run and their rules. They change only between two ticks."""

    def __init__(self, engine: Engine, hit: Hit) -> None:
        self.context, self.find, self.hit = engine.context, engine.find, hit
        self.root: Callable[[], Behaviour] = lambda: engine.root
        self.rules: list[Rule] = []
        self.hooks: dict[Behaviour, Hook] = {}
        self.held: dict[Behaviour, None] = {}  # nodes that were asked for, and have not begun
        self.passing: set[Behaviour] = set()  # … and may begin now
        self.may_hold = False  # true inside a tick of the engine; py_trees' own ticks are not held

    def holds(self, condition: Expression | None, node: Behaviour) -> bool:
        """Evaluates a breakpoint's condition; False when it fails, for example because an entry is missing."""
        if condition is None:
            return True
        try:
            return bool(condition.evaluate(scope_of(node, self.context)))
        except BtError:
            return False

    def told(self) -> dict[Behaviour, str]:
        """Maps each node that the debugger controls to what it was told to do."""
        said = {n: f"is forced by the debugger ({hook.force.text()})" for n, hook in self.hooks.items() if hook.force}
        said.update((node, "is held by the debugger, and has not begun") for node in self.held)
        return said

    def let_go(self) -> bool:
        """Lets held nodes start in the next tick."""
        if not self.held:
            return False
        self.passing = set(self.held)
        self.held.clear()
        return True

    def apply(self) -> None:
        """Gives every node the hook that the rules require, or none."""
        matching = Matching(self.rules)
        wanted = dict(self._wanted(self.root(), "") if matching.wild else self._named(matching))
        for node in [node for node in self.hooks if node not in wanted]:
            self.hooks.pop(node).remove()
        for node, (path, rules) in wanted.items():
            self._set(node, path, rules)

    def grown(self, new: Behaviour) -> None:
        """Adds hooks to new nodes, and forgets removed ones."""
        above = path_of(new.parent) if new.parent is not None else ""
        for node, (path, rules) in self._wanted(new, above):
            self._set(node, path, rules)
        if len(self.hooks) > 2 * self._known + 64:
            self.apply()
            self._known = len(self.hooks)

    _known = 0

    def _set(self, node: Behaviour, path: str, rules: list[Rule]) -> None:
        hook = self.hooks.get(node) or self.hooks.setdefault(node, Hook(self, node, path))
        hook.breaks = [rule for rule in rules if isinstance(rule, Breakpoint)]
        force = next((rule for rule in reversed(rules) if isinstance(rule, ForcedResult)), None)
        before, hook.force = hook.force, force
        if before is not None and force is not before:
            hook.give_back()
        if force is not None and force is not before:
            hook.take_over()

    def _named(self, matching: Matching) -> Iterator[tuple[Behaviour, tuple[str, list[Rule]]]]:
        """Finds the nodes of exact paths without walking the tree."""
        for path, rules in matching.exact.items():
            with suppress(BtError):
                node = self.find(path)
                if path_of(node) == path and (isinstance(node, Node) or "step" in vars(node)):
                    yield node, (path, rules)

    def _wanted(self, top: Behaviour, above: str) -> Iterator[tuple[Behaviour, tuple[str, list[Rule]]]]:
        matching = Matching(self.rules)
        todo = [(top, above)]
        while todo:
            node, above = todo.pop()
            segment = segment_of(node)
            path = above if segment == TRANSPARENT else f"{above}/{segment}"
            rules = matching.at(path) if segment != TRANSPARENT else []
            if rules and (isinstance(node, Node) or "step" in vars(node)):
                yield node, (path, rules)
            todo.extend((child, path) for child in node.children)


def scope_of(node: Behaviour, context: Context) -> Scope:
    at: Behaviour | None = node
    while at is not None and not isinstance(at, Node):
        at = at.parent
    return at.scope if at is not None else context.blackboard.root


def disturbs(node: Behaviour) -> str:
    """Returns why this node cannot be held, "" when it can. A held node answers RUNNING, which may change other
    nodes' results."""
    child, at = node, node.parent
    while at is not None:
        if not isinstance(at, Node):
            return f"`{at.name}` above it is a node of py_trees"
        if isinstance(at, ReactiveSequence | ReactiveFallback) and at.runner not in (None, child):
            return f"{path_of(at)} would have halted what it runs"
        if child.status is RUNNING:
            return ""  # whatever is above takes it for running already
        child, at = at, at.parent
    return ""
