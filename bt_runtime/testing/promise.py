"""Promises: properties that are looked at after each tick of a trial. `charging and driving` reads entries;
`/patrol/dock is running` tests a node, and `go_to is running` a skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.outside import written
from bt_runtime.language.properties.property import Property, of
from bt_runtime.run.monitoring.monitor import PropertyMonitor, Sight
from bt_runtime.tree.node import RUNNING

if TYPE_CHECKING:
    from bt_runtime.language.spec import TreeSpec
    from bt_runtime.run.run import Run


class Broken(AssertionError):
    """Raised when a promise was broken; `promise` names it."""

    def __init__(self, promise: Property, message: str) -> None:
        super().__init__(message)
        self.promise = promise


def _of(word: str, texts: str | Iterable[str]) -> Iterator[Property]:
    """Raises BtError for what is no expression."""
    for text in [texts] if isinstance(texts, str) else texts:
        made = of(word, text)
        try:
            made.atoms  # noqa: B018 - it raises
        except ExpressionError as error:
            raise BtError(f"{word}: {text}: {error.message}", error.hint) from None
        yield made


def promised(property: Property) -> str:
    """A promise in words: `never: charging and driving`; of one with a name, that as well."""
    word = property.word
    if property.name == f"{word} {property.given.get(word)}":
        return f"{word}: {property.given[word]}"
    return repr(property)


def named(tree: TreeSpec, names: Iterable[str]) -> list[Property]:
    """The properties of a tree with these names."""
    known = {each.name: each for each in tree.properties}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, f"properties here: {', '.join(known) or 'none'}")
            raise BtError(f"`{tree.name}` has no property `{name}`", hint)
    return [known[name] for name in names]


class Promises:
    """The promises of a tree, checked in one run or in many."""

    def __init__(
        self, never: str | Iterable[str] = (), always: str | Iterable[str] = (), ltl: str | Iterable[str] = (),
        properties: Iterable[Property] = (),
    ) -> None:  # fmt: skip
        self.all = [*_of("never", never), *_of("always", always), *_of("ltl", ltl), *properties]
        self.run: Run | None = None
        self.monitors = [PropertyMonitor(each) for each in self.all]
        self.unread = {name for each in self.monitors for name in each.unread}
        self.unseen = {path for each in self.monitors for path in each.unseen}

    def monitors_of(self, run: Run) -> list[PropertyMonitor]:
        if run is not self.run:  # each run is watched from its beginning
            self.run, self.monitors = run, [PropertyMonitor(each) for each in self.all]
        return self.monitors

    def look(self, run: Run, when: str) -> None:
        """Raises Broken."""
        if not self.all:
            return
        sight = Sight(run)
        for monitor in self.monitors_of(run):
            why = monitor.look(sight, run.status is not RUNNING)
            if why:
                raise Broken(monitor.property, f"{promised(monitor.property)} - broken {when}, {why}")
        self.unread &= {name for each in self.monitors for name in each.unread}
        self.unseen &= {path for each in self.monitors for path in each.unseen}

    def repeats(self, ticks: int) -> None:
        """Raises Broken when a promise is broken in a run whose latest ticks go on for ever."""
        for monitor in self.monitors:
            why = monitor.repeats(ticks)
            if why:
                raise Broken(monitor.property, f"{promised(monitor.property)} - broken: {why}")

    def known(self, run: Run) -> None:
        """Raises for an entry or a node that was never there: such a promise cannot be broken."""
        for monitor in self.monitors:
            monitor.unread &= self.unread
            monitor.unseen &= self.unseen
            monitor.known(run, set(written(run.parts.tree.spec)))
