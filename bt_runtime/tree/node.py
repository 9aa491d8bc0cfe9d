"""The node: a py_trees behaviour that is ticked by plain calls, one stack frame per level.

py_trees' own vocabulary holds: `initialise` when a node starts, `update` at each tick, `terminate` when it ends or is
halted (with INVALID), `feedback_message` for people. `tick()` is kept for py_trees' programs and for foreign parents.
A node that answers INVALID was *skipped*: its parent goes on as if it were not there.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from copy import deepcopy
from threading import get_ident
from typing import TYPE_CHECKING, ClassVar
from uuid import UUID, uuid4

from py_trees.behaviour import Behaviour
from py_trees.behaviours import Success
from py_trees.common import BlackBoxLevel
from py_trees.common import Status as Status  # the package's own `Status` is this one
from py_trees.logging import Logger

from bt_runtime.events import Crash, Halt
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError, message_of, text_of
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.tree.context import Context
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope

Reader = Callable[[Mapping[str, Json]], Json]  # computes a value from a scope's `entries`
FRESH = "this step crashed"
_SHARED = frozenset({list, dict})  # classes of literals that all runs of a tree would share
TRANSPARENT = "."  # the segment of a guarded node: its guard stands at the same path
RUNNING, SUCCESS, FAILURE, INVALID = Status.RUNNING, Status.SUCCESS, Status.FAILURE, Status.INVALID


def computed(value: Json, scope: Scope) -> Json:
    """Returns the present value of a spec's value: a literal, or an expression or template over the scope."""
    return value.evaluate(scope) if hasattr(value, "evaluate") else literal(value)


def reader(value: Json) -> Reader:
    """Returns what computes a spec's value again and again, with few calls."""
    if not hasattr(value, "evaluate"):
        return lambda entries: literal(value)
    run: Reader = getattr(value, "run", None) or value.evaluate
    return run


def literal(value: Json) -> Json:
    """Returns a literal of the text; a list or a mapping as a copy, which its receiver may change."""
    return deepcopy(value) if value.__class__ in _SHARED else value


_KNOWN_BEHAVIOUR = vars(Success("known")).keys() == {
    "id", "name", "blackboards", "qualified_name", "status", "iterator", "parent", "children", "logger",
    "feedback_message", "blackbox_level",
}  # fmt: skip


if TYPE_CHECKING:

    class Steppable(Behaviour):
        """What our parents tick: a node of ours, or a foreign behaviour that `adopt` has prepared."""

        children: list[Steppable]  # type: ignore[assignment]
        segment: str
        seen_as: int
        resumes: bool

        def step(self) -> Status: ...
else:
    Steppable = Behaviour


class NodeError(BtError):
    """Raised in a strict run when a node fails with an exception; it names the node's path."""

    def __init__(self, path: str, cause: BaseException) -> None:
        super().__init__(f"{path}: {type(cause).__name__}: {text_of(cause)}")
        self.path = path


