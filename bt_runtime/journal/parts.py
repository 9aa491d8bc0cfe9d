"""The parts that rooms add to a run's manifest, each registered by an entry point of the group `bt_runtime.journal`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from bt_runtime.journal import codec
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins
from bt_runtime.types import Json, JsonValue

if TYPE_CHECKING:
    from bt_runtime.journal.recordable import Given, Recordable
    from bt_runtime.language.entry import SkillEntry


R = TypeVar("R")


class Taping(Protocol):
    """The tape as a part sees it: it records answers from outside, or returns recorded ones."""

    broken: bool
    path: Path | None  # the journal's file; None for a run without one, and in a pure replay

    @property
    def writer(self) -> object | None:
        """None during a pure replay, which asks nothing outside."""

    @property
    def goes_on(self) -> bool:
        """True after the recorded part, when new questions go to the real world and models."""

    def next_number(self) -> int: ...
    def take(self, kind: str, key: dict[str, Json]) -> dict[str, Json] | None: ...
    def answer(self, kind: str, number: int) -> dict[str, Json] | None: ...
    def put(self, kind: str, body: dict[str, Json], texts: dict[str, str] | None = None) -> None: ...
    def note(self, kind: str, body: dict[str, Json], texts: dict[str, str] | None = None) -> None: ...
    def boundary(self) -> None: ...
    def calling(self, number: int, call: str, made: Callable[..., R], /, *args: Any, **named: Any) -> R: ...
    def called(self, number: int, call: str) -> None: ...
    def call(
        self, kind: str, key: dict[str, Json], make: Callable[[], object], redo: Callable[[], object] | None = None
    ) -> Any: ...


class Kept(NamedTuple):
    """Fields of a journal's head, and of its `given`: what identifies the things that the run was given."""

    head: Mapping[str, JsonValue] = {}
    given: Mapping[str, JsonValue] = {}

    def plus(self, name: str, other: Kept) -> Kept:
        """Raises where two parts keep something under the same name."""
        for mine, theirs in zip(self, other, strict=True):
            if taken := mine.keys() & theirs.keys():
                raise BtError(f"the journal's part `{name}` keeps `{min(taken)}`, which another part keeps already",
                              "uninstall one of them")  # fmt: skip
        return Kept({**self.head, **other.head}, {**self.given, **other.given})


class JournalPart:
    """The part of one room. A subclass overrides what its room needs; the entry point names an object.

    A journal is untrusted when it is read: `check` must find whatever the other methods rely on.
    """

    values: tuple[type[tuple[object, ...]], ...] = ()  # named tuples that a journal brings back as what they were

    def kept(self, run: Recordable, given: Given) -> Kept:
        """What a new journal's head keeps; `given`: what the run was made with."""
        return Kept()

    def check(self, head: Mapping[str, Json]) -> None:
        """Raises ValueError when the fields of a head that was read cannot be this part's."""

    def wrap(self, run: Recordable, tape: Taping, head: Mapping[str, Json]) -> None:
        """Wraps the room's services, so that the tape records their answers; a replay rebuilds them from the head."""

    def entries(self, head: Mapping[str, Json]) -> list[SkillEntry]:
        """The manifest entries of sentences that an agent may choose, and that no tree lists."""
        return []


class Registered(NamedTuple):
    parts: Mapping[str, JournalPart]
    faults: tuple[str, ...]  # faults of parts that cannot be loaded


def registered() -> Registered:
    """Returns all parts by name, ours first, and registers the types of their values."""
    return _loaded(plugins.entries("journal"))


@lru_cache(maxsize=4)
def _loaded(entries: tuple[plugins.Entry, ...]) -> Registered:
    parts: dict[str, JournalPart] = {}
    faults = []
    for entry in entries:
        try:
            found = plugins.load(entry, "a part of a journal", lambda found: isinstance(found, JournalPart))
        except plugins.PluginFault as fault:
            if entry.ours:
                raise
            faults.append(fault.message)
            continue
        parts.setdefault(entry.name, found)
        codec.know(found.values)
    return Registered(parts, tuple(faults))


def kept(run: Recordable, given: Given) -> Kept:
    """What all parts keep of a run that begins."""
    whole = Kept()
    for name, part in registered().parts.items():
        whole = whole.plus(name, part.kept(run, given))
    return whole
