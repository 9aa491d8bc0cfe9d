"""Opens an episodic memory by its name: a file of ours, or `NAME:WHERE` for the memory of a plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from bt_runtime.language.project import plugins, real
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Added
from bt_runtime.types import Job

Count = Callable[[str], int]  # tokens of a text


class Memory(Protocol):
    """An episodic memory. `bt_runtime.testing.conformance.check_memory` tests one."""

    def add(self, experiences: Iterable[Experience]) -> Added:
        """Stores all or none, durably; known ones are not stored twice."""

    def retell(self, experiences: Iterable[Experience]) -> Added:
        """Replaces what the same run has stored before."""

    def ask(self, goal: str, budget: int | None = None, k: int = 5, **how: Any) -> Job[Any]:
        """Returns a job: the experiences nearest to the goal, in `taken`, and `why()` in words. A memory ignores
        what it does not know of `how` (`level`, `similarity`, `seed`, `exclude_task`, `failed`)."""

    def select(self, strategy: str, count: int, **how: Any) -> Job[Any]:
        """Returns a job as `ask` does: experiences of one kind of task, or one of every kind."""

    def identity(self) -> str:
        """Returns an id that stays the same while the memory grows."""

    def close(self) -> None: ...


def open_memory(name: str | Path, count: Count) -> Memory:
    """Opens a memory. `count` counts tokens as the run's model does."""
    entry, where = _plugin(str(name))
    return of_entry(entry or plugins.named("sqlite", "memories"))(where, count)


def full_name(name: str | Path) -> str:
    """Returns the name by which the memory can be opened from any folder."""
    return str(name) if _plugin(str(name))[0] is not None else str(real(Path(name)))


def in_file(name: str | Path) -> bool:
    """True when the name is that of a file."""
    return _plugin(str(name))[0] is None


def of_entry(entry: plugins.Entry) -> Callable[[str, Count], Memory]:
    opens: Callable[[str, Count], Memory] = plugins.load(entry, "the class of a memory, or a function that opens one")
    return opens


def _plugin(name: str) -> tuple[plugins.Entry | None, str]:
    kind, colon, where = name.partition(":")
    return (plugins.find(kind, "memories"), where) if colon else (None, name)