class Node(Steppable):
    """The base class of our nodes. A leaf overrides initialise, update and terminate; a parent overrides `step`."""

    kind: ClassVar[str] = ""
    starts: ClassVar[bool]  # does this class have an `initialise` of its own
    ends: ClassVar[bool]  # … a `terminate`

    resumes: bool = False  # while it runs, only its child at `at` is ticked
    still: ClassVar[bool] = False  # running, does it nothing but tick its `on_turn`; each class says so for itself
    copied: ClassVar[bool] = False  # nodes below are made only while it runs, from their spec
    STATE: ClassVar[tuple[str, ...]]  # attributes that a tick leaves in the node: see state.py
    ROUND: ClassVar[tuple[str, ...]]  # … until the next start, which sets it anew
    CACHES: ClassVar[tuple[str, ...]]  # attributes that a tick changes and that hold in every state
    _said = ""
    broke = ""  # its message when it crashed; FRESH within that step
    seen_as = 0  # the node's number in the census, once counted
    segment: str = ""  # this node's part of its path; kept for as long as it lives

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.starts = cls.initialise is not Behaviour.initialise
        cls.ends = cls.terminate is not Behaviour.terminate
        cls.still = vars(cls).get("still", False)

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        self._begin(spec.name or spec.kind.name)
        self.spec = spec
        self.context = context
        self.scope = scope
        self.born = 0  # how many children this node ever had: names the next one

    def _begin(self, name: str) -> None:
        """Replaces `Behaviour.__init__`: creates id and logger only on demand, because few nodes use them."""
        if not _KNOWN_BEHAVIOUR:
            Behaviour.__init__(self, name)
            return
        self.name = name
        self.blackboards = []
        self.qualified_name = f"{type(self).__qualname__}/{name}"
        self.status = INVALID
        self.iterator = self.tick()
        self.parent = None
        self.children = []
        self.blackbox_level = BlackBoxLevel.NOT_A_BLACKBOX

    @property
    def id(self) -> UUID:
        id: UUID = vars(self).get("_id") or vars(self).setdefault("_id", uuid4())  # one id, whichever thread asks first
        return id

    @id.setter
    def id(self, id: UUID) -> None:
        vars(self)["_id"] = id

    @property
    def logger(self) -> Logger:
        logger: Logger = vars(self).get("_logger") or vars(self).setdefault("_logger", Logger(self.name))
        return logger

    @logger.setter
    def logger(self, logger: Logger) -> None:
        vars(self)["_logger"] = logger

    @property
    def feedback_message(self) -> str:
        """Returns the node's present message for people."""
        return self._said

    @feedback_message.setter
    def feedback_message(self, text: str) -> None:
        if text != self._said:
            self._said = text
            context = vars(self).get("context")  # a py_trees behaviour says something before it is a node of ours
            if context is not None and context.changes is not None:
                context.said[self] = text

    @property
    def path(self) -> str:
        return path_of(self)

    @property
    def inside(self) -> Context:
        """Returns the context of the nodes below, to which a parent may add services."""
        return self.context

    def value(self, field: str) -> Json:
        """Returns a field's present value: a literal as it is, a template computed from this node's scope."""
        found = self.spec.values[field]
        if not hasattr(found, "evaluate"):
            return deepcopy(found) if found.__class__ in _SHARED else found
        value, declared = found.evaluate(self.scope), self.spec.kind.field(field)
        if declared is not None and declared.type in DATA_TYPES:
            ports.check(declared, value)
            ports.check_number(field, value)
        return value

    # Ticking ---------------------------------------------------------------------------------

    def step(self) -> Status:
        """Ticks this node once: starts it if necessary, updates it, ends it."""
        try:
            if self.starts and self.status is not RUNNING:
                self.initialise()
            status = self.update()
            if status is not RUNNING and status is not SUCCESS and status is not FAILURE and status is not INVALID:
                raise TypeError(f"update() of a node must return a Status, not {status!r}")
        except BaseException as error:
            status = self.crashed(error)
        if self.ends and status is not RUNNING:
            status = self.terminated(status)
        if status is self.status and not self.broke and self.context.visits is None:
            return status  # nothing has changed: without the call
        return self.finish(status)

    def update(self) -> Status:
        """Updates a leaf; a parent overrides `step` instead."""
        return INVALID

    @property
    def idle_until(self) -> float:
        """Returns the time before which a node started now would do nothing."""
        return -math.inf

    @property
    def on_turn(self) -> Behaviour | None:
        """Returns the running child of a node that is `still`."""
        return None

    def terminated(self, status: Status) -> Status:
        """Ends this start by `terminate`; FAILURE when that raises."""
        try:
            self.terminate(status)
        except Exception as error:
            return self.crash(error)
        return status

    def after_crash(self) -> None:
        """Runs after each step of a crashed node: removes the crash message after the first step without a crash."""
        if self.broke is FRESH:
            self.broke = self._said
        else:
            if self._said == self.broke:
                self.feedback_message = ""
            self.broke = ""

    def finish(self, status: Status) -> Status:
        """Ends a `step`: notes the result, and for listeners the change."""
        context = self.context
        if self.broke:
            self.after_crash()
        if status is not self.status:
            self.status = status
            if context.changes is not None:
                context.changes.append((self, status))
        if context.visits is not None:
            context.visits.append(self)
        return status

    def crash(self, error: BaseException) -> Status:
        """Turns an exception into FAILURE with path and traceback; strict runs raise it."""
        if isinstance(error, NodeError):
            raise error
        record_crash(self, self.context, error)
        return FAILURE

    def crashed(self, error: BaseException) -> Status:
        """Calls `crash`. What ends the tick, such as Ctrl-C, leaves the node RUNNING: the halt is to reach it."""
        try:
            return self.crash(error)
        except BaseException:
            self.status = RUNNING
            raise

    def explain(self) -> str:
        """Returns what it waits for, or why it returned what it did, in a clause; "" where its children tell it."""
        return self.feedback_message

    def attached(self) -> None:
        """Called when this node has become part of the tree that is ticked."""

    def release(self) -> None:
        """Called when this node has left, or never came in: give back what was taken when it was made."""

    # py_trees' face --------------------------------------------------------------------------

    def tick(self) -> Iterator[Behaviour]:
        """Ticks for py_trees: steps once, then yields the visited nodes, this node last."""
        context = self.context
        outer, visited = context.visits, list[Behaviour]()
        context.visits = visited
        try:
            with nullcontext() if context.ticking else context.stock_tick():
                self.step()
        finally:
            context.visits = outer
        yield from visited

    def stop(self, new_status: Status = INVALID) -> None:
        """py_trees' way to halt: everything running below, children before parents."""
        if new_status is INVALID:
            halting = self.context.halting
            if not halting.by:
                halting = Halt(path_of(self.parent) if self.parent else "py_trees", "its parent stopped it")
            halt(self, self.context, halting)
            reset(self, self.context, everywhere=True)
        else:
            self.finish(new_status)


