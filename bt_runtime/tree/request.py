"""A requested change of a tree's shape, and the interface through which nodes request it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from py_trees.behaviour import Behaviour

from bt_runtime.events import Applied, Halt, How
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind, Registry
    from bt_runtime.language.spec import TreeSpec
    from bt_runtime.tree.blackboard import Scope

ENDING = -1
Make = Callable[[str], Behaviour]  # the path where they will stand → the new nodes, not yet set up


class Refused(BtError):
    """Raised for a change that is not possible; the tree is unchanged."""


class Request:
    """A requested change. `poll` returns Applied once it is made, and raises when it was refused."""

    def __init__(
        self, how: How, path: str, make: Make | None = None, index: int | None = None, text: str = "", name: str = "",
        why: Halt | None = None, asked: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.how = how
        self.path = path
        self.name = name  # the new node's name, if one was given
        self.make = make
        self.index = index
        self.text = text
        self.why = why  # the reason told to running nodes that are removed
        self.applied: Applied | None = None
        self.refused: BtError | None = None
        self.asked = asked  # records it when it is queued

    def poll(self) -> Applied | None:
        if self.refused is not None:
            raise self.refused
        return self.applied

    def cancel(self, reason: str) -> None:
        """Withdraws a change that has not been made yet."""
        if self.applied is None and self.refused is None:
            self.refused = Refused(f"the change at {self.path} was cancelled: {reason}")


class Inbox:
    """Takes requests from any thread. One that another thread makes within a tick is queued at the end of the stepping,
    behind those of the nodes, so that a rebuilt run can make it at the same moment."""

    def __init__(self, requests: deque[Request]) -> None:
        self.requests = requests
        self.late: deque[Callable[[], object]] = deque()  # done at the end of the stepping
        self.stepping = 0  # the thread that steps the tree; ENDING at the end
        self._lock = threading.RLock()

    def begin(self) -> None:
        with self._lock:
            self.stepping = threading.get_ident()

    def end(self) -> None:
        with self._lock:
            self.stepping = ENDING
            while self.late:
                self.late.popleft()()
            self.stepping = 0

    def take(self, change: Request) -> None:
        with self._lock:
            if self.stepping in (0, ENDING, threading.get_ident()):
                self._queue(change)
            else:
                self.late.append(partial(self._queue, change))

    def _queue(self, change: Request) -> None:
        change.asked()
        self.requests.append(change)


def checked(path: object, plan: object = "", index: object = None) -> None:
    """Checks what a program asks for before anything is recorded or requested."""
    if not isinstance(path, str):
        raise BtError(f"a path is a text, not {path!r:.60}", "write it as `/tree/0`")
    if not isinstance(plan, str | Behaviour):
        raise BtError(f"a graft is YAML text or a node, not {plan!r:.60}", "to take a node out, call `remove(path)`")
    if index is not None and type(index) is not int:
        raise BtError(f"an index is a whole number, not {index!r:.60}", "0 is the first place, -1 the last")


class Owner(NamedTuple):
    """The tree that the nodes at a place belong to, and their scope."""

    tree: TreeSpec
    scope: Scope


class Grower(Protocol):
    """Grows the tree while it runs (see `growth.py`). Every change is made between two ticks."""

    @property
    def room(self) -> int: ...
    def registry(self, node: Behaviour) -> Registry: ...
    def plan(self, node: Any, text: str, kinds: Sequence[Kind] = ()) -> Request: ...
    def subtree(self, node: Any, tree: TreeSpec) -> Request: ...
    def copy(self, node: Any, opened: Callable[[str], Scope], made: Callable[[Behaviour, Scope], None]) -> Request: ...
    def remove(self, path: str) -> Request: ...
