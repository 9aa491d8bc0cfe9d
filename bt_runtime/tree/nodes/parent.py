"""The base of all parents: children may be added and removed between ticks."""

from __future__ import annotations

import math
import uuid
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from py_trees import composites, decorators
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Halt
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.tree.adopt import adopt
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Node, Steppable, halt, reset

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context


def _shown_child(parent: Behaviour) -> Behaviour | None:
    """Returns the child to show: the running one, else the last with a result."""
    live = [c for c in parent.children if c.status is RUNNING]
    live = live or [c for c in parent.children if c.status is not INVALID]
    return live[-1] if live else None


Turn: TypeAlias = Steppable | Status  # the child to tick now, or what the tick of its parent ends with


class Parent(Node):
    """A node with children. `inserted` and `removed` keep a parent's place when its children change."""

    current_child: Behaviour | None = property(_shown_child)  # type: ignore[assignment]
    fixed = False  # True: every place is taken by exactly one child, which can only be replaced
    HOLDS: ClassVar[bool] = False  # while a child runs, no other is ticked, and that one is halted only for a reason

    def take(self, child: Behaviour, index: int, segment: str = "") -> None:
        """Makes `child` the child at this index; it keeps its segment for life."""
        if child.parent is not None:
            raise RuntimeError(f"behaviour '{child.name}' already has parent '{child.parent.name}'")
        child = adopt(child, self.context)
        child.segment = segment or _name_of(child) or str(self.born)
        self.born += 1
        child.parent = self
        self.children.insert(index, child)

    @property
    def idle_until(self) -> float:
        """Returns when the first child needs a tick; foreign children need one at once."""
        return min((getattr(child, "idle_until", -math.inf) for child in self.children), default=-math.inf)

    def ended_by(self, at: int, status: Status) -> Status | None:
        """Returns what it ends with when its child at this place ends so; None: it goes on, or more decides."""
        onward, last = self.spec.kind.onward, at + 1 == len(self.children)
        return None if onward is None or (status.name.lower() == onward and not last) else status

    def inserted(self, index: int) -> None:
        """Called when a child was inserted at this index."""

    def removed(self, index: int, child: Behaviour) -> None:
        """Called when the child at this index was removed."""
        self.forget(child)

    def replaced(self, old: Behaviour, new: Behaviour) -> None:
        """Called when one child has replaced another."""
        self.forget(old)

    def forget(self, child: Behaviour) -> None:
        """Drops what is kept of a child that is no longer here."""

    # py_trees' face: the same changes, asked for by its programs

    def allow(self, fixed: bool = False) -> None:
        """Refuses a change that would remove the running child or leave a required place empty."""
        if self.context.ticking:
            raise BtError("the tree is being ticked", "ask for the change instead: run.replace(path, ...)")
        if fixed:
            raise BtError(f"`{self.name}` takes a fixed set of children", "replace one of them")

    def insert_child(self, child: Behaviour, index: int) -> uuid.UUID:
        self.allow(self.fixed)
        index = min(max(index, 0), len(self.children))
        self.take(child, index)
        self.inserted(index)
        return child.id

    def add_child(self, child: Behaviour) -> uuid.UUID:
        if not isinstance(child, Behaviour):
            raise TypeError(f"children must be behaviours, but you passed in {type(child)}")
        return self.insert_child(child, len(self.children))

    def prepend_child(self, child: Behaviour) -> uuid.UUID:
        return self.insert_child(child, 0)

    def remove_child(self, child: Behaviour) -> int:
        self.allow(self.fixed)
        return self.drop(child)

    def drop(self, child: Behaviour) -> int:
        index = next(i for i, c in enumerate(self.children) if c is child)
        halt(child, self.context, Halt(self.path, "it was removed"))
        del self.children[index]
        child.parent = None
        self.removed(index, child)
        return index

    def remove_all_children(self) -> None:
        for child in tuple(self.children):
            self.remove_child(child)

    def replace_child(self, child: Behaviour, replacement: Behaviour) -> None:
        self.allow()
        if replacement.parent is not None:
            raise RuntimeError(f"behaviour '{replacement.name}' already has parent '{replacement.parent.name}'")
        index = next(i for i, c in enumerate(self.children) if c is child)
        halt(child, self.context, Halt(self.path, "it was replaced"))
        segment = getattr(child, "segment", "")
        del self.children[index]
        child.parent = None
        self.take(replacement, index, _name_of(replacement) or segment)
        self.replaced(child, replacement)

    def clear(self, start: int) -> None:
        """Resets the children from this index on, which show results of an earlier round."""
        for child in self.children[start:]:
            if child.status is not INVALID:
                reset(child, self.context)


