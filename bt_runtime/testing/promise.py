"""Promises at the end of each tick: expressions over entries and nodes that must never, or always, hold. `charging
and driving` reads entries; `/patrol/dock is running` tests a node, and is short for `node["/patrol/dock"] ==
"running"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bt_runtime.faults.diagnostic import BtError, nearest
from bt_runtime.language.expression import ExpressionError, compile
from bt_runtime.language.expression.call import show
from bt_runtime.testing.values import written
from bt_runtime.tree.node import INVALID, path_of

if TYPE_CHECKING:
    from bt_runtime.language.expression import Expression
    from bt_runtime.run.run import Run

Word = Literal["never", "always"]
NODE = "node"  # what the statuses of nodes are called in a promise
WORDS = ("running", "success", "failure", "idle")
_PATH = re.compile(r'node\["(/[^"]+)"\]')
_IS = re.compile(rf"(?<![\w\])/])(?P<path>(?:/[\w.-]+)+)\s+is\s+(?P<no>not\s+)?(?P<word>{'|'.join(WORDS)})\b")


class Promise(NamedTuple):
    word: Word
    text: str
    test: Expression

    def __repr__(self) -> str:
        return f"{self.word}: {self.text}"


class Broken(AssertionError):
    """Raised when a promise was broken; `promise` names it."""

    def __init__(self, promise: Promise, message: str) -> None:
        super().__init__(message)
        self.promise = promise


def _of(word: Word, texts: str | Iterable[str]) -> Iterator[Promise]:
    """Raises BtError for what is no expression."""
    for text in [texts] if isinstance(texts, str) else texts:
        try:
            yield Promise(word, text, compile(_IS.sub(_plainly, text)))
        except ExpressionError as error:
            raise BtError(f"{word}: {text}: {error.message}", error.hint) from None


def _plainly(said: re.Match[str]) -> str:
    return f'{NODE}["{said["path"]}"] {"!=" if said["no"] else "=="} "{said["word"]}"'


class Promises:
    """The promises of a tree, checked in one run or in many."""

    def __init__(self, never: str | Iterable[str] = (), always: str | Iterable[str] = ()) -> None:
        self.all = [*_of("never", never), *_of("always", always)]
        self.unread = {name for each in self.all for name in each.test.names} - {NODE}  # entries that were never there
        self.unseen = {path for each in self.all for path in _PATH.findall(each.test.text)}  # … and nodes
        self.paths = frozenset(self.unseen)

    def look(self, run: Run, when: str) -> None:
        """Raises Broken. A promise that reads an unset entry is neither broken nor kept."""
        if not self.all:
            return
        board, scope = run.blackboard, _Sight(run, self.paths)
        self.unread -= {name for name in self.unread if name in board}
        self.unseen -= scope.statuses.keys() - scope.absent if self.unseen else set()
        for promise in self.all:
            names = [name for name in promise.test.names if name != NODE]
            if all(name in board for name in names) and _holds(promise, scope) is (promise.word == "never"):
                raise Broken(promise, f"{promise!r} - broken {when}, where {scope.said(promise)}")

    def known(self, run: Run) -> None:
        """Raises for an entry or a node that was never there: such a promise cannot be broken."""
        for name in sorted(self.unread):
            entries = sorted({*run.blackboard, *run.spec.ports, *written(run.spec)})
            if name not in entries:
                raise self._unknown(name, f"no entry is named `{name}`", entries, "entries")
        for path in sorted(self.unseen):
            raise self._unknown(path, f"no node is at {path}", sorted({path_of(n) for n in run.nodes()}), "nodes")

    def _unknown(self, name: str, why: str, known: list[str], what: str) -> BtError:
        close = nearest(name, known)
        text = next(p.text for p in self.all if name in p.test.text)
        return BtError(f"`{text}`: {why}", f"did you mean `{close}`?" if close else f"{what}: {', '.join(known)}")


def _holds(promise: Promise, scope: _Sight) -> bool:
    try:
        return bool(promise.test.evaluate(scope))
    except ExpressionError as error:
        raise BtError(f"{promise!r}: {error.message}", error.hint) from None


class _Sight:
    """The names that a promise can read, with the values that it has read."""

    def __init__(self, run: Run, paths: frozenset[str]) -> None:
        self.run, self.paths = run, paths

    @cached_property
    def statuses(self) -> dict[str, str]:
        nodes = reversed(list(self.run.nodes()))  # a guard, which comes before the node inside, speaks for it
        found = {path_of(n): "idle" if n.status is INVALID else n.status.name.lower() for n in nodes}
        self.absent = self.paths - found.keys()  # it may grow yet
        return {**found, **dict.fromkeys(self.absent, "idle")}

    def __getitem__(self, name: str) -> Any:
        return self.statuses if name == NODE else self.run.blackboard[name]

    def said(self, promise: Promise) -> str:
        """Describes the values that the promise has read."""
        values = [f"{name} = {show(self.run.blackboard[name])}" for name in promise.test.names if name != NODE]
        nodes = [f"{path} is {self.statuses[path]}" for path in _PATH.findall(promise.test.text)]
        return ", ".join([*values, *nodes]) or "nothing is read"