def record_crash(node: Behaviour, context: Context, error: BaseException, strict: bool = True) -> None:
    if not isinstance(error, Exception):
        from bt_runtime.skills.crash import crash_of

        error = crash_of(error)
    path = path_of(node)
    message = message_of(error)
    node.feedback_message = message.partition("\n")[0]
    if isinstance(node, Node):
        node.broke = FRESH
    context.crash_count += 1
    crash = Crash(path, message, "".join(traceback.format_exception(error)), context.crash_count)
    context.crashes.append(crash)
    context.emit(crash)
    if context.strict and strict:
        raise NodeError(path, error) from error


def path_of(node: Behaviour) -> str:
    """Returns the node's path: its segments from the root down, as `/tree/0/fetch`."""
    segments: list[str] = []
    at: Behaviour | None = node
    while at is not None:
        segment = segment_of(at)
        if segment != TRANSPARENT:
            segments.append(segment)
        at = at.parent
    return "/" + "/".join(reversed(segments))


def segment_of(node: Behaviour) -> str:
    """Returns a node's part of its path; for foreign nodes without one, the name."""
    return getattr(node, "segment", "") or node.name.replace("/", "_")


def halt(root: Behaviour, context: Context, why: Halt, everywhere: bool = False) -> int:
    """Tells every running node below and including `root` to stop: children before parents, left before right.

    Iterative, so that no depth is too deep; a node that breaks while it stops does not keep the others from stopping.
    `everywhere` also looks below nodes that are not running: a tick that broke leaves such.
    """
    running = 0
    told: list[Behaviour] = []
    every = context.foreign and root.status is RUNNING  # py_trees tells those that have finished as well
    todo = [root]
    while todo:
        node = todo.pop()
        if node.status is RUNNING:
            running += 1
            told.append(node)
        elif every and node.status is not INVALID:
            if not isinstance(node, Node):
                told.append(node)
        elif not everywhere and (isinstance(node, Node) or node.status is INVALID):
            continue  # a foreign decorator may say FAILURE while its child is running
        todo.extend(node.children)
    context.halted += 1
    outer, context.halting = context.halting, why
    context.halting_in = get_ident()
    for node in reversed(told):
        finished = node.status is not RUNNING
        try:
            if isinstance(node, Node):
                if node.ends:
                    node.terminate(INVALID)
            else:
                node.stop(INVALID)
        except BaseException as error:
            record_crash(node, context, error, strict=False)
        node.status = INVALID
        if finished:
            if context.changes is not None:
                context.resets.append(node)
            continue
        if context.changes is not None:
            context.changes.append((node, INVALID))
        if context.halts is not None:
            context.halts.append((node, why))
    context.halting = outer
    return running


def reset(root: Behaviour, context: Context, everywhere: bool = False) -> None:
    """Resets finished nodes to INVALID without calling `terminate`: they start anew, or are out of date.

    `everywhere` also looks below nodes that show nothing: one that was halted leaves finished children.
    """
    context.halted += 1
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, Node):
            if everywhere or node.status is not INVALID:
                if context.changes is not None and node.status is not INVALID:
                    context.resets.append(node)
                node.status = INVALID
                todo.extend(node.children)
        elif node.status is not INVALID:
            if context.changes is not None:
                context.resets.append(node)
            node.stop(INVALID)