def _name_of(child: Behaviour) -> str:
    """Returns the name that a person gave a node, or None."""
    return (child.spec.name or "") if isinstance(child, Node) else ""


class Composite(Parent, composites.Composite):
    """Base of control nodes with a list of children; py_trees sees a composite."""

    memory = True


class Chooser(Parent):
    """A parent that ticks one child at a time: `choose` names it (or a result), `conclude` turns its result into ours.

    Both may answer with a child, which is then ticked within this tick, or with a status, which ends it.
    """

    fixed = True
    ROUND: ClassVar[tuple[str, ...]] = ("active", "running_test", "test_asked")
    active: Steppable | None = None  # the child that is running
    running_test: Steppable | None = None  # a node that was asked, and has not answered yet
    test_asked: Steppable | None = None  # the test, if it was asked in this step
    on_turn = property(lambda self: self.active)

    def choose(self) -> Turn:
        return self.children[0]

    def ended_by(self, at: int, status: Status) -> Status | None:
        return None if self.spec.places[at : at + 1] and self.spec.places[at] in self.spec.asks else status

    def ask(self, field: str) -> Status:
        """Evaluates one test: an expression, or the node that takes its place behind the children."""
        if field in self.spec.values:
            return SUCCESS if self.value(field) else FAILURE
        places = self.spec.places
        test = self.children[places.index(field) - len(places)]
        status = test.step()
        if status is RUNNING:
            self.test_asked = self.running_test = test
        return status

    def let_go(self, turn: Status) -> None:
        """Halts the running tests whose answer this step did not ask for, or no longer needs."""
        self.running_test, self.test_asked = self.test_asked if turn is RUNNING else None, None
        for test in self.children:
            if test is not self.running_test and test is not self.active:
                halt_below(test, self.context, self, "its answer is not asked for any more")

    def conclude(self, status: Status) -> Turn:
        return status

    def step(self) -> Status:
        try:
            turn = self.choose()
            while not isinstance(turn, Status):
                active = self.active
                if active is not None and active is not turn:
                    halt_below(active, self.context, self, "another branch was chosen")
                status = turn.step()
                if status is RUNNING:
                    self.active = turn
                elif active is not None:
                    self.active = None
                turn = self.conclude(status)
        except Exception as error:
            turn = self.crash(error)
        if turn is not RUNNING and self.active is not None:
            halt_below(self.active, self.context, self, self.feedback_message or "its parent has ended")
            self.active = None
        if self.running_test is not None:
            self.let_go(turn)
        if turn is self.status and not self.broke and self.context.visits is None:
            return turn  # nothing has changed: without the call
        return self.finish(turn)

    def terminate(self, new_status: Status) -> None:
        self.active = None

    def forget(self, child: Behaviour) -> None:
        if self.active is child:
            self.active = None


class Decorator(Chooser, decorators.Decorator):
    """Base of nodes with one child; py_trees sees a decorator."""

    decorated: Behaviour = property(lambda self: self.children[0])  # type: ignore[assignment]


def halt_below(child: Behaviour, context: Context, by: Node, reason: str) -> None:
    """Stops a running child because its parent says so; the parent's path is on record."""
    if child.status is RUNNING:
        halt(child, context, Halt(by.path, reason))
